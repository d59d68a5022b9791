# attack: above the root by .., //, and descriptors
# family: 3
# runs: call exec root
# stopped-by: root
#
# Climbing above / must end at /, by whatever name.
import os


def _identity(status):
    return status.st_dev, status.st_ino


def attack():
    own = _identity(os.stat("/"))
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        ways = {
            "/..": os.stat("/.."),
            "//..//": os.stat("//..//"),
            "../ a thousand times": os.stat("/" + "../" * 1000),
            "openat(root, ..)": os.stat("..", dir_fd=root),
            "/proc/self/root/..": os.stat("/proc/self/root/.."),
            "/proc/self/cwd": os.stat("/proc/self/cwd/" + "../" * 100),
            "/proc/self/fd": os.stat(f"/proc/self/fd/{root}/.."),
            "/dev/fd": os.stat(f"/dev/fd/{root}/.."),
        }
    finally:
        os.close(root)
    for way, status in ways.items():
        if _identity(status) != own:
            return f"ESCAPED: {way} is not the own root"
    return "HELD: every way up ends at the own root"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
