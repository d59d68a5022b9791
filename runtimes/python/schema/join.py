"""Makes the modules of this folder into one source text, for the binary: `python3 join.py OUTPUT`."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Each after what it imports.
MODULES = ("docstrings", "python_types", "python_classes", "python_function", "typescript_types", "typescript_function",
           "args_schema", "strict_schema", "schema_tool")


def joined():
    imports, bodies = [], []
    for module in MODULES:
        with open(os.path.join(HERE, module + ".py"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        imports += [line for line in lines if line.startswith("import ")]
        bodies.append("\n".join(line for line in lines if not line.startswith(("import ", "from schema."))))
    return "\n".join(sorted(set(imports)) + bodies)


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as output:
        output.write(joined())
