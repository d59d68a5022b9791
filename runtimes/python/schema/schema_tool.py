"""The schema of a tool from its source. Nothing of the source is executed.

`derive` answers {"schema": ...} or {"error": {"kind", "message", "detail"}}: `message` is what Letta's /generate-schema shows,
`detail` what it says when a tool is created. For Python there is also "inspection": how the function must be called.
"""

from schema.args_schema import BadArgsSchema, schema_from_args
from schema.python_function import Underivable, inspect_python, name_and_docstring, python_schema
from schema.strict_schema import strict_schema
from schema.typescript_function import NoTypeScriptFunction, typescript_schema


def derive(source: str, source_type: str = "python", name: str = None, args_json_schema: dict = None, strict: bool = False):
    answer = _derived(source, source_type or "python", name or None, args_json_schema)
    if strict and "schema" in answer:
        answer["schema"] = strict_schema(answer["schema"])
    return answer


def _derived(source, source_type, name, args_json_schema):
    if source_type == "typescript":
        return _derive_typescript(source, name)
    if source_type != "python":
        message = "Unknown tool source type: %s" % source_type
        return _error("ValueError", message, message)
    if args_json_schema:
        answer = _derive_from_args(source, name, args_json_schema)
    else:
        answer = _derive_python(source, name)
    if "schema" in answer:
        answer["inspection"] = inspect_python(source, answer["schema"]["name"])
    return answer


def _derive_python(source, name):
    try:
        return {"schema": python_schema(source, name)}
    except Underivable as error:
        message = "Schema generation failed: %s" % error
    except RecursionError:
        message = "Schema generation failed: the source is nested too deeply"
    return _error("LettaToolCreateError", message, "Failed to derive json schema: " + message)


def _derive_from_args(source, name, args_json_schema):
    try:
        called, description = name_and_docstring(source, name)
    except Underivable as error:
        message = "Failed to parse function name and docstring: %s" % error.reason
        return _error("LettaToolCreateError", message, message)
    try:
        return {"schema": schema_from_args(args_json_schema, called, description)}
    except (BadArgsSchema, RecursionError) as error:
        return _error("ValueError", str(error), str(error))


def _derive_typescript(source, name):
    try:
        return {"schema": typescript_schema(source, name)}
    except NoTypeScriptFunction as error:
        message = "TypeScript schema generation failed: %s" % error
    except RecursionError:
        message = "TypeScript schema generation failed: a type is nested too deeply"
    return _error("LettaToolCreateError", message, "Failed to derive TypeScript json schema: " + message)


def _error(kind, message, detail):
    return {"error": {"kind": kind, "message": message, "detail": detail}}
