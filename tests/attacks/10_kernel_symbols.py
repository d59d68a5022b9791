# attack: names and addresses of the kernel's functions
# family: 10
# runs: call exec root
# stopped-by: proc
#
# Where the kernel lies is the first thing an exploit wants to know; the list itself tells its version
# and options.
def attack():
    try:
        with open("/proc/kallsyms") as symbols:
            first = symbols.readline()
    except OSError as error:
        return f"HELD: {error.strerror}"
    return f"ESCAPED: {first.strip()}" if first else "HELD: the list is empty"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
