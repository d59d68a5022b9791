# attack: a symlink where the host reads a result
# family: 1
# runs: exec root
# stopped-by: design
# then: read /home/user/result.txt
#
# Judge0 CVE-2024-28185: the server followed a link that the program had left where it looked for
# the output. Inside, the link must lead nowhere; read by the host afterwards, it must not give the
# host's file either.
import os

_CANARY = "/var/tmp/belljar-attack-canary"  # exists on the host only


def attack():
    os.symlink(_CANARY, "/home/user/result.txt")
    try:
        with open("/home/user/result.txt") as found:
            return "ESCAPED: read a file of the host: " + found.read(40)
    except FileNotFoundError:
        return "HELD: the link leads nowhere inside"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
