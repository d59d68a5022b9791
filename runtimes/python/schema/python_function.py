"""The schema of a Python tool from its function's signature and docstring."""

import ast

from schema.docstrings import clean_docstring, examples_section, parse_docstring
from schema.python_classes import Classes
from schema.python_types import Scope

RESERVED_PARAMETERS = ("self", "agent_state", "agent_id")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Underivable(Exception):
    """The message is the one that Letta's clients know; `reason` is how it says the same where a tool has its own schema."""

    def __init__(self, message, reason=None):
        Exception.__init__(self, message)
        self.reason = reason or message


def python_schema(source, name):
    tree = parse_python(source)
    function = find_function(tree, name)
    docstring = ast.get_docstring(function, clean=False)
    if not docstring:
        raise Underivable("Function %s missing docstring" % function.name)
    try:
        properties, required, description = _parameters(tree, function, docstring)
    except TypeError as error:
        raise Underivable("Type error in schema generation: %s" % error) from None
    except ValueError as error:
        raise Underivable("Value error in schema generation: %s" % error) from None
    return {"name": function.name if name is None else name, "description": description,
            "parameters": {"type": "object", "properties": properties, "required": required}}


def parse_python(source):
    try:
        return ast.parse(source.lstrip("\ufeff"))
    except (SyntaxError, ValueError) as error:
        raise Underivable("Failed to parse source code: %s" % error, str(error)) from None
    except (RecursionError, MemoryError):
        raise Underivable("Failed to parse source code: it is nested too deeply") from None


def find_function(tree, name):
    """The named function, else the last one at the top level that has a docstring; sync before async, as Letta knows only
    those. Without any, the last one anywhere."""
    top = [node for node in tree.body if isinstance(node, _FUNCTIONS)]
    for node in reversed(top):
        if name is not None and node.name == name:
            return node
    if not top:
        top = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    if not top:
        raise Underivable("No functions found in source code", "No function definition found in source code")
    sync = [node for node in top if isinstance(node, ast.FunctionDef)]
    if sync and (ast.get_docstring(sync[-1], clean=False) or len(sync) == len(top)):
        return sync[-1]
    return top[-1]


def inspect_python(source, name):
    """What the server must know of a function: whether it is async, and which reserved parameters it has."""
    parameters, is_async = [], False
    for node in ast.walk(parse_python(source)):
        if isinstance(node, _FUNCTIONS) and node.name == name:
            arguments = node.args
            parameters += [one.arg for one in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
            is_async = is_async or isinstance(node, ast.AsyncFunctionDef)
    return {"arguments": parameters, "inject_agent_state": "agent_state" in parameters,
            "inject_agent_id": "agent_id" in parameters, "is_async": is_async}


def name_and_docstring(source, name):
    """For tools whose arguments have a schema of their own: there the docstring may be missing."""
    function = find_function(parse_python(source), name)
    called = name or function.name
    docstring = ast.get_docstring(function, clean=False)
    return called, clean_docstring(docstring) if docstring else "The %s tool" % called


def _parameters(tree, function, docstring):
    documented = parse_docstring(docstring)
    types = Classes(Scope(tree)).types
    properties, required = {}, []
    arguments = function.args.posonlyargs + function.args.args
    first_default = len(arguments) - len(function.args.defaults)
    for position, argument in enumerate(arguments):
        if argument.arg in RESERVED_PARAMETERS:
            continue
        where = "Parameter '%s' in function '%s' lacks" % (argument.arg, function.name)
        if argument.annotation is None:
            raise TypeError(where + " a type annotation")
        description = documented.parameters.get(argument.arg) or types.annotated_description(argument.annotation)
        if not description:
            raise ValueError(where + " a description in the docstring")
        schema = types.schema(argument.annotation)
        properties[argument.arg] = dict({key: value for key, value in schema.items() if key != "description"},
                                        description=description)
        if position < first_default and not types.is_optional(argument.annotation):
            required.append(argument.arg)
    return properties, required, _description(documented, docstring)


def _description(documented, docstring):
    examples = examples_section(docstring)
    description = documented.description
    return "%s\n\n%s" % (description, examples) if examples and "Examples:" not in description else description
