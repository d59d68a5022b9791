# attack: a directory tree too deep to be removed by its path
# family: 24
# runs: call exec root
# stopped-by: design
#
# rm -r with recursion overflows its stack, and with paths meets ENAMETOOLONG: destroying the sandbox
# must leave nothing all the same.
import os


def attack():
    os.chdir("/tmp")
    for _ in range(900):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    open("file", "w").close()
    os.chmod("file", 0)
    os.chmod("..", 0)
    return "HELD: left; the runner looks whether everything goes"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
