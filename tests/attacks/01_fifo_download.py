# attack: a FIFO where the host reads a result
# family: 1
# runs: exec root
# stopped-by: design
# then: read /home/user/result.txt
#
# An open() of a FIFO waits for a writer for ever: a server that opens what it is given stands still.
# The host must refuse or give up, and must not wait.
import os


def attack():
    os.mkfifo("/home/user/result.txt")
    return "HELD: inside, a FIFO is nothing special"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
