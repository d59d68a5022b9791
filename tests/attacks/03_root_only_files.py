# attack: what the host's root keeps for itself below /usr
# family: 3
# runs: call exec root
# stopped-by: mask
#
# The layers of a template are mapped so that root inside owns what root outside owns, and a mode of 0600 stops no
# owner. What stands over such a file must hold against everything that root can do to the directories around it; others
# must not even see its name, in calls as little as in sandboxes. The runner put the file there.
import ctypes
import os
import shutil

_PARENT = "/usr/local/share"
_NAME = "belljar-attack-canary"
_SECRET = "belljar canary 8d1f6a52c07e4b39"
_MS_BIND, _MNT_DETACH = 4096, 2
_libc = ctypes.CDLL(None, use_errno=True)


def _tried(action, *arguments):
    try:
        action(*arguments)
    except OSError:
        pass


def _seen(parent):
    """How the file shows below `parent`, if it does."""
    path = os.path.join(parent, _NAME)
    try:
        with open(path, errors="replace") as file:
            if _SECRET in file.read(4096):
                return f"read as {path}"
    except OSError:
        pass
    try:
        return f"listed in {parent}" if _NAME in os.listdir(parent) else None
    except OSError:
        return None


def _other_paths():
    for link in ("/proc/1/root", "/proc/self/root", "/proc/thread-self/root", "/proc/1/cwd", "/usr/../usr/.."):
        yield link + _PARENT
    os.chdir(_PARENT)
    yield "/proc/self/cwd"
    yield "."
    os.chdir("/")


def _mounts():
    target = "/tmp/bound"
    os.makedirs(target, exist_ok=True)
    _libc.mount(b"/usr", target.encode(), None, _MS_BIND, None)
    yield target + "/local/share"
    _libc.mount(b"overlay", target.encode(), b"overlay", 0, b"lowerdir=/usr:/etc")
    yield target + "/local/share"
    _libc.umount2(b"/usr", _MNT_DETACH)
    yield _PARENT


def _around_it():
    """Each step changes what lies over the file, in the hope that it lies under it no more."""
    path = os.path.join(_PARENT, _NAME)
    _tried(os.utime, _PARENT)
    _tried(os.chmod, _PARENT, 0o777)
    yield _PARENT
    _tried(os.link, path, "/usr/local/linked")
    _tried(os.rename, path, "/usr/local/linked")
    _tried(os.chmod, path, 0o644)
    yield _PARENT
    _tried(os.mkdir, path)
    _tried(os.rmdir, path)
    yield _PARENT
    for name, value in (("opaque", b"n"), ("redirect", _PARENT.encode()), ("origin", b""), ("whiteout", b"")):
        for prefix in ("user.overlay.", "trusted.overlay."):
            _tried(os.setxattr, _PARENT, prefix + name, value)
            _tried(os.removexattr, _PARENT, prefix + name)
    yield _PARENT
    for moved in (_PARENT + "-moved", "/usr/moved"):
        _tried(os.rename, _PARENT, moved)
        yield moved
        _tried(os.rename, moved, _PARENT)
    yield _PARENT
    shutil.rmtree(_PARENT, ignore_errors=True)
    _tried(os.mkdir, _PARENT)
    yield _PARENT


def _made_and_removed():
    path = os.path.join(_PARENT, _NAME)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        os.unlink(path)
    except OSError:
        pass
    yield _PARENT


def attack():
    for way in (lambda: [_PARENT], _other_paths, _mounts, _made_and_removed, _around_it):
        for parent in way():
            seen = _seen(parent)
            if seen:
                return "ESCAPED: a file that only the host's root may read was " + seen
    return "HELD: it is not there, whatever is done around it"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
