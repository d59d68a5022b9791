# attack: the directory that the host writes into is a symlink to /
# family: 1
# runs: exec root
# stopped-by: design
# then: write /home/user/out/var/tmp/belljar-attack-canary
#
# Checking the last component only is not enough: here a parent is the link (Claude Code
# CVE-2026-25725, docker cp CVE-2018-15664).
import os


def attack():
    os.symlink("/", "/home/user/out")
    if os.path.exists("/home/user/out/var/tmp/belljar-attack-canary"):
        return "ESCAPED: a file of the host can be seen"
    return "HELD: the directory is the sandbox's own root"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
