"""TypeScript types, as text, become JSON schemas. What is not understood is an object, as in Letta."""

import re

MOST_TYPESCRIPT_LEVELS = 40
_PLAIN_TYPESCRIPT = {"string": "string", "number": "number", "boolean": "boolean", "any": "string",
                     "void": "null", "null": "null", "undefined": "null"}
_NOTHING = ("null", "undefined", "void")
_OPENING, _CLOSING = "([{<", ")]}>"
_QUOTES = "\"'`"


class Aliases(dict):
    """{name: type} of the source's own `type Name = ...`; interfaces stay objects."""

    @classmethod
    def of(cls, source):
        found = cls()
        for match in re.finditer(r"\btype\s+(\w+)\s*=\s*", source):
            found[match.group(1)] = source[match.end():end_of_type(source, match.end())].strip()
        return found


def typescript_type(text, aliases, level=0):
    text = text.strip()
    if level > MOST_TYPESCRIPT_LEVELS:
        return {"type": "object"}
    if text in _PLAIN_TYPESCRIPT:
        return {"type": _PLAIN_TYPESCRIPT[text]}
    if text in aliases:
        return typescript_type(aliases[text], aliases, level + 1)
    if is_wrapped(text, "(", ")"):
        return typescript_type(text[1:-1], aliases, level + 1)
    options = [option.strip() for option in split_outside(text, "|") if option.strip()]
    if len(options) > 1:
        return _typescript_union(options, aliases, level)
    if text.startswith("readonly "):
        return typescript_type(text[9:], aliases, level + 1)
    literal = _literal_of(text)
    if literal is not None:
        return _enum_of([literal])
    if "=>" in text and len(split_outside(text, "=")) > 1:
        return {"type": "object"}
    return _typescript_generic(text, aliases, level)


def _typescript_generic(text, aliases, level):
    if text.endswith("[]"):
        return {"type": "array", "items": typescript_type(text[:-2], aliases, level + 1)}
    generic = re.match(r"(\w+)\s*<(.*)>$", text, re.S)
    if generic:
        name, arguments = generic.group(1), split_outside(generic.group(2), ",")
        if name in ("Array", "ReadonlyArray"):
            return {"type": "array", "items": typescript_type(arguments[0], aliases, level + 1)}
        if name == "Record" and len(arguments) == 2:
            return {"type": "object", "additionalProperties": typescript_type(arguments[1], aliases, level + 1)}
    if is_wrapped(text, "[", "]"):
        items = [typescript_type(item, aliases, level + 1) for item in split_outside(text[1:-1], ",")]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    return {"type": "object"}


def _typescript_union(options, aliases, level):
    """null and undefined aside: literals are an enumeration; what may be any string is a string, as in Letta."""
    options = [option for option in options if option not in _NOTHING]
    literals = [_literal_of(option) for option in options]
    if options and None not in literals:
        return _enum_of(literals)
    schemas = []
    for option in options:
        schema = typescript_type(option, aliases, level + 1)
        if schema not in schemas:
            schemas.append(schema)
    if not schemas:
        return {"type": "null"}
    if {"type": "string"} in schemas:
        return {"type": "string"}
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _literal_of(text):
    """The value of a literal type; None if it is none."""
    if len(text) >= 2 and text[0] in _QUOTES and text[-1] == text[0] and text[0] not in text[1:-1] and "${" not in text:
        return text[1:-1]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d*\.\d+", text):
        return float(text)
    return {"true": True, "false": False}.get(text)


def _enum_of(values):
    if sorted(map(str, values)) == ["False", "True"]:
        return {"type": "boolean"}
    kinds = {"string" if isinstance(value, str) else "boolean" if isinstance(value, bool) else "number" for value in values}
    return dict({"type": kinds.pop()} if len(kinds) == 1 else {}, enum=values)


def split_outside(text, separator):
    """Splits at a character, but not within brackets or strings; the `>` of an arrow closes nothing."""
    parts, start, depth, index = [], 0, 0, 0
    while index < len(text):
        char = text[index]
        if char in _QUOTES:
            index = end_of_string(text, index)
            continue
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING and text[index - 1:index + 1] != "=>":
            depth -= 1
        elif char == separator and depth <= 0:
            parts.append(text[start:index])
            start = index + 1
        index += 1
    if text[start:].strip() or parts:
        parts.append(text[start:])
    return parts


def end_of_string(text, start):
    index = start + 1
    while index < len(text) and text[index] != text[start]:
        index += 2 if text[index] == "\\" else 1
    return index + 1


def end_of_brackets(text, start):
    """The position after the bracket that closes the one at `start`; the text's end if none does."""
    depth, index = 0, start
    while index < len(text):
        if text[index] in _QUOTES:
            index = end_of_string(text, index)
            continue
        if text[index] in _OPENING:
            depth += 1
        elif text[index] in _CLOSING and text[index - 1:index + 1] != "=>":
            depth -= 1
            if depth == 0:
                return index + 1
        index += 1
    return len(text)


def end_of_type(text, start):
    """Where a type alias ends: at a semicolon, or at a line's end after which no union goes on."""
    index = start
    while index < len(text):
        char = text[index]
        if char in _QUOTES:
            index = end_of_string(text, index)
        elif char in _OPENING:
            index = end_of_brackets(text, index)
        elif char == ";" or (char == "\n" and text[start:index].strip()[-1:] not in ("", "|", "&", "=")
                             and text[index:].lstrip()[:1] not in ("|", "&")):
            break
        else:
            index += 1
    return index


def is_wrapped(text, opening, closing):
    return text[:1] == opening and text[-1:] == closing and end_of_brackets(text, 0) == len(text)
