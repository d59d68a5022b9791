# attack: files in /tmp, home and shared memory (looked for)
# family: 14
# runs: call exec
# stopped-by: design
# pair: find
# pair-name: files
#
# The next sandbox, or the next call.
import os


def attack():
    places = ("/tmp", "/home/user", "/dev/shm", "/var/tmp", "/run", "/run/tmp", "/run/shm", "/run/home")
    found = [place for place in places if os.path.exists(place + "/belljar-residue")]
    return "ESCAPED: files of another in " + " ".join(found) if found else "HELD: nothing is left"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
