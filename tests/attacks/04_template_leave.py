# attack: root inside changes the template (leave)
# family: 4
# runs: root
# stopped-by: design
# pair: leave
# pair-name: template
#
# Root inside may change every file it sees; the template below must not change with it.
_PLACES = ("/etc/belljar-residue", "/usr/bin/belljar-residue", "/usr/lib/belljar-residue", "/root/belljar-residue")


def attack():
    for path in _PLACES:
        with open(path, "w") as residue:
            residue.write("left by another sandbox")
    with open("/etc/passwd", "a") as passwd:
        passwd.write("residue:x:0:0::/:/bin/sh\n")
    return "HELD: written to the own copy"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
