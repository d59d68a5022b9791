# attack: terminals of others in /dev/pts and on the console
# family: 11
# runs: call exec root
# stopped-by: dev
#
# Every terminal of the host is in the host's devpts; a new instance has none but the sandbox's own.
import os
import stat


def attack():
    own = {os.fstat(fd).st_rdev for fd in (0, 1, 2) if stat.S_ISCHR(os.fstat(fd).st_mode)}
    names = os.listdir("/dev/pts") if os.path.isdir("/dev/pts") else []
    paths = ["/dev/pts/" + name for name in names if name != "ptmx"]
    paths += ["/dev/tty0", "/dev/tty1", "/dev/vcs", "/dev/vcsa", "/dev/ttyS0", "/dev/hvc0"]
    for path in paths:
        if os.path.exists(path) and os.stat(path).st_rdev not in own:
            return f"ESCAPED: {path} is the terminal of somebody else"
    return "HELD: no terminal of others"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
