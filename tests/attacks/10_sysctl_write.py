# attack: a kernel setting that can be opened for writing
# family: 10
# runs: exec root
# stopped-by: proc
#
# /proc/sys belongs to the whole machine, but for what has a namespace; of that, root inside may change
# what it likes if /proc is writable. Opened, never written.
import os


def attack():
    seen = 0
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            seen += 1
            try:
                os.close(os.open(f"{folder}/{name}", os.O_WRONLY))
            except OSError:
                continue
            return f"ESCAPED: {folder}/{name} can be written"
    if seen == 0 and os.path.exists("/proc/sys"):
        return "BROKEN: /proc/sys is empty"
    return f"HELD: none of {seen} settings can be written"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
