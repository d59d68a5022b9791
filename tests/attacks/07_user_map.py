# attack: the user namespace of the host
# family: 7
# runs: call exec root
# stopped-by: userns
#
# Root inside is root outside if there is no namespace between: the kernel says so in uid_map.
def attack():
    with open("/proc/self/uid_map") as text:
        ranges = [[int(field) for field in line.split()] for line in text]
    if not ranges:
        return "BROKEN: uid_map is empty"
    if any(count == 0xFFFFFFFF for _, _, count in ranges):
        return "ESCAPED: this is the host's user namespace"
    return f"HELD: a namespace of its own, {ranges}"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
