"""The schema of a TypeScript tool from its exported function and the JSDoc above it. Scanned, not compiled."""

import re

from schema.typescript_types import Aliases, end_of_brackets, is_wrapped, split_outside, typescript_type

_FUNCTION = re.compile(r"\bexport\s+(default\s+)?(async\s+)?function\s*\*?\s*(\w+)?\s*(?=[<(])")
_VARIABLE = re.compile(r"\bexport\s+(?:const|let|var)\s+(\w+)\s*(?::[^=]*?)?=(?!=)\s*(async\s+)?(?:function\s*\w*\s*)?(?=[<(\w])")


class NoTypeScriptFunction(Exception):
    pass


class _Exported:
    """One exported function: where it begins, its name, the text between its parentheses."""

    def __init__(self, start, name, parameters, is_async, rank):
        self.start = start
        self.name = name
        self.parameters = parameters
        self.is_async = is_async
        self.rank = rank  # a plain function comes first, then async ones, then the rest, as Letta looks for them


def typescript_schema(source, name):
    functions = sorted(_exported_functions(_without_comments(source)), key=lambda one: (one.rank, one.start))
    named = [one for one in functions if one.name == name]
    if not functions:
        raise NoTypeScriptFunction("No exported function found in TypeScript source code")
    function = (named or functions)[0]
    text, documented = _jsdoc(source, function.start)
    properties, required = _typescript_parameters(function.parameters, Aliases.of(source), documented)
    return {"name": name or function.name, "description": text or "TypeScript function " + function.name,
            "parameters": {"type": "object", "properties": properties, "required": required}}


def _without_comments(source):
    """Comments become blanks, so that positions stay."""
    pattern = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|/\*.*?\*/|//[^\n]*", re.S)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()) if match.group()[0] == "/" else match.group(), source)


def _exported_functions(source):
    for match in _FUNCTION.finditer(source):
        opening = _after_generics(source, match.end())
        closing = end_of_brackets(source, opening)
        if source[opening:opening + 1] == "(" and source[closing:].lstrip()[:1] == ":":
            rank = 2 if match.group(1) else 1 if match.group(2) else 0
            yield _Exported(match.start(), match.group(3) or "default", source[opening + 1:closing - 1], bool(match.group(2)), rank)
    for match in _VARIABLE.finditer(source):
        parameters = _arrow_parameters(source, match.end())
        if parameters is not None:
            yield _Exported(match.start(), match.group(1), parameters, bool(match.group(2)), 3)


def _arrow_parameters(source, start):
    """The text between an arrow function's parentheses; None if no function begins here."""
    opening = _after_generics(source, start)
    if source[opening:opening + 1] == "(":
        closing = end_of_brackets(source, opening)
        following = source[closing:].lstrip()
        is_function = following[:1] in (":", "{") or following.startswith("=>")
        return source[opening + 1:closing - 1] if is_function else None
    single = re.compile(r"(\w+)\s*=>").match(source, start)
    return single.group(1) if single else None


def _after_generics(source, start):
    if source[start:start + 1] != "<":
        return start
    end = end_of_brackets(source, start)
    return end + len(source[end:]) - len(source[end:].lstrip())


def _jsdoc(source, start):
    """(description, {parameter: text}) of the comment right above a position."""
    before = source[:start].rstrip()
    opening = before.rfind("/**")
    if not before.endswith("*/") or opening < 0 or "*/" in before[opening:-2]:
        return "", {}
    lines = [line.strip().lstrip("*").strip() for line in before[opening + 3:-2].split("\n")]
    description, tags = [], []
    for line in lines:
        if line.startswith("@"):
            tags.append(line)
        elif tags:
            tags[-1] = (tags[-1] + " " + line).strip()
        elif line:
            description.append(line)
    return " ".join(description), dict(filter(None, map(_documented_parameter, tags)))


def _documented_parameter(tag):
    """(name, text) of `@param name - text`, `@param {type} name text`, `@param name Some words`.

    A single bare word after the name is no description (Letta's own vectors have such a tag without one).
    """
    match = re.match(r"@(?:param|arg|argument)\s+(\{.*?\}\s*)?\[?([\w$]+)(?:\s*=[^\]]*)?\]?\s*(-\s*)?(.*)", tag, re.S)
    if match is None:
        return None
    braces, name, hyphen, text = match.groups()
    text = text.strip()
    return (name, text) if text and (braces or hyphen or " " in text) else None


def _typescript_parameters(text, aliases, documented):
    parameters = [part.strip() for part in split_outside(text, ",") if part.strip()]
    properties, required = {}, []
    if len(parameters) == 1 and parameters[0].startswith("{"):
        parameters = _members(parameters[0])
    for parameter in parameters:
        match = re.match(r"([\w$]+)\s*(\?)?\s*:\s*(.+)", parameter, re.S)
        if match is None:
            continue
        name, optional, declared = match.groups()
        declared, default = _without_default(declared)
        schema = typescript_type(declared, aliases)
        if name in documented:
            schema = dict(schema, description=documented[name])
        properties[name] = schema
        if not optional and not default:
            required.append(name)
    return properties, required


def _members(parameter):
    """`{ a, b }: { a: string; b?: number }`: the members of the type are the arguments."""
    declared = parameter[end_of_brackets(parameter, 0):].lstrip()
    declared, _ = _without_default(declared[1:] if declared[:1] == ":" else "")
    declared = declared.strip()
    if not is_wrapped(declared, "{", "}"):
        return []
    members = [part for piece in split_outside(declared[1:-1], ";") for line in split_outside(piece, ",") for part in line.split("\n")]
    return [member.strip() for member in members if member.strip()]


def _without_default(declared):
    """(type, whether a default follows it): the `=` of an arrow is none."""
    parts = split_outside(declared.replace("=>", "\0\0"), "=")
    return parts[0].replace("\0\0", "=>") if parts else "", len(parts) > 1
