"""`!command`, `%pip` and a few more of what people type into notebooks."""

import builtins
import os
import re
import shlex
import subprocess
import sys

from belljar_interpreter import source
from belljar_interpreter.magic_commands import (LINE_MAGICS, PROGRAMS, SHOWN, UsageError, captured, measured, shell_line, show,
                                                timed)
from belljar_interpreter.programs import run

EXPRESSION = re.compile(r"\{([^{}]+)\}|\$([A-Za-z_]\w*)")


def install(run_cell):
    """`run_cell` runs a text as the context's own code."""
    calls = {source.SHELL: _shell, source.CAPTURE: _capture, source.LINE: lambda line: _line(line, run_cell),
             source.CELL: lambda line, body: _cell(line, body, run_cell)}
    for name, call in calls.items():
        setattr(builtins, name, call)
    shell = InteractiveShell(run_cell)
    builtins.get_ipython = lambda: shell


class InteractiveShell:
    """What cells ask of get_ipython()."""

    def __init__(self, run_cell):
        self.run_cell = run_cell

    @property
    def user_ns(self):
        return sys.modules["__main__"].__dict__

    def system(self, command):
        _shell(command)

    def getoutput(self, command):
        return _capture(command)

    def run_line_magic(self, name, line=""):
        return _line(f"{name} {line}", self.run_cell)

    def run_cell_magic(self, name, line, cell):
        return _cell(f"{name} {line}", cell, self.run_cell)


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


def _shell(command):
    status, _ = run(_expanded(command, sys._getframe(1)))
    sys.modules["__main__"]._exit_code = status


def _capture(command):
    status, text = run(_expanded(command, sys._getframe(1)), subprocess.PIPE)
    sys.modules["__main__"]._exit_code = status
    return text.decode("utf-8", "replace").splitlines()


def _line(line, run_cell):
    name, _, rest = line.partition(" ")
    if name in LINE_MAGICS:
        return LINE_MAGICS[name](_expanded(rest.strip(), sys._getframe(2)))
    if name in PROGRAMS:
        return shell_line(_expanded(line, sys._getframe(2)))
    if name in ("time", "prun"):
        return timed(lambda: run_cell(rest))
    if name == "timeit":
        return measured(rest, "", run_cell)
    raise UsageError(f"Line magic function `%{name}` not found.")


def _cell(line, body, run_cell):
    name, _, rest = line.partition(" ")
    if name in ("bash", "sh", "python", "python3", "perl", "ruby", "node"):
        run(body, program=[name])
    elif name == "script":
        run(body, program=shlex.split(rest))
    elif name.lower() in SHOWN:
        show(SHOWN[name.lower()], body)
    elif name in ("time", "prun"):
        return timed(lambda: run_cell(body))
    elif name == "timeit":
        measured(rest, body, run_cell)
    elif name in ("writefile", "file"):
        words = shlex.split(rest)
        if not words:
            raise UsageError("%%writefile wants the name of a file")
        with open(os.path.expanduser(words[-1]), "a" if "-a" in words[:-1] else "w") as file:
            file.write(body)
        print(f"Writing {words[-1]}")
    elif name == "capture":
        captured(rest, body, run_cell)
    else:
        raise UsageError(f"Cell magic `%%{name}` not found.")
