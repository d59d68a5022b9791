# attack: an endless device where the host reads a result
# family: 1
# runs: exec root
# stopped-by: design
# then: read /home/user/result.txt
#
# /dev/zero never ends: a download without a bound fills the server's memory.
import os


def attack():
    os.symlink("/dev/zero", "/home/user/result.txt")
    return "HELD: inside, a device is nothing special"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
