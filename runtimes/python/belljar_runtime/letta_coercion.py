"""Letta's coercion of arguments by the annotations of the tool's source: all of them, or none.

Only annotations as they are written count, names of builtin classes and of `typing`; nothing is evaluated. An argument that
is text is first read as data, whatever its annotation: that is why "true" for a `str` arrives as "True".
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import _ast
import sys

from belljar_runtime.letta_data import NotData, may_be_data, parse_module, read

CO_ANY_ASYNC = 0x80 | 0x200  # coroutines, async generators
_Function = type(lambda: None)
_BUILTIN_TYPES = {name: value for name, value in __builtins__.items() if isinstance(value, type)}
_COLLECTIONS = (list, dict, tuple, set)


class _Unsupported(Exception):
    pass


def coerce(source, code, name, function, given):
    """The arguments as Letta would hand them on: a new dictionary, or `given` itself."""
    if not given or _all_fit_already(code, name, function, given):
        return given
    try:
        annotations = _written_annotations(source, name)
        return {key: _coerced(value, annotations[key]) if key in annotations else value
                for key, value in given.items()}
    except Exception:  # one that cannot be coerced leaves all as they came
        return given


def _all_fit_already(code, name, function, given):
    """Whether coercion certainly changes nothing. Spares most calls the parsing of their source a second time."""
    if not any(type(value) is not str or may_be_data(value) for value in given.values()):
        return True
    if type(function) is not _Function or function.__code__ not in code.co_consts:
        return False
    namesakes = [constant for constant in code.co_consts if getattr(constant, "co_name", None) == name]
    if len(namesakes) != 1:
        return False
    if function.__code__.co_flags & CO_ANY_ASYNC:
        return True
    try:
        annotations = function.__annotations__
    except Exception:  # 3.14 evaluates them only now
        return False
    return all(key not in annotations or _fits(value, annotations[key]) for key, value in given.items())


def _fits(value, annotation):
    kind = type(value)
    return kind is annotation if kind is not str else not may_be_data(value)


def _written_annotations(source, name):
    """{parameter: syntax tree} of the first synchronous top-level function of that name."""
    for statement in parse_module(source):
        if type(statement) is _ast.FunctionDef and statement.name == name:
            return {parameter.arg: parameter.annotation for parameter in statement.args.args
                    if parameter.annotation is not None}
    raise _Unsupported()


def _coerced(value, annotation):
    wanted = _resolve(annotation)
    if isinstance(value, str):
        try:
            value = read(value)
        except NotData:
            if wanted is not str:
                raise
    origin = getattr(wanted, "__origin__", None)
    return origin(value) if any(origin is kind for kind in _COLLECTIONS) else wanted(value)


def _resolve(node):
    kind = type(node)
    if kind is _ast.Name:
        return _named(node.id)
    if kind is _ast.Attribute and type(node.value) is _ast.Name and node.value.id == "typing":
        return _of_typing(node.attr)
    if kind is _ast.Subscript:
        return _resolve(node.value)[_resolve(node.slice)]
    if kind is _ast.Tuple:
        return tuple(map(_resolve, node.elts))
    if kind is _ast.BinOp and type(node.op) is _ast.BitOr:
        import typing

        return typing.Union[_resolve(node.left), _resolve(node.right)]  # before 3.10 types know no `|`
    if kind is _ast.Constant and node.value is None:
        return type(None)
    raise _Unsupported()


def _named(name):
    return _BUILTIN_TYPES[name] if name in _BUILTIN_TYPES else _of_typing(name)


def _of_typing(name):
    import typing

    found = None if name.startswith("_") else getattr(typing, name, None)
    # Its helper functions (`cast`, `overload`) and the modules it imports are no annotations.
    if found is None or type(found) in (_Function, type(sys)):
        raise _Unsupported()
    return found
