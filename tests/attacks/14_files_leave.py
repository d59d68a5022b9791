# attack: files in /tmp, home and shared memory (left)
# family: 14
# runs: call exec
# stopped-by: design
# pair: leave
# pair-name: files
#
# The simplest residue, and the one that other products had (a shared /tmp between tools).
def attack():
    for place in ("/tmp", "/home/user", "/dev/shm"):
        with open(place + "/belljar-residue", "w") as file:
            file.write("secret of another call")
    return "HELD: left for the next"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
