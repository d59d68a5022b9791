"""Docstrings in the styles people write: Google, NumPy, reST (Sphinx) and Epydoc. The style that explains most wins."""

import re


class Docstring:
    """`summary` and `details` are what stands before the first section; `parameters` the texts by name."""

    def __init__(self, text_before_sections):
        first, _, rest = text_before_sections.partition("\n")
        self.summary = first
        self.details = rest.strip()
        self.parameters = {}
        self.entries = 0

    def add(self, name=None, text=None):
        self.entries += 1
        if name is not None:
            self.parameters.setdefault(name, text or "")

    @property
    def description(self):
        return "\n\n".join(part for part in (self.summary, self.details) if part) or "No description available"


class _Malformed(Exception):
    """This is not the style that was tried."""


def parse_docstring(text):
    text = clean_docstring(text)
    best = None
    for parse in (_parse_rest, _parse_google, _parse_numpy, _parse_epydoc):
        try:
            found = parse(text)
        except _Malformed:
            continue
        if best is None or found.entries > best.entries:
            best = found
    return best or Docstring(text)


def clean_docstring(text):
    """Without the indentation of the source and without blank lines around it (PEP 257)."""
    lines = text.expandtabs().split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(indents, default=0)
    lines = [lines[0].lstrip()] + [line[margin:] for line in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def examples_section(raw):
    """The lines from "Examples:" on, as they stand in the source; "" if there are none."""
    kept = []
    for line in raw.strip().splitlines():
        stripped = line.strip()
        if not kept:
            if stripped.startswith("Examples:"):
                kept.append(line)
        elif stripped and not line.startswith(" ") and stripped.endswith(":"):
            break
        else:
            kept.append(line)
    return "\n".join(kept).strip()


def _continued(text):
    """A text whose later lines lose their common indentation."""
    first, newline, rest = text.partition("\n")
    return first + newline + clean_docstring(rest) if newline else text


# Google

_GOOGLE_PARAMETERS = ("Arguments", "Args", "Parameters", "Params", "Attributes")
_GOOGLE_LISTS = ("Raises", "Exceptions", "Except")
_GOOGLE_OTHERS = ("Example", "Examples", "Returns", "Yields")
_GOOGLE_TITLE = re.compile("^(%s):[ \t\r\f\v]*$" % "|".join(_GOOGLE_PARAMETERS + _GOOGLE_LISTS + _GOOGLE_OTHERS), re.M)
_GOOGLE_TYPED = re.compile(r"\s*(.+?)\s*\(\s*(.*[^\s]+)\s*\)")


def _parse_google(text):
    titles = list(_GOOGLE_TITLE.finditer(text))
    found = Docstring(text[:titles[0].start()] if titles else text)
    sections = {}
    for title, following in zip(titles, titles[1:] + [None]):
        body = text[title.end():following.start() if following else len(text)]
        outside = re.search(r"\n\S", body)  # a line at the left margin ends a section
        sections[title.group(1)] = (body[:outside.start()] if outside else body).strip("\n")
    for title, body in sections.items():
        if title in _GOOGLE_OTHERS:
            found.add()
        else:
            _add_google_items(found, body, title in _GOOGLE_PARAMETERS)
    return found


def _add_google_items(found, body, are_parameters):
    indent = re.match(r"\s*", body).group()
    starts = list(re.finditer("^" + indent + r"(?=\S)", body, re.M))
    if not starts:
        raise _Malformed()
    for start, following in zip(starts, starts[1:] + [None]):
        item = body[start.end():following.start() if following else len(body)].strip("\n")
        head, colon, text = item.partition(":")
        if not colon:
            raise _Malformed()
        if not are_parameters:
            found.add()
            continue
        typed = _GOOGLE_TYPED.match(head)
        found.add(typed.group(1) if typed else head, _continued(text[1:] if text[:1] == " " else text).strip("\n"))


# NumPy

_NUMPY_PARAMETERS = ("Parameters", "Params", "Arguments", "Args", "Other Parameters", "Other Params", "Other Arguments",
                     "Other Args", "Receives", "Receive", "Attributes", "Attribute")
_NUMPY_LISTS = ("Raises", "Raise", "Warns", "Warn", "Returns", "Return", "Yields", "Yield")
_NUMPY_OTHERS = ("Examples", "Example", "Warnings", "Warning", "See Also", "Related", "Notes", "Note", "References", "Reference")
_NUMPY_TITLE = re.compile("|".join(
    [r"^(%s)\s*?\n%s\s*$" % (title, "-" * len(title)) for title in _NUMPY_PARAMETERS + _NUMPY_LISTS + _NUMPY_OTHERS]
    + [r"^\.\.\s*(deprecated)\s*::"]), re.M)
_NUMPY_ITEM = re.compile(r"^[^\s].*$", re.M)


def _parse_numpy(text):
    titles = list(_NUMPY_TITLE.finditer(text))
    found = Docstring(text[:titles[0].start()] if titles else text)
    for title, following in zip(titles, titles[1:] + [None]):
        name = next(group for group in title.groups() if group)
        body = text[title.end():following.start() if following else len(text)]
        if name in _NUMPY_PARAMETERS or name in _NUMPY_LISTS:
            _add_numpy_items(found, body, name in _NUMPY_PARAMETERS)
        else:
            found.add()
    return found


def _add_numpy_items(found, body, are_parameters):
    heads = list(_NUMPY_ITEM.finditer(body))
    for head, following in zip(heads, heads[1:] + [None]):
        if not are_parameters:
            found.add()
            continue
        text = clean_docstring(body[head.end():following.start() if following else len(body)]).strip()
        for name in head.group().partition(":")[0].split(","):  # `a, b : int` documents both
            found.add(name.strip(), text)


# reST and Epydoc

_PARAMETER_WORDS = ("param", "parameter", "arg", "argument", "attribute", "key", "keyword")


def _parse_rest(text):
    fields = list(re.finditer(r"(^:.*?)(?=^:|\Z)", text, re.S | re.M))
    found = Docstring(text[:fields[0].start()] if fields else text)
    for field in fields:
        head, colon, body = field.group().lstrip(":").partition(":")
        if not colon:
            raise _Malformed()
        words = head.split()
        if not words:
            raise _Malformed()
        if words[0] in ("type", "rtype"):
            continue
        if words[0] not in _PARAMETER_WORDS:
            found.add()
        elif len(words) in (2, 3):
            found.add(words[-1], _continued(body.strip()))
        else:
            raise _Malformed()
    return found


_EPYDOC_FIELD = re.compile(r"@([_A-Za-z]\w*)((?:\s+[_A-Za-z]\w*\??)*)\s*:")


def _parse_epydoc(text):
    fields = list(re.finditer(r"(^@.*?)(?=^@|\Z)", text, re.S | re.M))
    found = Docstring(text[:fields[0].start()] if fields else text)
    for field in fields:
        head = _EPYDOC_FIELD.match(field.group())
        if head is None:
            raise _Malformed()
        word, names = head.group(1), head.group(2).split()
        if word in ("param", "keyword") and len(names) == 1:
            found.add(names[0], _continued(field.group()[head.end():].strip()))
        elif word not in ("type", "rtype", "ytype"):
            found.add()
    return found
