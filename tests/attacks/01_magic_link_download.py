# attack: a download through /proc/self/fd, which are the warden's when the host reads
# family: 1
# runs: exec root
# stopped-by: design
# then: read /home/user/result.txt
#
# The same with the warden's descriptors: 3 is its socket to the server.
import os


def attack():
    os.symlink("/proc/self/fd/3", "/home/user/result.txt")
    return "HELD: inside, the link is the attacker's own descriptor"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
