# attack: an upload through /proc/self/exe, which is the warden when the host writes
# family: 1
# runs: exec root
# stopped-by: design
# then: write /home/user/upload.txt
#
# runc CVE-2019-5736: a magic link means something else to each who follows it. Followed by the warden
# it would be the warden's own program.
import os


def attack():
    os.symlink("/proc/self/exe", "/home/user/upload.txt")
    return "HELD: inside, the link is the attacker's own program"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
