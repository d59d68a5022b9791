"""Text that stands for data: JSON, or a Python literal. Read as data, never evaluated.

The `ast` module is not used: it would bring `enum` and `contextlib` into the call. The compiler's own trees suffice.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import _ast

from belljar_runtime import jsontext

PyCF_ONLY_AST = 0x400
# Words with which the text of a constant can begin; any other word cannot be data.
_CONSTANT_WORDS = frozenset(("true", "false", "null", "NaN", "Infinity", "None", "True", "False", "set"))
_STRING_PREFIXES = frozenset(("b", "r", "u", "br", "rb"))


class NotData(ValueError):
    """The text is neither JSON nor a Python literal."""


def may_be_data(text):
    """False for text that `read` would certainly refuse; quick, since most text is prose."""
    text = text.lstrip(" \t\r\n")
    if not (text[:1].isalpha() or text[:1] == "_"):
        return bool(text)
    length = 1
    while length < len(text) and length < 10 and (text[length].isalnum() or text[length] == "_"):
        length += 1
    word = text[:length]
    return word in _CONSTANT_WORDS or (word.lower() in _STRING_PREFIXES and text[length:length + 1] in ("'", '"'))


def read(text):
    """The value of JSON text, else of a Python literal; NotData."""
    try:
        return jsontext.parse_lenient(text)
    except ValueError:
        pass
    except RecursionError:
        raise NotData("nested too deeply") from None
    try:
        tree = compile(text.lstrip(" \t"), "<unknown>", "eval", PyCF_ONLY_AST, dont_inherit=True)
        return _value(tree.body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        raise NotData(str(error)) from None


def parse_module(source):
    """The statements of a module."""
    return compile(source.lstrip("\ufeff"), "<unknown>", "exec", PyCF_ONLY_AST, dont_inherit=True).body


def _value(node):
    kind = type(node)
    if kind is _ast.Constant:
        return node.value
    if kind is _ast.Tuple:
        return tuple(map(_value, node.elts))
    if kind is _ast.List:
        return list(map(_value, node.elts))
    if kind is _ast.Set:
        return set(map(_value, node.elts))
    if kind is _ast.Dict and None not in node.keys:
        return dict(zip(map(_value, node.keys), map(_value, node.values)))
    if kind is _ast.Call and type(node.func) is _ast.Name and node.func.id == "set" and not (node.args or node.keywords):
        return set()
    if kind is _ast.BinOp and type(node.op) in (_ast.Add, _ast.Sub):
        return _complex(node)
    return _signed_number(node)


def _signed_number(node):
    if type(node) is _ast.UnaryOp and type(node.op) in (_ast.UAdd, _ast.USub):
        number = _number(node.operand)
        return +number if type(node.op) is _ast.UAdd else -number
    return _number(node)


def _number(node):
    if type(node) is _ast.Constant and type(node.value) in (int, float, complex):
        return node.value
    raise NotData("malformed")


def _complex(node):
    left, right = _signed_number(node.left), _number(node.right)
    if type(left) is complex or type(right) is not complex:
        raise NotData("malformed")
    return left + right if type(node.op) is _ast.Add else left - right
