# attack: root inside changes the template (find)
# family: 4
# runs: root
# stopped-by: design
# pair: find
# pair-name: template
#
# The second half: the next sandbox of the same template.
import os

_PLACES = ("/etc/belljar-residue", "/usr/bin/belljar-residue", "/usr/lib/belljar-residue", "/root/belljar-residue")


def attack():
    found = [path for path in _PLACES if os.path.exists(path)]
    with open("/etc/passwd") as passwd:
        found += ["/etc/passwd"] if "residue:" in passwd.read() else []
    return "ESCAPED: the template was changed: " + ", ".join(found) if found else "HELD: the template is as it was"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
