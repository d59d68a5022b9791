# attack: variables that came from the host
# family: 14
# runs: call exec root
# stopped-by: environment
#
# Keys of clouds and platforms live in the environment of servers. Names only are told, no values.
import os

_EXPECTED = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "TZ",
             "HOSTNAME"}


def _names():
    yield from os.environ
    for pid in ("self", "1"):
        try:
            with open(f"/proc/{pid}/environ", "rb") as text:
                entries = text.read().split(b"\0")
            yield from (entry.split(b"=")[0].decode(errors="replace") for entry in entries if entry)
        except OSError:
            pass


def attack():
    strange = sorted({name for name in _names() if name not in _EXPECTED and not name.startswith("LC_")})
    return "ESCAPED: the environment has " + " ".join(strange) if strange else "HELD: a clean environment"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
