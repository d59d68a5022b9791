"""`!command`, `%pip` and a few more of what people type into notebooks."""

import builtins
import importlib
import os
import re
import shlex
import site
import subprocess
import sys
import time

from belljar_interpreter import source

EXPRESSION = re.compile(r"\{([^{}]+)\}|\$([A-Za-z_]\w*)")


class UsageError(Exception):
    """A magic that is not known here, or used wrongly."""


def install(run_cell):
    """`run_cell` runs a text as the context's own code."""
    calls = {source.SHELL: _shell, source.CAPTURE: _capture, source.LINE: lambda line: _line(line, run_cell),
             source.CELL: lambda line, body: _cell(line, body, run_cell)}
    for name, call in calls.items():
        setattr(builtins, name, call)


def refresh_imports():
    """What was installed since then can be imported."""
    importlib.invalidate_caches()
    try:
        own = site.getusersitepackages()
    except Exception:
        return
    if site.ENABLE_USER_SITE and own not in sys.path and os.path.isdir(own):
        site.addsitedir(own)


def _expanded(command, frame):
    """{expression} and $name are the cell's, if it has them; else they are the shell's."""
    def value(found):
        try:
            if found.group(1):
                return str(eval(found.group(1), frame.f_globals, frame.f_locals))
            names = frame.f_locals if found.group(2) in frame.f_locals else frame.f_globals
            return str(names[found.group(2)])
        except Exception:
            return found.group(0)
    return EXPRESSION.sub(value, command)


def _run(command, output=None):
    sys.stdout.flush()
    sys.stderr.flush()
    program = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    with subprocess.Popen([program, "-c", command], stdin=subprocess.DEVNULL, stdout=output) as process:
        try:
            text, _ = process.communicate()
        except KeyboardInterrupt:
            process.kill()  # it was told, too, and had no wish to end
            raise
    refresh_imports()
    return process.returncode, text


def _shell(command):
    status, _ = _run(_expanded(command, sys._getframe(1)))
    sys.modules["__main__"]._exit_code = status


def _capture(command):
    status, text = _run(_expanded(command, sys._getframe(1)), subprocess.PIPE)
    sys.modules["__main__"]._exit_code = status
    return text.decode("utf-8", "replace").splitlines()


def _line(line, run_cell):
    name, _, rest = line.partition(" ")
    if name in LINE_MAGICS:
        return LINE_MAGICS[name](_expanded(rest.strip(), sys._getframe(2)))
    if name in ("time", "timeit"):
        return _timed(lambda: run_cell(rest))
    raise UsageError(f"Line magic function `%{name}` not found.")


def _cell(line, body, run_cell):
    name, _, rest = line.partition(" ")
    if name in ("bash", "sh"):
        _run(body)
    elif name == "time":
        return _timed(lambda: run_cell(body))
    elif name == "writefile":
        words = shlex.split(rest)
        if not words:
            raise UsageError("%%writefile wants the name of a file")
        with open(os.path.expanduser(words[-1]), "a" if "-a" in words[:-1] else "w") as file:
            file.write(body)
        print(f"Writing {words[-1]}")
    elif name == "capture":
        return _captured(body, run_cell)
    else:
        raise UsageError(f"Cell magic `%%{name}` not found.")


def _timed(work):
    started = time.perf_counter()
    value = work()
    sys.stdout.write(f"Wall time: {(time.perf_counter() - started) * 1000:.3g} ms\n")
    return value


def _captured(body, run_cell):
    import contextlib
    import io
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run_cell(body)


def _pip(rest):
    _run(f"{shlex.quote(sys.executable)} -m pip {rest}")


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


LINE_MAGICS = {"pip": _pip, "cd": _cd, "env": _env, "set_env": _env, "pwd": lambda rest: os.getcwd(),
               "matplotlib": _nothing, "config": _nothing, "load_ext": _nothing, "autoreload": _nothing}
