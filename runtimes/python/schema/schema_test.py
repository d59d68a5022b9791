"""Tests of schema derivation: `python3 runtimes/python/schema/schema_test.py`. Runs the joined source, as the engine does."""

import ast
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from join import MODULES, joined  # noqa: E402

with open(os.path.join(HERE, "../../../tests/vectors/letta-vectors.json"), encoding="utf-8") as file:
    VECTORS = json.load(file)

TOOL = {}
exec(compile(joined(), "schema_tool.py", "exec"), TOOL)
derive = TOOL["derive"]
DOCSTRING = '"""Do a thing.\n\n    Longer text.\n\n    Args:\n        a (str): First.\n        b (int): Second.\n    """'


def integer(**more):
    return dict({"type": "integer"}, **more)


# Vectors in which this does better than Letta: the signature in question, what `a` or `b` then is, required.
BETTER = {
    "a: Literal['x','y'], b: dict": ("a", {"type": "string", "enum": ["x", "y"], "description": "First."}, ["a", "b"]),
    "async def f(a: str, b: int)": ("a", {"type": "string", "description": "First."}, ["a", "b"]),
    "b: int | None = None": ("b", {"type": "integer", "description": "Second."}, ["a"]),
    "a: Tuple[int,str], b": ("a", {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2,
                                   "maxItems": 2, "description": "First."}, ["a", "b"]),
    "a: 'str', b: int": ("a", {"type": "string", "description": "First."}, ["a", "b"]),
    "a: typing.List[str]": ("a", {"type": "array", "items": {"type": "string"}, "description": "First."}, ["a", "b"]),
    "a: set, b": ("a", {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "description": "First."}, ["a", "b"]),
}
BETTER_TYPESCRIPT = {"a: number = 5": ({"a": {"type": "number"}}, [])}


class Vectors(unittest.TestCase):
    def test_python(self):
        used = set()
        for case in VECTORS["python_schema"]:
            with self.subTest(case["source"]):
                answer = derive(case["source"])
                known = [signature for signature in BETTER if signature in case["source"]]
                if known:
                    used.update(known)
                    name, schema, required = BETTER[known[0]]
                    self.assertEqual(answer["schema"]["parameters"]["properties"][name], schema)
                    self.assertEqual(answer["schema"]["parameters"]["required"], required)
                elif "error" in case:
                    self.assertEqual((answer["error"]["kind"], answer["error"]["message"]), (case["error"], case["message"]))
                    self.assertEqual(answer["error"]["detail"], "Failed to derive json schema: " + case["message"])
                else:
                    self.assertEqual(json.dumps(answer["schema"]), json.dumps(case["schema"]))
        self.assertEqual(used, set(BETTER))

    def test_typescript(self):
        for case in VECTORS["typescript_schema"]:
            with self.subTest(case["source"]):
                answer = derive(case["source"], "typescript")
                known = [signature for signature in BETTER_TYPESCRIPT if signature in case["source"]]
                if known:
                    parameters = answer["schema"]["parameters"]
                    self.assertEqual((parameters["properties"], parameters["required"]), BETTER_TYPESCRIPT[known[0]])
                elif "error" in case:
                    self.assertEqual((answer["error"]["kind"], answer["error"]["message"]), (case["error"], case["message"]))
                else:
                    self.assertEqual(json.dumps(answer["schema"]), json.dumps(case["schema"]))

    def test_inspection(self):
        for case in VECTORS["python_source_inspection"]:
            with self.subTest(case["source"]):
                found = TOOL["inspect_python"](case["source"], case["name"])
                self.assertEqual(found, {key: case[key] for key in found})
        self.assertTrue(TOOL["inspect_python"]("def f(*, agent_id): pass", "f")["inject_agent_id"])


class PythonTypes(unittest.TestCase):
    def a(self, annotation, before="", default=""):
        """The schema of a parameter of that annotation; whether it is required is left in self.required."""
        source = "%s\ndef f(a: %s%s):\n    %s\n" % (before, annotation, default, DOCSTRING)
        answer = derive(source)
        self.assertIn("schema", answer, answer)
        parameters = answer["schema"]["parameters"]
        self.required = parameters["required"] == ["a"]
        schema = dict(parameters["properties"]["a"])
        self.assertEqual(schema.pop("description"), "First.")
        return schema

    def test_simple_and_nested_ones(self):
        string, number = {"type": "string"}, {"type": "number"}
        for annotation, schema in (
                ("list", {"type": "array", "items": string}), ("List", {"type": "array", "items": string}),
                ("list[list[int]]", {"type": "array", "items": {"type": "array", "items": integer()}}),
                ("List[dict]", {"type": "array", "items": {"type": "object"}}),
                ("Dict[str, float]", {"type": "object", "additionalProperties": number}),
                ("dict[str, list[int]]", {"type": "object", "additionalProperties": {"type": "array", "items": integer()}}),
                ("Dict[str, Any]", {"type": "object", "additionalProperties": True}), ("Any", {}),
                ("Union[int, str]", {"anyOf": [integer(), string]}), ("int | str", {"anyOf": [integer(), string]}),
                ("'list[int]'", {"type": "array", "items": integer()}), ("Literal[1, 2]", integer(enum=[1, 2])),
                ("Literal['a', 1]", {"enum": ["a", 1]}), ("Tuple[int, ...]", {"type": "array", "items": integer()}),
                ("set[int]", {"type": "array", "items": integer(), "uniqueItems": True}),
                ("t.Sequence[str]", {"type": "array", "items": string}), ("L[int]", {"type": "array", "items": integer()}),
                ("Mode", {"type": "string", "enum": ["x", "y"]}), ("UserId", integer()), ("Color", {"type": "string", "enum": ["r", "g"]}),
                ("Annotated[int, 'more']", integer()), ("Movie", {"type": "object", "properties": {
                    "title": string, "year": integer()}, "required": ["title"]})):
            with self.subTest(annotation):
                self.assertEqual(self.a(annotation, SURROUNDINGS), schema)
                self.assertTrue(self.required)

    def test_optional_ones_are_flat_and_not_required(self):
        for annotation in ("Optional[int]", "int | None", "None | int", "Union[int, None]", "Union[None, int]", "typing.Optional[int]",
                           "'int | None'", "Annotated[Optional[int], 'x']", "MaybeInt"):
            with self.subTest(annotation):
                self.assertEqual(self.a(annotation, SURROUNDINGS + "MaybeInt = Optional[int]\n"), integer())
                self.assertFalse(self.required)
        self.assertEqual(self.a("int | str | None"), {"anyOf": [integer(), {"type": "string"}]})
        self.assertEqual(self.a("Literal['x', None]"), {"type": "string", "enum": ["x"]})
        self.assertFalse(self.required)

    def test_a_default_of_any_kind_makes_it_optional(self):
        for default in (" = None", " = 3", " = LIMIT", " = compute()"):
            self.a("int", default=default)
            self.assertFalse(self.required)

    def test_parameters_by_position_only_are_parameters(self):
        parameters = derive("def f(a: int, /, b: int = 1):\n    %s\n" % DOCSTRING)["schema"]["parameters"]
        self.assertEqual((list(parameters["properties"]), parameters["required"]), (["a", "b"], ["a"]))
        parameters = derive("def f(a: int = 1, /, b: int = 1):\n    %s\n" % DOCSTRING)["schema"]["parameters"]
        self.assertEqual(parameters["required"], [])

    def test_what_json_does_not_have_is_an_error(self):
        for annotation, shown in (("datetime", "datetime"), ("Foo[int]", "Foo[<class 'int'>]"), ("a.b", "a.b")):
            answer = derive("def f(a: %s):\n    %s\n" % (annotation, DOCSTRING))
            self.assertTrue(answer["error"]["message"].startswith(
                "Schema generation failed: Value error in schema generation: Python type %s has no corresponding JSON schema type"
                % shown), answer)


SURROUNDINGS = """
import typing as t, typing, enum
from typing import *
from typing import List as L
Mode = Literal['x', 'y']
UserId = NewType('UserId', int)
class Color(str, enum.Enum):
    RED = 'r'
    GREEN = 'g'
class Movie(TypedDict):
    title: str
    year: NotRequired[int]
"""

MODELS = """
from pydantic import BaseModel, Field
from typing import Optional, List, Literal
class Tag(BaseModel):
    text: str = Field(..., description="The text.")
class Base(BaseModel):
    id: int = Field(description="Number.")
class Item(Base):
    '''An item.

    Attributes:
        size: How large.
    '''
    name: str = Field(..., description="Its name.")
    tags: List[Tag] = Field(default_factory=list, description="Tags.")
    main: Optional[Tag] = Field(None, description="First tag.")
    mode: Literal["a", "b"] = Field("a", description="Mode.")
    size: float
    words: list[str] = Field(default=[], description="Words.")
    parent: Optional["Item"] = Field(default=None, description="Parent.")
    _hidden: int = 3
"""


class PythonModels(unittest.TestCase):
    TAG = {"type": "object", "properties": {"text": {"type": "string", "description": "The text."}}, "required": ["text"]}

    def test_fields_defaults_nesting_and_inheritance(self):
        answer = derive(MODELS + "def f(a: Item):\n    %s\n" % DOCSTRING)
        self.assertEqual(answer["schema"]["parameters"]["properties"]["a"], {"type": "object", "properties": {
            "id": {"type": "integer", "description": "Number."}, "name": {"type": "string", "description": "Its name."},
            "tags": {"type": "array", "items": self.TAG, "description": "Tags."}, "main": dict(self.TAG, description="First tag."),
            "mode": {"type": "string", "enum": ["a", "b"], "description": "Mode."}, "size": {"type": "number", "description": "How large."},
            "words": {"type": "array", "items": {"type": "string"}, "description": "Words."},
            "parent": {"type": "object", "description": "Parent."}}, "required": ["id", "name", "size"], "description": "First."})

    def test_a_list_of_models(self):
        answer = derive(MODELS + "def f(a: list[Tag]):\n    %s\n" % DOCSTRING)
        self.assertEqual(answer["schema"]["parameters"]["properties"]["a"],
                         {"type": "array", "items": self.TAG, "description": "First."})


class PythonFunctions(unittest.TestCase):
    def test_the_named_one_else_the_last_at_the_top(self):
        source = "def g(a: int):\n    %s\ndef f(a: str):\n    %s\n    def inner(): pass\n" % (DOCSTRING, DOCSTRING)
        self.assertEqual(derive(source)["schema"]["name"], "f")
        self.assertEqual(derive(source, name="g")["schema"]["parameters"]["properties"]["a"]["type"], "integer")
        self.assertEqual(derive(source, name="other")["schema"]["name"], "other")

    def test_an_async_function_behind_a_helper_without_docstring_is_the_tool(self):
        answer = derive("def helper(x):\n    return x\nasync def f(a: int):\n    %s\n" % DOCSTRING)
        self.assertEqual(answer["schema"]["name"], "f")
        self.assertEqual(answer["inspection"], {"arguments": ["a"], "inject_agent_state": False, "inject_agent_id": False,
                                                "is_async": True})

    def test_reserved_parameters_are_not_arguments(self):
        source = "def f(self, agent_state: 'AgentState', agent_id: str, a: str):\n    %s\n" % DOCSTRING
        answer = derive(source)
        self.assertEqual(list(answer["schema"]["parameters"]["properties"]), ["a"])
        self.assertEqual(answer["inspection"]["inject_agent_id"], True)

    def test_what_is_missing_is_named(self):
        for signature, message in (
                ("c: int", "Value error in schema generation: Parameter 'c' in function 'f' lacks a description in the docstring"),
                ("a", "Type error in schema generation: Parameter 'a' in function 'f' lacks a type annotation")):
            answer = derive("def f(%s):\n    %s\n" % (signature, DOCSTRING))
            self.assertEqual(answer["error"]["message"], "Schema generation failed: " + message)
        self.assertEqual(derive("def f(:\n")["error"]["message"],
                         "Schema generation failed: Failed to parse source code: invalid syntax (<unknown>, line 1)")

    def test_nothing_is_executed(self):
        answer = derive("raise SystemExit\ndef f(a: print('x') = exit()):\n    %s\n" % DOCSTRING)
        self.assertIn("Python type print('x') has no", answer["error"]["message"])

    def test_hostile_nesting_is_an_answer_too(self):
        for source in ("def f(a: %s):\n    %s" % ("list[" * 60 + "int" + "]" * 60, DOCSTRING), "(" * 5000, "\0", "x = " + "-" * 100000 + "1",
                       "class A(A): pass\ndef f(a: A):\n    %s" % DOCSTRING, "A = B\nB = A\ndef f(a: A):\n    %s" % DOCSTRING):
            self.assertIn("error", derive(source))


class Docstrings(unittest.TestCase):
    def parsed(self, docstring):
        source = "def f(a: str, b: int = 1):\n    '''%s'''\n" % docstring
        ast.parse(source)
        schema = derive(source)
        self.assertIn("schema", schema, schema)
        schema = schema["schema"]
        return [schema["description"]] + [one["description"] for one in schema["parameters"]["properties"].values()]

    def test_each_style(self):
        for docstring in (
                "Do.\n\n    More.\n\n    Args:\n        a (str): First\n            line.\n        b: Second.\n\n    Returns:\n        str: x\n    ",
                "Do.\n\n    More.\n\n    Parameters\n    ----------\n    a : str\n        First\n        line.\n    b : int, optional\n        Second.\n\n"
                "    Returns\n    -------\n    str\n        x\n    ",
                "Do.\n\n    More.\n\n    :param a: First\n        line.\n    :type a: str\n    :param int b: Second.\n    :returns: x\n    ",
                "Do.\n\n    More.\n\n    @param a: First\n        line.\n    @param b: Second.\n    @return: x\n    "):
            with self.subTest(docstring):
                self.assertEqual(self.parsed(docstring), ["Do.\n\nMore.", "First\nline.", "Second."])

    def test_examples_belong_to_the_description(self):
        self.assertEqual(self.parsed("Do.\n\n    Args:\n        a: A.\n        b: B.\n\n    Examples:\n        f('x')\n    ")[0],
                         "Do.\n\nExamples:\n        f('x')")


class TypeScript(unittest.TestCase):
    def parameters(self, source):
        answer = derive(source, "typescript")
        self.assertIn("schema", answer, answer)
        return answer["schema"]["parameters"]["properties"], answer["schema"]["parameters"]["required"]

    def test_types(self):
        for text, schema in (
                ("'a' | 'b'", {"type": "string", "enum": ["a", "b"]}), ("1 | 2", {"type": "number", "enum": [1, 2]}),
                ("'a' | null", {"type": "string", "enum": ["a"]}), ("number | undefined", {"type": "number"}),
                ("string | number", {"type": "string"}), ("number | boolean", {"anyOf": [{"type": "number"}, {"type": "boolean"}]}),
                ("(string | null)[]", {"type": "array", "items": {"type": "string"}}), ("(x: number, y: string) => void", {"type": "object"}),
                ("Array<Record<string, number[]>>", {"type": "array", "items": {"type": "object", "additionalProperties": {
                    "type": "array", "items": {"type": "number"}}}}), ("readonly string[]", {"type": "array", "items": {"type": "string"}}),
                ("{ a: string, b: (c: number) => void }", {"type": "object"}), ("Mode", {"type": "string", "enum": ["x", "y"]}),
                ("Unknown", {"type": "object"}), ("true | false", {"type": "boolean"})):
            with self.subTest(text):
                source = "type Mode =\n  | 'x'\n  | 'y'\nexport function f(p: %s, q?: number): void {}" % text
                self.assertEqual(self.parameters(source), ({"p": schema, "q": {"type": "number"}}, ["p"]))

    def test_forms_of_functions(self):
        wanted = ({"a": {"type": "number"}, "b": {"type": "string"}}, ["a"])
        for source in (
                "export const f = (a: number, b?: string) => a", "export const f = async (a: number, b = 'x', ...c: any[]): Promise<void> => {}",
                "export function f<T extends Record<string, unknown>>(a: number, b?: string): T { return 1 }",
                "export default async function f(a: number, b: string = ')('): Promise<void> {}",
                "export const f: Tool = function (a: number, b?: string) {}",
                "export function f({ a, b }: { a: number; b?: string }): void {}",
                "export function f(\n  a: number, // a comment, with (brackets\n  b?: string, /* x */\n): void {}"):
            with self.subTest(source):
                properties, required = self.parameters(source)
                if "b = 'x'" in source:  # a default alone tells no type
                    self.assertEqual((properties, required), ({"a": {"type": "number"}}, ["a"]))
                else:
                    self.assertEqual((properties, required), wanted)

    def test_jsdoc_describes_the_parameters(self):
        source = ("/** Unrelated. */\nconst x = 1;\n/**\n * Finds.\n * @param {string} city where\n * @param [days=3] - how long\n *   to look\n"
                  " * @param unit A unit of measure\n * @returns nothing\n */\n"
                  "export function f(city: string, days: number = 3, unit?: string): void {}")
        answer = derive(source, "typescript")["schema"]
        self.assertEqual(answer["description"], "Finds.")
        self.assertEqual([one["description"] for one in answer["parameters"]["properties"].values()],
                         ["where", "how long to look", "A unit of measure"])

    def test_the_first_synchronous_function_wins_unless_one_is_named(self):
        source = "export async function a(): Promise<void> {}\nexport function b(): void {}\nexport function c(): void {}"
        self.assertEqual(derive(source, "typescript")["schema"]["name"], "b")
        self.assertEqual(derive(source, "typescript", "c")["schema"]["description"], "TypeScript function c")

    def test_hostile_text_ends(self):
        for source in ("export function f(" + "(" * 20000, "type A = A\nexport function f(a: A): void {}", "export function f(a: " + "Array<" * 5000,
                       "export const f = " * 2000, "/**" * 5000 + "export function f(): void {}"):
            derive(source, "typescript")


class ArgsSchema(unittest.TestCase):
    SCHEMA = {"type": "object", "$defs": {"Item": {"type": "object", "properties": {"name": {"type": "string", "description": "N"},
                                                                                  "next": {"$ref": "#/$defs/Item"}}, "required": ["name"]}},
              "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "description": "Items"},
                             "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "n": {"type": "integer"}}, "required": ["n", "items"]}

    def test_it_becomes_the_parameters(self):
        answer = derive("def f(items, note, n):\n    '''Does.\n\n    More.\n    '''\n", args_json_schema=self.SCHEMA)
        item = {"type": "object", "properties": {"name": {"type": "string", "description": "N"}, "next": {"type": "object", "description": ""}},
                "required": ["name"]}
        self.assertEqual(answer["schema"], {"name": "f", "description": "Does.\n\nMore.", "parameters": {"type": "object", "properties": {
            "items": {"type": "array", "items": item, "description": "Items"}, "note": {"type": "string", "description": ""},
            "n": {"type": "integer", "description": ""}}, "required": ["items", "n"]}})
        self.assertEqual(answer["inspection"]["arguments"], ["items", "note", "n"])

    def test_a_docstring_is_not_needed(self):
        answer = derive("def f(n):\n    pass\n", name="g", args_json_schema={"properties": {"n": {"type": "integer"}}})
        self.assertEqual((answer["schema"]["name"], answer["schema"]["description"]), ("g", "The g tool"))

    def test_a_bad_schema_is_an_error(self):
        for schema in ({"title": "x"}, {"properties": {"n": {"$ref": "#/$defs/No"}}}, {"properties": {"n": {"type": "odd"}}}, {"properties": {"n": 1}}):
            self.assertEqual(derive("def f(n): pass", args_json_schema=schema)["error"]["kind"], "ValueError")
        self.assertEqual(derive("x = 1", args_json_schema=self.SCHEMA)["error"]["message"],
                         "Failed to parse function name and docstring: No function definition found in source code")
        self.assertEqual(derive("def f(:", args_json_schema=self.SCHEMA)["error"]["message"],
                         "Failed to parse function name and docstring: invalid syntax (<unknown>, line 1)")


class StrictMode(unittest.TestCase):
    def test_all_properties_are_required_and_optional_ones_nullable(self):
        answer = derive(MODELS + "def f(a: Tag, b: int = 1):\n    %s\n" % DOCSTRING, strict=True)
        tag = dict(PythonModels.TAG, description="First.", additionalProperties=False)
        self.assertEqual(answer["schema"]["strict"], True)
        self.assertEqual(answer["schema"]["parameters"], {"type": "object", "properties": {
            "a": tag, "b": {"type": ["integer", "null"], "description": "Second."}}, "required": ["a", "b"], "additionalProperties": False})


class TheJoinedSource(unittest.TestCase):
    def test_names_are_unique_across_the_modules(self):
        names = []
        for module in MODULES:
            with open(os.path.join(HERE, module + ".py"), encoding="utf-8") as source:
                for node in ast.parse(source.read()).body:
                    names += [node.name] if hasattr(node, "name") else []
                    names += [name.id for target in getattr(node, "targets", ()) for name in ast.walk(target) if isinstance(name, ast.Name)]
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_each_module_is_part_of_it(self):
        own = {name[:-3] for name in os.listdir(HERE) if name.endswith(".py")} - {"join", "schema_test", "__init__"}
        self.assertEqual(own, set(MODULES))


if __name__ == "__main__":
    unittest.main()
