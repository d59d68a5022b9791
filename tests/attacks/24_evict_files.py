# attack: the machine made to forget what it has read
# family: 24
# runs: root
# stopped-by: seccomp
#
# posix_fadvise(2) throws a file out of the machine's memory, for everybody, whoever may read it: the next one waits for
# the disk. Done again and again to what all sandboxes have in common, it slows them down, and how long a read takes then
# tells who used which file. Root inside sees what is in memory, because the template's files are his.
import ctypes
import mmap
import os

_FADVISE, _MINCORE, _DONT_NEED = 221, 27, 4
_MOST_BYTES = 4 << 20

_libc = ctypes.CDLL(None, use_errno=True)


def _in_memory(path, size):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE) as pages:
        found = (ctypes.c_ubyte * (size // mmap.PAGESIZE))()
        at = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        _libc.syscall(_MINCORE, ctypes.c_long(at), ctypes.c_long(size), found)
        return sum(1 for page in found if page & 1)


def _rarely_used():
    for folder, _, names in os.walk("/usr/share"):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and 64 << 10 <= os.path.getsize(path) <= _MOST_BYTES:
                return path
    return None


def attack():
    path = _rarely_used()
    if path is None:
        return "BROKEN: there is no file to try it on"
    size = os.path.getsize(path) // mmap.PAGESIZE * mmap.PAGESIZE
    with open(path, "rb") as file:
        file.read()
        before = _in_memory(path, size)
        _libc.syscall(_FADVISE, file.fileno(), ctypes.c_long(0), ctypes.c_long(0), _DONT_NEED)
    after = _in_memory(path, size)
    if after < before // 2:
        return f"ESCAPED: of {before} pages of {path}, {after} are left in memory"
    return f"HELD: {after} of {before} pages stay in memory"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
