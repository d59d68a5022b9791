"""A cell's source to a syntax tree. Lines that are not Python but `!command` or `%magic` become calls.

Such a line is found by what Python says: only where it sees an error, and the line begins so, it is rewritten. So `%` within
an expression, or in a text of many lines, stays what it is.
"""

import ast
import re

SHELL, CAPTURE, LINE, CELL = "__belljar_shell__", "__belljar_capture__", "__belljar_line__", "__belljar_cell__"
ASSIGNED = re.compile(r"^(\s*)([A-Za-z_]\w*)\s*=\s*([!%])(.*)$")
MAGIC = re.compile(r"^(\s*)([!%])(.*)$")
ASKED = re.compile(r"^(\s*)(?:\?{1,2}([\w.]+)|([\w.]+)\?{1,2})\s*$")


def read(text, filename):
    """The tree of a cell; SyntaxError as Python raises it."""
    if text.lstrip().startswith("%%"):
        text = _cell_call(text.lstrip())
    lines = text.split("\n")
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    while True:
        try:
            return compile("\n".join(lines), filename, "exec", flags, dont_inherit=True)
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
            if not 0 <= at < len(lines) or not _rewrite(lines, at):
                raise


def ends_quietly(text, last):
    """Whether a semicolon follows the last expression: its value is not wanted then."""
    lines = text.split("\n")
    if last.end_lineno > len(lines):
        return False
    rest = lines[last.end_lineno - 1].encode()[last.end_col_offset:]
    return rest.lstrip().startswith(b";")


def _rewrite(lines, at):
    """Replaces the line, and those that continue it, by a call of one line; what follows keeps its number."""
    asked = ASKED.match(lines[at])
    if asked is not None:
        lines[at] = f"{asked.group(1)}{LINE}({'pinfo ' + (asked.group(2) or asked.group(3))!r})"
        return True
    found = ASSIGNED.match(lines[at]) or MAGIC.match(lines[at])
    if found is None:
        return False
    *before, sign, rest = found.groups()
    end = at
    while rest.endswith("\\") and end + 1 < len(lines):
        end += 1
        rest = rest[:-1] + lines[end]
    if sign == "!" and rest.startswith("!"):
        rest = rest[1:]
    target = f"{before[1]} = " if len(before) == 2 else ""
    function = LINE if sign == "%" else CAPTURE if target else SHELL
    lines[at:end + 1] = [f"{before[0]}{target}{function}({rest.strip()!r})"] + [""] * (end - at)
    return True


def _cell_call(text):
    head, _, body = text.partition("\n")
    return f"{CELL}({head[2:].strip()!r}, {body!r})"
