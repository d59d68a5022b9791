# attack: a symlink where the host writes an upload
# family: 1
# runs: exec root
# stopped-by: design
# then: write /home/user/upload.txt
#
# Judge0 CVE-2024-28185, the other way round: what is uploaded lands where the link points.
import os

_CANARY = "/var/tmp/belljar-attack-canary"  # exists on the host only


def attack():
    os.symlink(_CANARY, "/home/user/upload.txt")
    if os.path.exists("/home/user/upload.txt"):
        return "ESCAPED: a file of the host can be seen"
    return "HELD: the link leads nowhere inside"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
