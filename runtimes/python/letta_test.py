"""Tests of calls in Letta mode: `python3 runtimes/python/letta_test.py`. The vectors are what Letta itself does."""

import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from belljar_runtime import letta_coercion  # noqa: E402
from belljar_runtime.letta_arguments import convert  # noqa: E402
from belljar_runtime.verdicts import Invalid  # noqa: E402
from runtime_test import PYDANTIC, RuntimeTest  # noqa: E402

with open(os.path.join(HERE, "../../tests/vectors/letta-vectors.json"), encoding="utf-8") as file:
    VECTORS = json.load(file)

PLACEHOLDERS = {"__NaN__": "NaN", "__Infinity__": "Infinity", "__LONE_SURROGATE_D800__": "\ufffd"}

# Cases of local_end_to_end in which this runtime does not do what Letta does: (status, return or error), why.
BETTER = {
    "return big int": (("ok", "1000000000000000000000000000000"), "JSON readers lose digits: long integers are text"),
    "multiline message": (("error", "ValueError: l1\nl2\nl3\nl4"), "Letta finds no error in its own traceback"),
    "sys.exit(3)": (("error", "SystemExit: the tool called sys.exit(3)"), "Letta's message is empty"),
    "non-utf8 stdout": (("ok", 1), "what a tool prints must not lose its result"),
    "non-utf8 stderr": (("ok", 1), "what a tool prints must not lose its result"),
    "forged frame followed by the real one": (("ok", "real"), "the result does not travel on stdout"),
    "extra arg not in schema": (("ok", 1), "Letta refers to a variable that it never assigned"),
    "schema without type": (("ok", 1), "a value is data already and needs no type to become source"),
    "param shadows sys": (("ok", "v"), "arguments are no globals of a script"),
    "param shadowed by module code": (("ok", 1), "arguments are no globals of a script"),
    "args_json_schema untitled": (("ok", "a"), "a schema needs no title"),
    "args_json_schema validation failure": (
        ("invalid", "ValidationError: 1 validation error for Inv: data.name: Field required"),
        "Letta finds no error in a traceback of pydantic"),
}
# Decided outside of the runtime: by limits, by the service's environment, by what happens to the process.
OUTSIDE = {"killed by signal", "timeout", "env ids", "cwd is sandbox_dir", "nonzero exit after frame"}


class LettaTest(RuntimeTest):
    def letta_call(self, source, args=None, name="f", properties=None, coerce=True, env=None, warm=False, **context):
        letta = dict(context, properties=properties, coerce=coerce)
        return self.call(source, args, name=name, letta=letta, env=env, warm=warm)

    def outcome(self, *args, **context):
        answer = self.letta_call(*args, **context)
        if answer["status"] == "ok":
            return "ok", answer["return"]
        return answer["status"], "%(name)s: %(message)s" % answer["error"]

    def result(self, *args, **context):
        status, value = self.outcome(*args, **context)
        self.assertEqual(status, "ok", value)
        return value


def replaced(value):
    if isinstance(value, list):
        return [replaced(item) for item in value]
    return PLACEHOLDERS.get(value, value) if isinstance(value, str) else value


def expected_outcome(case):
    if "raised" in case:
        return "failed", "%(raised)s: %(message)s" % case
    result = case["result"]
    if result["status"] == "success":
        return "ok", replaced(result["func_return"])
    return "failed", result["func_return"].partition("Error executing function f: ")[2]


@unittest.skipUnless(PYDANTIC, "pydantic is not installed")
class EndToEndVectors(LettaTest):
    site_dirs = (PYDANTIC,)

    def test_each_case_ends_as_in_letta_or_better(self):
        for case in VECTORS["local_end_to_end"]:
            if case["case"] in OUTSIDE:
                continue
            with self.subTest(case["case"]):
                status, value = self.outcome(
                    case["source_code"], case["args"], properties=case["properties"],
                    coerce=case["letta_importable_in_sandbox"], args_json_schema=case.get("args_json_schema"))
                if case["case"] in BETTER:
                    self.assertEqual((status, value), BETTER[case["case"]][0])
                    continue
                wanted, wanted_value = expected_outcome(case)
                self.assertEqual(("failed" if status != "ok" else status, value), (wanted, wanted_value))
                if "result" in case:
                    self.assertEqual(self.stdout, "".join(case["result"]["stdout"]))

    def test_the_listed_differences_are_cases_that_exist(self):
        names = {case["case"] for case in VECTORS["local_end_to_end"]}
        self.assertLessEqual(set(BETTER) | OUTSIDE, names)


class WithoutPydantic(LettaTest):
    def test_values_are_what_they_are_and_nothing_is_printed(self):
        for case in VECTORS["venv_without_pydantic"]:
            with self.subTest(case["return_expr"]):
                answer = self.letta_call("def f():\n    return %s\n" % case["return_expr"])
                self.assertEqual(answer.get("text"), case["result"]["func_return"])
                self.assertEqual(answer["return"], eval(case["return_expr"]))
                self.assertEqual(self.stdout, "")


def shown(value):
    return value if value is None or type(value) in (str, int, float, bool, list, dict) else str(value)


class CoercionVectors(unittest.TestCase):
    def coerced(self, source, args, name="f"):
        namespace = {}
        code = compile(source, "tool.py", "exec")
        exec(code, {"MyModel": dict, **vars(__import__("typing"))}, namespace)
        return letta_coercion.coerce(source, code, name, namespace.get(name), args)

    def test_each_case(self):
        for case in VECTORS["annotation_coercion_server_side"]:
            with self.subTest(case["signature"], args=case["args"]):
                source = "from __future__ import annotations\n%s f(%s): pass\n" % (case["kind"], case["signature"])
                result = self.coerced(source, dict(case["args"]))
                self.assertEqual({name: shown(value) for name, value in result.items()}, case["result"])
                for name, value in case["result"].items():
                    self.assertIs(type(shown(result[name])), type(value))

    def test_rules_beyond_the_listed_cases(self):
        for signature, args, result in (
                ("x: str", {"x": "1_000"}, {"x": "1000"}), ("x: str", {"x": '{"a": true}'}, {"x": "{'a': True}"}),
                ("x: str", {"x": "\"q\""}, {"x": "q"}), ("x: str", {"x": "null"}, {"x": "None"}),
                ("x: str", {"x": " 12 "}, {"x": "12"}), ("x: str", {"x": 5}, {"x": "5"}), ("x: str", {"x": None}, {"x": "None"}),
                ("x: str", {"x": "NaN"}, {"x": "nan"}), ("x: str", {"x": "b'a'"}, {"x": "b'a'"}),
                ("x: str", {"x": "__import__('os')"}, {"x": "__import__('os')"}), ("x: str", {"x": "None # no"}, {"x": "None"}),
                ("x: float", {"x": "3"}, {"x": 3.0}), ("x: bool", {"x": "0"}, {"x": False}), ("x: int", {"x": True}, {"x": 1}),
                ("x: int", {"x": "a"}, {"x": "a"}), ("x: Any", {"x": "5"}, {"x": "5"}), ("x: Text", {"x": "1"}, {"x": "1"}),
                ("x: List[Foo]", {"x": "[1]"}, {"x": "[1]"}), ("x: list[int | None]", {"x": "[1]"}, {"x": [1]}),
                ("x: typing.List[int]", {"x": "[1]"}, {"x": [1]}), ("x: len", {"x": "[1]"}, {"x": "[1]"}),
                ("x: Tuple[int, ...]", {"x": "[1]"}, {"x": "[1]"}), ("x: dict", {"x": "[]"}, {"x": {}}),
                ("x: int, y: int", {"x": "1", "y": "b"}, {"x": "1", "y": "b"}), ("x: None", {"x": "1"}, {"x": "1"}),
                ("x: int", {"x": "5", "y": "6"}, {"x": 5, "y": "6"}), ("x: eval", {"x": "1+1"}, {"x": "1+1"}),
                ("x: frozenset", {"x": "[1]"}, {"x": frozenset([1])}), ("x: int, /", {"x": "5"}, {"x": "5"})):
            with self.subTest(signature, args=args):
                source = "from __future__ import annotations\ndef f(%s): pass\n" % signature
                self.assertEqual(self.coerced(source, args), result)

    def test_only_the_first_synchronous_function_at_the_top_counts(self):
        self.assertEqual(self.coerced("def f(x: int): pass\ndef f(x: str): pass\n", {"x": "5"}), {"x": 5})
        self.assertEqual(self.coerced("class C:\n    def f(x: int): pass\n", {"x": "5"}), {"x": "5"})
        self.assertEqual(self.coerced("if True:\n    def f(x: int): pass\n", {"x": "5"}), {"x": "5"})


class TextThatIsNoJson(LettaTest):
    """In a call's process, which has the scanner of `json` but not the package that it takes its errors from."""

    def test_a_python_literal_is_read_where_json_fails(self):
        for annotation, kind, text, value in (
                (": dict", "string", "{'a': 1}", {"a": 1}), (": Dict[str, int]", "string", "{'a': 1}", {"a": 1}),
                ("", "object", "{'a': 1}", {"a": 1}), ("", "array", "['a', {'b': None}]", ["a", {"b": None}]),
                ("", "object", "{broken", "{broken"), ("", "number", '"\\q', '"\\q'), (": str", "string", "{'a':1}", "{'a': 1}")):
            with self.subTest(annotation, text=text):
                source = "def f(x%s):\n    return x\n" % annotation
                self.assertEqual(self.result(source, {"x": text}, properties={"x": {"type": kind}}), value)


class PositionalOnly(LettaTest):
    def test_parameters_by_position_only_are_handed_over_by_position(self):
        source = "def f(a, b=2, /, c=3, *, agent_id=None):\n    return [a, b, c]\n"
        self.assertEqual(self.result(source, {"c": 1, "a": 5}), [5, 2, 1])
        self.assertEqual(self.result(source, {"a": 5, "b": 6}), [5, 6, 3])
        self.assertIn("missing 1 required positional argument: 'a'", self.outcome(source, {"c": 1})[1])
        source = "def f(agent_id, x, /):\n    return [agent_id, x]\n"
        self.assertEqual(self.result(source, {"x": 1, "agent_id": "forged"}, agent_id="agent-7"), ["agent-7", 1])


class LiteralVectors(unittest.TestCase):
    """What the schema's types make of values: the value that Letta's literal stands for, for all that is data."""

    # (type, value) for which Letta splices code or knows no type.
    DATA_ONLY = {("array", "__import__('os').getpid()"), ("None", 5), ("['string', 'null']", "x"), ("any", "x")}

    def test_each_case(self):
        for case in VECTORS["python_arg_literal"]:
            with self.subTest(case["type"], value=case["value"]):
                properties = {"x": {"type": case["type"]}}
                key = (str(case["type"]), case["value"] if isinstance(case["value"], (str, int)) else None)
                if key in self.DATA_ONLY:
                    self.assertEqual(convert({"x": case["value"]}, properties), {"x": case["value"]})
                elif "error" in case:
                    with self.assertRaises(Invalid) as caught:
                        convert({"x": case["value"]}, properties)
                    message = caught.exception.message.replace("or a number", "or a real number")  # before 3.10
                    self.assertEqual((caught.exception.name, message), (case["error"], case["message"]))
                else:
                    wanted = eval(case["literal"])
                    result = convert({"x": case["value"]}, properties)["x"]
                    self.assertEqual((result, type(result)), (wanted, type(wanted)))

    def test_the_type_may_lie_one_level_down_and_unknown_arguments_are_left_out(self):
        self.assertEqual(convert({"x": "7", "y": 1}, {"x": {"parameters": {"type": "integer"}}}), {"x": 7})

    def test_without_a_schema_all_pass(self):
        self.assertEqual(convert({"x": "7"}, None), {"x": "7"})

    def test_text_for_an_array_is_data_or_stays_text(self):
        properties = {"x": {"type": "array"}}
        for text, value in (("[1, 'a']", [1, "a"]), ("{'a': 1}", "{'a': 1}"), ("[x for x in ()]", "[x for x in ()]")):
            self.assertEqual(convert({"x": text}, properties), {"x": value})


STATE = {"id": "agent-7", "name": "Ada", "agent_type": "memgpt_agent", "tags": ["a"],
         "secrets": [{"key": "K", "value": "V"}],
         "memory": {"blocks": [{"id": "block-1", "label": "human", "value": "old", "limit": 20, "description": "d"},
                               {"id": "block-2", "label": "persona", "value": "p", "limit": 20}]}}


class InjectedState(LettaTest):
    def test_each_inspected_source_gets_what_its_own_function_takes(self):
        for case in VECTORS["python_source_inspection"]:
            source = case["source"].replace("pass", "return sorted(locals())")
            if "class C" in source or "def f():\n" in source:
                continue  # there Letta injects into a call of another function, which then fails
            with self.subTest(case["source"]):
                args = {name: 1 for name in ("a", "b") if name in case["arguments"]}
                self.assertEqual(self.result(source, args, agent_state=STATE, agent_id="agent-7"), sorted(case["arguments"]))

    def test_state_and_id_are_handed_over_even_by_keyword_only_and_never_taken_from_the_caller(self):
        source = "def f(x, *, agent_state, agent_id):\n    return [x, agent_state.id, agent_state.name, agent_id]\n"
        self.assertEqual(self.result(source, {"x": 1, "agent_state": {"id": "forged"}, "agent_id": "forged"},
                                     agent_state=STATE, agent_id="agent-7"), [1, "agent-7", "Ada", "agent-7"])

    def test_without_an_agent_they_are_none(self):
        source = "def f(agent_id, agent_state=None):\n    return [agent_id, agent_state]\n"
        answer = self.letta_call(source)
        self.assertEqual(answer["return"], [None, None])
        self.assertNotIn("agent_state", answer)

    def test_a_decorated_function_gets_them_through_its_wrapper(self):
        source = ("def quiet(g):\n    def inner(*args, **others):\n        return g(*args, **others)\n    return inner\n"
                  "@quiet\ndef f(agent_state, x):\n    return agent_state.name + x\n")
        self.assertEqual(self.result(source, {"x": "!"}, agent_state=STATE), "Ada!")

    def test_changed_memory_goes_back_in_the_same_shape(self):
        source = ("def f(agent_state: 'AgentState'):\n"
                  "    agent_state.memory.update_block_value(label='human', value='new')\n"
                  "    agent_state.memory.get_block('persona').value += '!'\n"
                  "    return agent_state.memory.list_block_labels()\n")
        answer = self.letta_call(source, agent_state=STATE)
        self.assertEqual(answer["return"], ["human", "persona"])
        blocks = answer["agent_state"]["memory"]["blocks"]
        self.assertEqual([block["value"] for block in blocks], ["new", "p!"])
        self.assertEqual(blocks[0], dict(STATE["memory"]["blocks"][0], value="new"))
        self.assertEqual({key: value for key, value in answer["agent_state"].items() if key != "memory"},
                         {key: value for key, value in STATE.items() if key != "memory"})

    def test_a_tool_that_does_not_take_it_sends_none_back(self):
        self.assertNotIn("agent_state", self.letta_call("def f():\n    return 1\n", agent_state=STATE))

    def test_a_value_over_the_limit_is_an_error(self):
        source = "def f(agent_state):\n    agent_state.memory.get_block('human').value = 'x' * 21\n"
        self.assertEqual(self.outcome(source, agent_state=STATE),
                         ("error", "ValueError: Edit failed: Exceeds 20 character limit (requested 21)"))

    def test_an_unknown_block_is_an_error_that_names_it(self):
        source = "def f(agent_state):\n    agent_state.memory.%s\n"
        self.assertIn("nobody", self.outcome(source % "get_block('nobody')", agent_state=STATE)[1])
        self.assertEqual(self.outcome(source % "update_block_value('nobody', '')", agent_state=STATE),
                         ("error", "ValueError: Block with label nobody does not exist"))

    def test_other_fields_are_attributes(self):
        source = ("def f(agent_state):\n    s = agent_state\n    return [s.agent_type, s.tags, s.tools, s.tool_rules, s.secrets[0].value,"
                  " s.tool_exec_environment_variables, s.get_agent_env_vars_as_dict(), s.memory.blocks[0].description]\n")
        self.assertEqual(self.result(source, agent_state=STATE), ["memgpt_agent", ["a"], [], [], "V", [], {"K": "V"}, "d"])

    def test_the_letta_package_is_there_for_imports_and_annotations(self):
        source = ("import letta\nfrom letta.schemas.agent import AgentState\nfrom letta.schemas.memory import Memory\n"
                  "from letta.schemas.block import Block\n"
                  "def f(agent_state: AgentState):\n    b = Block(label='x', value='y')\n"
                  "    return [isinstance(agent_state, letta.AgentState), isinstance(agent_state.memory, Memory), b.value, b.limit]\n")
        self.assertEqual(self.result(source, agent_state=STATE), [True, True, "y", None])
        self.assertEqual(self.result("def f(agent_state: AgentState):\n    return 1\n", agent_state=STATE), 1)

    def test_a_part_of_letta_that_is_not_there_says_so(self):
        self.assertEqual(self.outcome("import letta.server\ndef f(): pass\n")[1],
                         "ModuleNotFoundError: No module named 'letta.server'")


class ScriptNames(LettaTest):
    def test_names_of_typing_and_of_the_scripts_imports_need_no_import(self):
        source = "def f(x: Optional[List[int]] = None) -> Dict[str, Any]:\n    return base64.b64encode(b'a').decode()\n"
        self.assertEqual(self.result(source), "YQ==")

    def test_the_tool_is_main(self):
        self.assertEqual(self.result("got = []\nif __name__ == '__main__':\n    got.append(1)\ndef f():\n    return got\n"), [1])
        self.assertEqual(self.outcome("class Odd(Exception): pass\ndef f():\n    raise Odd('m')\n"), ("error", "Odd: m"))

    def test_warnings_are_silent(self):
        self.result("import warnings\ndef f():\n    warnings.warn('old', DeprecationWarning)\n")
        self.assertEqual(self.stderr, "")

    def test_a_traceback_shows_the_tools_own_lines(self):
        error = self.letta_call("def f():\n    return 1 / 0\n")["error"]
        self.assertEqual(error["traceback"], 'Traceback (most recent call last):\n  File "weather.py", line 2, in f\n'
                         '    return 1 / 0\nZeroDivisionError: division by zero\n')

    def test_leaving_with_success_is_success_and_exit_handlers_of_the_tool_run(self):
        for code in ("", "0", "None", "False"):
            self.assertEqual(self.outcome("import sys\ndef f():\n    sys.exit(%s)\n" % code), ("ok", None))
        self.assertEqual(self.outcome("import sys\ndef f():\n    sys.exit('bad')\n")[0], "error")

    def test_a_plain_call_knows_nothing_of_this(self):
        self.assertEqual(self.error("def f():\n    return client\n")["name"], "NameError")
        self.assertEqual(self.error("import sys\ndef f():\n    sys.exit(0)\n")["name"], "SystemExit")
        self.assertEqual(self.error("import letta\ndef f(): pass\n")["name"], "ModuleNotFoundError")

    def test_warming_up_leaves_nothing_of_it_behind(self):
        source = "import sys, _warnings\ndef f():\n    return [len(sys.meta_path), len(_warnings.filters), __name__, 'letta' in sys.modules]\n"
        cold, warm = (self.call(source, warm=warm)["return"] for warm in (False, True))
        self.assertEqual(cold, warm)
        self.assertEqual(self.value("import warnings\ndef f():\n    warnings.simplefilter('always')\n    warnings.warn('w')\n", warm=True), None)
        self.assertIn("UserWarning: w", self.stderr)

    def test_async_functions_are_awaited(self):
        self.assertEqual(self.result("async def f(x: int):\n    return x\n", {"x": 3}), 3)

    def test_a_warm_child_answers_the_same_and_imports_nothing(self):
        for warm in (False, True):
            answer = self.letta_call("def f(x: int, s: str, agent_id):\n    return {'x': x}\n", {"x": 3, "s": "Paris"}, warm=warm,
                                     properties={"x": {"type": "integer"}, "s": {"type": "string"}}, agent_id="agent-1")
            self.assertEqual(answer, {"nonce": "nonce-1", "status": "ok", "return": {"x": 3}, "text": "{'x': 3}", "imports": []})


class TheClient(LettaTest):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        os.mkdir(os.path.join(directory.name, "letta_client"))
        with open(os.path.join(directory.name, "letta_client/__init__.py"), "w") as package:
            package.write("import os\n__version__ = os.environ.get('FAKE_VERSION', '1.2.0')\nclass Letta:\n"
                          "    def __init__(self, **options):\n        self.options = options\n")
        cls.site_dirs = (directory.name,)
        super().setUpClass()

    def test_it_is_made_from_the_key(self):
        source = "def f():\n    return client.options\n"
        self.assertEqual(self.result(source, env={"LETTA_API_KEY": "k"}), {"api_key": "k"})
        self.assertEqual(self.result(source, env={"LETTA_API_KEY": "k", "FAKE_VERSION": "0.1.9"}), {"token": "k"})

    def test_without_a_key_it_is_none(self):
        self.assertIsNone(self.result("def f():\n    return client\n"))

    def test_a_tool_that_does_not_mention_it_does_not_pay(self):
        source = "import sys as s\ndef f():\n    return 'letta_client' in s.modules\n"
        self.assertFalse(self.result(source, env={"LETTA_API_KEY": "k"}))


ORDER = {"title": "Order", "type": "object", "required": ["item"], "$defs": {
    "Item": {"type": "object", "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
                                              "parent": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}]}},
             "required": ["name"]},
    "Tag": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    "properties": {"item": {"$ref": "#/$defs/Item"}, "kind": {"enum": ["a", "b"]}, "count": {"type": "integer", "default": 1},
                   "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "more": {"type": "object"},
                   "inner": {"type": "object", "properties": {"x": {"type": "number"}}}}}


class ArgumentModels(LettaTest):
    """Without pydantic; the class below repeats all of it with pydantic."""

    def test_nested_objects_have_attributes(self):
        source = ("def f(item, kind=None, note='-', inner=None, more=None):\n"
                  "    return [item.name, item.tags[0].text, item.parent.name, item.parent.parent, kind, note, inner.x, more]\n")
        args = {"item": {"name": "n", "tags": [{"text": "t"}], "parent": {"name": "p"}}, "kind": "a", "note": None,
                "inner": {"x": "1.5"}, "more": {"any": [1]}}
        self.assertEqual(self.result(source, args, args_json_schema=ORDER),
                         ["n", "t", "p", None, "a", None, 1.5, {"any": [1]}])

    def test_a_failure_names_the_field(self):
        source = "def f(**given):\n    return 1\n"
        for args, words in (
                ({}, ["item: Field required", "1 validation error for Order"]), ({"item": {}}, ["item.name: Field required"]),
                ({"item": {"name": "n", "tags": [{"text": 5}]}}, ["item.tags.0.text: Input should be a valid string"]),
                ({"item": {"name": "n"}, "kind": "c"}, ["kind: Input should be 'a' or 'b'"]),
                ({"item": {"name": "n"}, "count": "x"}, ["count: Input should be a valid integer"])):
            status, message = self.outcome(source, args, args_json_schema=ORDER)
            self.assertEqual(status, "invalid")
            self.assertTrue(message.startswith("ValidationError: "), message)
            for word in words:
                self.assertIn(word, message)

    def test_values_are_coerced_unknown_ones_ignored_and_defaults_left_to_the_function(self):
        source = "def f(item, count=7):\n    return [item.name, count]\n"
        self.assertEqual(self.result(source, {"item": {"name": "n"}, "odd": 1}, args_json_schema=ORDER), ["n", 7])
        self.assertEqual(self.result(source, {"item": {"name": "n"}, "count": "3"}, args_json_schema=ORDER), ["n", 3])

    def test_what_is_required_and_allows_anything_is_only_missed(self):
        schema = {"title": "T", "type": "object", "properties": {"a": True, "b": {}}, "required": ["a", "b"]}
        source = "def f(a, b):\n    return [a, b]\n"
        self.assertEqual(self.outcome(source, {"b": 1}, args_json_schema=schema),
                         ("invalid", "ValidationError: 1 validation error for T: a: Field required"))
        self.assertEqual(self.result(source, {"a": None, "b": [1]}, args_json_schema=schema), [None, [1]])

    def test_a_default_makes_null_good_even_where_the_field_is_required(self):
        schema = {"type": "object", "properties": {"a": {"type": "string", "default": None}}, "required": ["a"]}
        self.assertIsNone(self.result("def f(a):\n    return a\n", {"a": None}, args_json_schema=schema))

    def test_bounds_hold(self):
        for definition, value, message in (
                ({"type": "integer", "maximum": 10}, 11, "Input should be less than or equal to 10"),
                ({"type": "integer", "exclusiveMinimum": 0}, "0", "Input should be greater than 0"),
                ({"type": "number", "multipleOf": 0.5}, 0.7, "Input should be a multiple of 0.5"),
                ({"type": "string", "minLength": 2}, "\u00e9", "String should have at least 2 characters"),
                ({"type": "string", "pattern": "^a"}, "ba", "String should match pattern '^a'"),
                ({"type": "array", "minItems": 1}, [], "List should have at least 1 item after validation, not 0"),
                ({"type": "array", "maxItems": 1}, [1, 2], "List should have at most 1 item after validation, not 2"),
                ({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}, -1, "Input should be greater than or equal to 0"),
                ({"type": "array", "items": {"type": "integer", "maximum": 1}}, [1, 2], "Input should be less than or equal to 1")):
            with self.subTest(str(definition)):
                schema = {"title": "T", "type": "object", "properties": {"x": definition}, "required": ["x"]}
                status, got = self.outcome("def f(x):\n    return x\n", {"x": value}, args_json_schema=schema)
                where = "x.1" if "items" in definition else "x"
                self.assertEqual((status, got), ("invalid", "ValidationError: 1 validation error for T: %s: %s" % (where, message)))

    def test_of_several_types_the_one_counts_that_changes_nothing(self):
        for types, value, shown in ((["integer", "string"], "5", "'5'"), (["string", "integer"], 5, "5"), (["number", "integer"], 5, "5"),
                                    (["integer", "boolean"], True, "True"), (["integer", "null"], "5", "5"), (["integer"], True, "1"),
                                    (["boolean"], "Y", "True"), (["integer"], "5.0", "5")):
            with self.subTest(str(types), value=value):
                schema = {"type": "object", "properties": {"x": {"anyOf": [{"type": one} for one in types]}}}
                self.assertEqual(self.result("def f(x):\n    return repr(x)\n", {"x": value}, args_json_schema=schema), shown)

    def test_what_may_be_null_is_told_as_what_it_should_be(self):
        schema = {"type": "object", "properties": {"x": {"anyOf": [{"type": "array"}, {"type": "null"}]},
                                                   "y": {"type": "object", "additionalProperties": {"type": "integer"}}}}
        message = self.outcome("def f(x, y): pass\n", {"x": "a", "y": {"k": "v"}}, args_json_schema=schema)[1]
        self.assertIn("x: Input should be a valid list; y.k: Input should be a valid integer, unable to parse string", message)

    def test_formats_arrive_as_what_they_stand_for(self):
        forms = {"a": "date", "b": "date-time", "c": "uuid", "d": "email"}
        schema = {"type": "object", "properties": {name: {"type": "string", "format": form} for name, form in forms.items()}}
        args = {"a": "2024-02-03", "b": "2024-02-03T04:05:06+00:00", "c": "12345678-1234-5678-1234-567812345678", "d": "a@b"}
        source = "def f(a, b, c, d):\n    return [a.year, b.hour, c.int % 7, d]\n"
        self.assertEqual(self.result(source, args, args_json_schema=schema), [2024, 4, 0x12345678123456781234567812345678 % 7, "a@b"])
        self.assertIn("c: Input should be a valid UUID", self.outcome(source, dict(args, c="x"), args_json_schema=schema)[1])

    def test_an_impossible_schema_is_told_as_such(self):
        schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/No"}}}
        status, message = self.outcome("def f(x): pass\n", {"x": 1}, args_json_schema=schema)
        self.assertEqual(status, "invalid")
        self.assertIn("points to nothing", message)

    def test_models_come_back_as_objects(self):
        self.assertEqual(self.result("def f(inner):\n    return inner\n", {"inner": {"x": 1}},
                                     args_json_schema=dict(ORDER, required=[])), {"x": 1.0})


@unittest.skipUnless(PYDANTIC, "pydantic is not installed")
class ArgumentModelsByPydantic(ArgumentModels):
    site_dirs = (PYDANTIC,)

    def test_they_are_models(self):
        self.assertEqual(self.result("def f(item):\n    return [c.__name__ for c in type(item).__mro__][:2]\n", {"item": {"name": "n"}},
                                     args_json_schema=ORDER), ["Item", "BaseModel"])


class ReturnValues(LettaTest):
    def returned(self, expression, imports=""):
        answer = self.letta_call("%s\ndef f():\n    return %s\n" % (imports, expression))
        self.assertEqual(answer["status"], "ok", answer.get("error"))
        return answer["return"], answer.get("text")

    def test_json_and_text(self):
        for expression, value, text in (
                ("None", None, "None"), ("True", True, "True"), ("1.0", 1.0, "1.0"), ("1e16", 1e16, "1e+16"), ("'a'", "a", None),
                ("(1, 'x')", [1, "x"], "[1, 'x']"), ("{2: (2,), None: 0, True: 1}", {"2": [2], "null": 0, "true": 1}, None),
                ("[float('nan'), -float('inf'), 'NaN']", ["NaN", "-Infinity", "NaN"], "[nan, -inf, 'NaN']"),
                ("[10**30, -2**63, 2**64]", ["1" + "0" * 30, -2**63, str(2**64)], "[%d, %d, %d]" % (10**30, -2**63, 2**64)),
                ("{'a': {2}}", {"a": "{2}"}, "{'a': '{2}'}"), ("frozenset()", "frozenset()", None), ("range(2)", "range(0, 2)", None),
                ("bytearray(b'a')", "bytearray(b'a')", None), ("(x for x in (1, 2))", [1, 2], "[1, 2]"), ("1j", "1j", None),
                ("'\\u200b' + chr(1)", "\u200b\x01", None), ("['\\u200b']", ["\u200b"], "['\\u200b']")):
            with self.subTest(expression):
                returned, shown_text = self.returned(expression)
                self.assertEqual(returned, value)
                if text is not None:
                    self.assertEqual(shown_text, text)

    def test_types_of_the_standard_library_are_their_str(self):
        imports = "import datetime, decimal, pathlib, enum, collections, dataclasses\nclass N(enum.IntEnum):\n    A = 1\n" \
                  "@dataclasses.dataclass\nclass D:\n    a: int\n    b: object = None\nP = collections.namedtuple('P', 'x y')\n"
        value, _ = self.returned("[datetime.datetime(2024, 1, 2, 3), datetime.date(2024, 1, 2), datetime.timedelta(minutes=1),"
                                 " decimal.Decimal('1.10'), pathlib.Path('/a'), N.A, collections.Counter('a'), D(1, D(2)), P(1, 2),"
                                 " collections.deque([1])]", imports)
        self.assertEqual(value, ["2024-01-02 03:00:00", "2024-01-02", "0:01:00", "1.10", "/a", 1, {"a": 1},
                                 {"a": 1, "b": {"a": 2, "b": None}}, [1, 2], "deque([1])"])

    def test_keys_that_json_cannot_have_are_an_error(self):
        self.assertEqual(self.outcome("def f():\n    return {(1, 2): 3}\n"),
                         ("error", "TypeError: keys must be str, int, float, bool or None, not tuple"))

    def test_a_value_that_contains_itself_is_shown(self):
        self.assertEqual(self.result("def f():\n    x = []\n    x.append(x)\n    return x\n"), "[[...]]")

    def test_size_and_depth_are_bounded(self):
        answer = self.call("def f():\n    return 'x' * 1000\n", name="f", letta={}, max_return_bytes=100)
        self.assertEqual(answer["error"]["name"], "ReturnTooLarge")
        self.assertEqual(self.outcome("def f():\n    x = []\n    for _ in range(300):\n        x = [x]\n    return x\n")[1].partition(":")[0],
                         "ReturnTooDeep")


if __name__ == "__main__":
    unittest.main()
