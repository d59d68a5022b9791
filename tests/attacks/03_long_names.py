# attack: names of NUL, 4096 bytes and above, and every byte there is
# family: 3
# runs: exec
# stopped-by: design
# then: list /home/user
#
# Whatever walks the sandbox's files afterwards (a listing, a snapshot, the removal) meets them.
# The host's listing must come back, and destroying the sandbox must leave nothing.
import os


def attack():
    os.chdir("/home/user")
    for name in (b"\n", b"\x1b[2J", b"<script>alert(1)<", b"\xff\xfe", b"-rf", b"...", b" ", b"n" * 255):
        open(name, "w").close()
    for _ in range(100):  # a path of 25,600 bytes, longer than any call takes at once
        os.mkdir("d" * 255)
        os.chdir("d" * 255)
    try:
        open("/home/user/zero\0byte", "w")
        return "BROKEN: Python let a NUL through"
    except ValueError:
        return "HELD: odd names made; the host lists and removes them"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
