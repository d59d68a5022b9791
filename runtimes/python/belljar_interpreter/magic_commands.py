"""What the magics do."""

import os
import shlex
import subprocess
import sys
import time

from belljar_interpreter import rich
from belljar_interpreter.programs import run


class UsageError(Exception):
    """A magic that is not known here, or used wrongly."""


def timed(work):
    started = time.perf_counter()
    value = work()
    sys.stdout.write(f"Wall time: {(time.perf_counter() - started) * 1000:.3g} ms\n")
    return value


class Captured:
    """What a cell under %%capture has written."""

    def __init__(self, stdout, stderr):
        self.stdout, self.stderr = stdout, stderr

    def __str__(self):
        return self.stdout

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)


def captured(rest, body, run_cell):
    import contextlib
    import io
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run_cell(body)
    names = [word for word in rest.split() if not word.startswith("-")]
    if names:
        setattr(sys.modules["__main__"], names[0], Captured(out.getvalue(), err.getvalue()))


def measured(rest, body, run_cell):
    """%timeit [-n loops] [-r runs] statement; of a cell, the line is what is done before."""
    import timeit
    options, words = {"-n": 0, "-r": 7}, rest.split(" ")
    while words and words[0][:2] in options:
        flag, value = words[0][:2], words.pop(0)[2:]
        options[flag] = int(value or (words.pop(0) if words else 0))
    statement = " ".join(words)
    timer = timeit.Timer(body or statement, statement if body else "pass", globals=sys.modules["__main__"].__dict__)
    loops = options["-n"] or timer.autorange()[0]
    best = min(timer.repeat(max(1, options["-r"]), loops)) / loops
    print(f"{best * 1e6:.3g} µs per loop (best of {max(1, options['-r'])} runs, {loops:,} loops each)")


def show(mime, body):
    rich.publish({"text/plain": body, mime: body})


def _own_names():
    space = sys.modules["__main__"].__dict__
    return sorted(name for name in space if not name.startswith("_"))


def _who(rest):
    print("\t".join(_own_names()) or "Interactive namespace is empty.")


def _whos(rest):
    space = sys.modules["__main__"].__dict__
    for name in _own_names():
        print(f"{name}\t{type(space[name]).__name__}\t{str(space[name])[:60]}")


def _reset(rest):
    for name in _own_names():
        del sys.modules["__main__"].__dict__[name]


def _program(rest):
    """Runs a file as a program, whose names stay."""
    import runpy
    words = shlex.split(rest)
    if not words:
        raise UsageError("%run wants the name of a file")
    before, sys.argv = sys.argv, words
    try:
        names = runpy.run_path(os.path.expanduser(words[0]), run_name="__main__")
    finally:
        sys.argv = before
    sys.modules["__main__"].__dict__.update({name: value for name, value in names.items() if not name.startswith("__")})


def _about(rest):
    import pydoc
    space = sys.modules["__main__"].__dict__
    try:
        value = eval(rest, space)
    except Exception:
        print(f"Object `{rest}` not found.")
        return
    print(pydoc.plain(pydoc.render_doc(value)))


def shell_line(command):
    status, _ = run(command)
    sys.modules["__main__"]._exit_code = status


def _lines_of(command):
    return run(command, subprocess.PIPE)[1].decode("utf-8", "replace").splitlines()


def _list_magics(rest):
    print("Line magics:", " ".join(f"%{name}" for name in sorted([*LINE_MAGICS, *PROGRAMS, "time", "timeit"])))
    print("Cell magics:", " ".join(f"%%{name}" for name in sorted([*SHOWN, "bash", "capture", "file", "perl", "python",
                                                                  "script", "sh", "time", "timeit", "writefile"])))


def _pip(rest):
    run(f"{shlex.quote(sys.executable)} -m pip {rest}")


def _cd(rest):
    os.chdir(os.path.expanduser(rest or "~"))
    print(os.getcwd())


def _env(rest):
    name, equals, value = rest.partition("=")
    if not rest:
        return dict(os.environ)
    if not equals:
        return os.environ.get(name.strip())
    os.environ[name.strip()] = value.strip()
    print(f"env: {name.strip()}={value.strip()}")


def _nothing(rest):
    pass


LINE_MAGICS = {
    "pip": _pip, "cd": _cd, "env": _env, "set_env": _env, "pwd": lambda rest: os.getcwd(), "who": _who, "whos": _whos,
    "who_ls": lambda rest: _own_names(), "reset": _reset, "run": _program, "pinfo": _about, "pdoc": _about,
    "system": _lines_of, "sx": _lines_of, "lsmagic": _list_magics,
    **dict.fromkeys(("matplotlib", "pylab", "config", "load_ext", "reload_ext", "unload_ext", "autoreload", "autosave", "colors",
                     "xmode", "precision", "automagic", "autocall", "gui"), _nothing)}
PROGRAMS = ("ls", "ll", "cat", "cp", "mv", "rm", "mkdir", "rmdir", "ln", "less", "more", "man", "conda", "uv")
SHOWN = {"html": "text/html", "markdown": "text/markdown", "latex": "text/latex", "svg": "image/svg+xml",
         "javascript": "application/javascript", "js": "application/javascript"}
