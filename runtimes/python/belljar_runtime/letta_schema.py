"""What both ways of checking against a JSON schema share: references and names."""

from belljar_runtime.own_builtins import OWN as __builtins__


class SchemaError(Exception):
    """The schema itself is at fault."""


def resolve(schema, reference):
    """The definition that a `$ref` points to, within the same schema."""
    if type(reference) is not str or not reference.startswith("#/"):
        raise SchemaError("$ref %.100r does not point into the schema itself" % (reference,))
    found = schema
    for step in reference[2:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        if type(found) is not dict or step not in found:
            raise SchemaError("$ref %.100r points to nothing" % reference)
        found = found[step]
    if type(found) is not dict:
        raise SchemaError("$ref %.100r does not point to a schema" % reference)
    return found


def target_name(reference):
    name = str(reference).rpartition("/")[2]
    return "".join(char if char.isalnum() else "_" for char in name) or "Model"


def name_of(schema, otherwise):
    title = schema.get("title")
    name = "".join(char for char in title if char.isalnum() or char == "_") if type(title) is str else ""
    return name if name.isidentifier() else otherwise
