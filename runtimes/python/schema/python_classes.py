"""Classes defined in a tool's source as JSON schemas: pydantic models, dataclasses, typed dictionaries, enums."""

import ast

from schema.docstrings import parse_docstring
from schema.python_types import Types, Unsupported

_RECORD_BASES = ("BaseModel", "TypedDict", "NamedTuple")
_ENUM_BASES = ("Enum", "IntEnum", "StrEnum", "Flag")
_MISSING = object()


class Classes:
    """`described` decides whether each field must say what it is for: Letta demands it of pydantic models."""

    def __init__(self, scope):
        self._scope = scope
        self._being_made = []
        self.types = Types(scope, self.schema)

    def schema(self, node, level=0):
        """The schema of a class, None if it is of no kind that has one."""
        if self._inherits(node, _ENUM_BASES):
            return self._enum(node)
        if not (self._inherits(node, _RECORD_BASES) or self._is_dataclass(node)):
            return None
        if node.name in self._being_made:  # a model that contains itself
            return {"type": "object"}
        self._being_made.append(node.name)
        try:
            return self._record(node, level)
        finally:
            self._being_made.pop()

    def _record(self, node, level):
        properties, required = {}, []
        must_describe = self._inherits(node, ("BaseModel",))
        for field in self._fields(node):
            schema = self.types.schema(field.annotation, level + 1)
            description = field.description or self.types.annotated_description(field.annotation)
            if description is None and must_describe:
                raise Unsupported("Property %s lacks a 'description' key" % _pydantic_text(field.name, schema, field, self.types))
            if description is not None:
                schema = dict({key: value for key, value in schema.items() if key != "description"}, description=description)
            properties[field.name] = schema
            if field.is_required:
                required.append(field.name)
        return {"type": "object", "properties": properties, "required": required}

    def _fields(self, node):
        """Fields in order, those of base classes first; a later definition replaces an earlier one."""
        found = {}
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self._scope.classes and base.id != node.name:
                parent = self._scope.classes[base.id]
                if parent.name not in self._being_made:
                    self._being_made.append(parent.name)
                    found.update((field.attribute, field) for field in self._fields(parent))
                    self._being_made.pop()
        documented = parse_docstring(ast.get_docstring(node, clean=False) or "").parameters
        for index, statement in enumerate(node.body):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                field = _Field(statement, _text_below(node.body, index), documented, self._scope)
                if field.is_part:
                    found[field.attribute] = field
        return list(found.values())

    def _enum(self, node):
        values = []
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) \
                    and not statement.targets[0].id.startswith("_"):
                values.append(_constant(statement.value, statement.targets[0].id.lower()))
        kinds = {"integer" if type(value) is int else "string" for value in values}
        return dict({"type": kinds.pop()} if len(kinds) == 1 else {}, enum=values)

    def _is_dataclass(self, node):
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self._scope.name_of(called) == "dataclass":
                return True
        return False

    def _inherits(self, node, names, level=0):
        for base in node.bases:
            if self._scope.name_of(base) in names:
                return True
            if isinstance(base, ast.Name) and base.id in self._scope.classes and level < 20 \
                    and self._inherits(self._scope.classes[base.id], names, level + 1):
                return True
        return False


class _Field:
    def __init__(self, statement, text_below, documented, scope):
        self.attribute = self.name = statement.target.id
        self.annotation = statement.annotation
        self.default = _MISSING
        self.description = text_below or documented.get(self.attribute) or None
        value = statement.value
        if isinstance(value, ast.Call) and scope.name_of(value.func) in ("Field", "field"):
            self._read_options(value)
        elif value is not None:
            self.default = value
        marker = scope.name_of(self.annotation.value) if isinstance(self.annotation, ast.Subscript) else None
        self.is_part = not self.attribute.startswith("_") and marker != "ClassVar"
        self.is_required = self.default is _MISSING and marker != "NotRequired"

    def _read_options(self, call):
        options = {keyword.arg: keyword.value for keyword in call.keywords}
        first = call.args[0] if call.args else options.get("default", options.get("default_factory"))
        if first is not None and not (isinstance(first, ast.Constant) and first.value is ...):
            self.default = first
        if "description" in options:
            self.description = _constant(options["description"], None)
        alias = options.get("validation_alias", options.get("alias"))
        if isinstance(alias, ast.Constant) and isinstance(alias.value, str):
            self.name = alias.value


def _text_below(body, index):
    """A string right under a field explains it."""
    following = body[index + 1] if index + 1 < len(body) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant) and isinstance(following.value.value, str):
        return following.value.value.strip()
    return None


def _constant(node, otherwise):
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return otherwise
    return value if isinstance(value, (str, int)) else str(value)


def _pydantic_text(name, schema, field, types):
    """The property as pydantic would show it in Letta's message."""
    shown = dict(schema)
    if types.is_optional(field.annotation):
        shown = {"anyOf": [schema, {"type": "null"}]}
    if field.default is not _MISSING and isinstance(field.default, ast.Constant):
        shown["default"] = field.default.value
    shown["title"] = name.replace("_", " ").title()
    return {key: shown[key] for key in sorted(shown)}
