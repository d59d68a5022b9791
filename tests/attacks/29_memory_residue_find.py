# attack: another call's data in the memory of the interpreter (looked for)
# family: 29
# runs: call
# stopped-by: design
# pair: find
# pair-name: memory_residue
#
# The next call reads all of its own memory by /proc/self/mem. The mark is put together only here, so that
# this program does not find itself.
import re


def attack():
    mark = re.compile(b"-".join((b"belljar", b"memory", b"residue")) + rb"\d+belljar")
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        areas = [line.split() for line in maps]
        for area in areas:
            if not area[1].startswith("rw") or area[-1] in ("[vvar]", "[vsyscall]"):
                continue
            start, end = (int(edge, 16) for edge in area[0].split("-"))
            try:
                memory.seek(start)
                if mark.search(memory.read(end - start)):
                    return "ESCAPED: the memory holds another call's data"
            except OSError:
                continue
    return "HELD: the memory is the own"
