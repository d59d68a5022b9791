# attack: an id inside that is root outside, or files still owned by the host's root
# family: 7
# runs: exec root
# stopped-by: idmap
#
# With the host's root in the map, a file that leaks is a file of root's; and layers that are not
# mapped keep the host's owners, which appear as nobody.
import os


def attack():
    for name in ("uid_map", "gid_map"):
        with open("/proc/self/" + name) as text:
            for line in text:
                inside, outside, count = (int(field) for field in line.split())
                if outside == 0 and count < 0xFFFFFFFF:
                    return f"ESCAPED: {name}: {inside} inside is root outside"
    with open("/proc/sys/kernel/overflowuid") as text:
        nobody = int(text.read())
    unmapped = [path for path in ("/", "/usr", "/usr/bin", "/etc") if os.stat(path).st_uid == nobody]
    if unmapped:
        return "ESCAPED: still owned by the host's root: " + " ".join(unmapped)
    return "HELD: root inside is nobody outside"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
