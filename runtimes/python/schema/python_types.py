"""Python annotations, as syntax trees, become JSON schemas. Names are followed to the source's own imports, aliases and
classes; nothing is evaluated."""

import ast

MOST_TYPE_LEVELS = 40
_PLAIN = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_LISTS = ("list", "List", "Sequence", "MutableSequence", "Iterable", "Collection", "Iterator")
_SETS = ("set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet")
_DICTS = ("dict", "Dict", "Mapping", "MutableMapping", "DefaultDict", "OrderedDict", "defaultdict")
_WRAPPERS = ("Annotated", "Required", "NotRequired", "Final", "ClassVar", "ReadOnly")
_MODULES = ("typing", "typing_extensions", "collections", "collections.abc", "pydantic", "enum", "dataclasses", "builtins")
_FULL_MAP = ("{<class 'int'>: 'integer', <class 'str'>: 'string', <class 'bool'>: 'boolean', <class 'float'>: 'number',"
             " None: 'null'}")


class Unsupported(ValueError):
    """An annotation that no JSON schema stands for."""


class Scope:
    """What the names in one source mean."""

    def __init__(self, tree):
        self.renamed = {}    # from typing import List as L
        self.modules = {}    # import typing as t
        self.classes = {}
        self.aliases = {}    # Mode = Literal["a", "b"]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in _MODULES:
                self.renamed.update((alias.asname, alias.name) for alias in node.names if alias.asname)
            elif isinstance(node, ast.Import):
                self.modules.update((alias.asname or alias.name, alias.name) for alias in node.names)
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
        for node in tree.body:
            self._note_alias(node)

    def _note_alias(self, node):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.aliases[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.aliases[node.target.id] = node.value
        elif type(node).__name__ == "TypeAlias":  # type Mode = ... (3.12)
            self.aliases[node.name.id] = node.value

    def name_of(self, node):
        """The plain name behind `List`, `L`, `typing.List`, `t.List`; None if the node is no name."""
        if isinstance(node, ast.Name):
            return self.renamed.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            module = ast.unparse(node.value)
            return node.attr if self.modules.get(module, module) in _MODULES else None
        return None


class Types:
    """Makes schemas of annotations. `model` is called for a class of the source: (class, level) -> schema or None."""

    def __init__(self, scope, model):
        self._scope = scope
        self._model = model

    def schema(self, node, level=0):
        if level > MOST_TYPE_LEVELS:
            raise Unsupported("The type is nested more than %d levels deep" % MOST_TYPE_LEVELS)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.schema(_parsed(node.value), level + 1)
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union(_operands(node), level)
        if isinstance(node, ast.Subscript):
            return self._generic(node, level)
        name = self._scope.name_of(node)
        return self._named(node, name, level)

    def is_optional(self, node, level=0):
        """Whether None is one of the options at the outermost level."""
        if level > MOST_TYPE_LEVELS:
            return False
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and self.is_optional(_parsed(node.value), level + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return any(_is_none(option) or self.is_optional(option, level + 1) for option in _operands(node))
        if isinstance(node, ast.Name) and node.id in self._scope.aliases:
            return self.is_optional(self._scope.aliases[node.id], level + 1)
        if not isinstance(node, ast.Subscript):
            return False
        name, options = self._scope.name_of(node.value), _elements(node)
        if name in _WRAPPERS:
            return self.is_optional(options[0], level + 1)
        return name == "Optional" or (name in ("Union", "Literal") and any(
            _is_none(option) or self.is_optional(option, level + 1) for option in options))

    def annotated_description(self, node):
        """The text in Annotated[T, "text"] or Annotated[T, Field(description="text")]; None."""
        if not isinstance(node, ast.Subscript) or self._scope.name_of(node.value) != "Annotated":
            return None
        for extra in _elements(node)[1:]:
            if isinstance(extra, ast.Constant) and isinstance(extra.value, str):
                return extra.value
            for keyword in getattr(extra, "keywords", ()):
                if keyword.arg == "description" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
        return None

    def _named(self, node, name, level):
        if name in _PLAIN:
            return {"type": _PLAIN[name]}
        if name in _LISTS or name in ("tuple", "Tuple"):
            return {"type": "array", "items": {"type": "string"}}
        if name in _SETS:
            return {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
        if name in _DICTS:
            return {"type": "object"}
        if name in ("Any", "object"):
            return {}
        if name == "Text":
            return {"type": "string"}
        if name == "NoneType":
            return {"type": "null"}
        if isinstance(node, ast.Name):
            found = self._of_source(node.id, level)
            if found is not None:
                return found
        raise self._unsupported(node)

    def _of_source(self, name, level):
        if name in self._scope.classes:
            return self._model(self._scope.classes[name], level + 1)
        alias = self._scope.aliases.get(name)
        if isinstance(alias, ast.Call) and self._scope.name_of(alias.func) == "NewType" and len(alias.args) == 2:
            return self.schema(alias.args[1], level + 1)
        if isinstance(alias, (ast.Name, ast.Subscript, ast.Attribute, ast.BinOp)):
            return self.schema(alias, level + 1)
        return None

    def _generic(self, node, level):
        name, options = self._scope.name_of(node.value), _elements(node)
        if name in _WRAPPERS:
            return self.schema(options[0], level + 1)
        if name in ("List", "Optional") and isinstance(options[0], ast.Name):
            self._check_known(options[0], level)
        if name in ("Optional", "Union"):
            return self._union(options, level)
        if name == "Literal":
            return _literal(options)
        if name in _LISTS:
            return {"type": "array", "items": self.schema(options[0], level + 1)}
        if name in _SETS:
            return {"type": "array", "items": self.schema(options[0], level + 1), "uniqueItems": True}
        if name in ("tuple", "Tuple"):
            return self._tuple(options, level)
        if name in _DICTS and len(options) == 2:
            return {"type": "object", "additionalProperties": self.schema(options[1], level + 1) or True}
        raise self._unsupported(node)

    def _check_known(self, node, level):
        try:
            self._named(node, self._scope.name_of(node), level)
        except Unsupported as error:  # `typing` turns a name that it is given as text into this
            raise Unsupported(str(error).replace("type %s has" % node.id, "type ForwardRef(%r) has" % node.id, 1)) from None

    def _tuple(self, options, level):
        if len(options) == 2 and isinstance(options[1], ast.Constant) and options[1].value is ...:
            return {"type": "array", "items": self.schema(options[0], level + 1)}
        return {"type": "array", "prefixItems": [self.schema(option, level + 1) for option in options],
                "minItems": len(options), "maxItems": len(options)}

    def _union(self, options, level):
        """None among the options says that the parameter may be left out; the others are what it can be."""
        schemas = []
        for option in options:
            if _is_none(option):
                continue
            schema = self.schema(option, level + 1)
            for one in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
                if one not in schemas:
                    schemas.append(one)
        if not schemas:
            return {"type": "null"}
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _unsupported(self, node):
        return Unsupported("Python type %s has no corresponding JSON schema type - full map: %s"
                           % (_letta_text(node), _FULL_MAP))


def _literal(options):
    values = [value for value in (_literal_value(option) for option in options) if value is not None]
    kinds = sorted({{str: "string", bool: "boolean", int: "integer"}.get(type(value), "string") for value in values})
    if not kinds:
        return {"type": "null"}
    return dict({"type": kinds[0]} if len(kinds) == 1 else {}, enum=values)


def _literal_value(node):
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise Unsupported("Literal[%s] holds something that is not a constant" % ast.unparse(node)) from None
    return value if isinstance(value, (str, int, type(None))) else str(value)


def _parsed(text):
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unsupported("Python type %r has no corresponding JSON schema type - full map: %s" % (text, _FULL_MAP)) from None


def _elements(subscript):
    inner = subscript.slice
    return inner.elts if isinstance(inner, ast.Tuple) else [inner]


def _operands(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _operands(node.left) + _operands(node.right)
    return [node]


def _is_none(node):
    return (isinstance(node, ast.Constant) and node.value is None) or (isinstance(node, ast.Name) and node.id == "NoneType")


def _letta_text(node):
    """An annotation as Letta's own message shows it."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inner = node.slice
        shown = "<class '%s'>" % inner.id if isinstance(inner, ast.Name) and inner.id in (*_PLAIN, "list", "dict") else ast.unparse(inner)
        return "%s[%s]" % (node.value.id, shown)
    return ast.unparse(node)
