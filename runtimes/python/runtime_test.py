"""Tests of the Python runtime: `python3 runtimes/python/runtime_test.py`, with any CPython from 3.9 on."""

import importlib
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fake_zygote import Zygote, request  # noqa: E402


def directory_of(package):
    """Where an installed package lies, for site_dirs; None if it is not installed."""
    try:
        module = importlib.import_module(package)
    except ImportError:
        return None
    return os.path.dirname(os.path.dirname(module.__file__))


# The children lift this limit where they write or read JSON; so must the side that checks them.
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

PYDANTIC = directory_of("pydantic")
NUMPY = directory_of("numpy")


class RuntimeTest(unittest.TestCase):
    """One zygote for each class of tests, one child for each call."""

    site_dirs = ()
    preload = ()

    @classmethod
    def setUpClass(cls):
        cls.zygote = Zygote(cls.site_dirs, cls.preload)
        cls.addClassCleanup(cls.zygote.close)

    def call(self, source, args=None, warm=False, **more):
        """The answer; what was printed is left in self.stdout and self.stderr."""
        child = self.zygote.fork(warm)
        self.assertEqual(child.receive(), (b"R", b""))
        child.send(b"C", request(source, args, **more))
        frame = child.receive()
        rest = child.receive()
        self.stdout, self.stderr = child.close()
        self.assertIsNotNone(frame, "no answer; stderr: " + self.stderr)
        self.assertIsNone(rest, "something came after the answer")
        self.assertEqual(frame[0], b"A")
        answer = json.loads(frame[1].decode("utf-8"), parse_constant=self.fail)
        self.assertEqual(answer["nonce"], "nonce-1")
        return answer

    def value(self, source, args=None, **more):
        answer = self.call(source, args, **more)
        self.assertEqual(answer["status"], "ok", answer.get("error"))
        return answer["return"]

    def error(self, source, args=None, **more):
        answer = self.call(source, args, **more)
        self.assertEqual(answer["status"], "error", answer)
        return answer["error"]

    def refusal(self, source, args=None, **more):
        answer = self.call(source, args, **more)
        self.assertEqual(answer["status"], "invalid", answer)
        self.assertEqual(answer["error"]["traceback"], "")
        return answer["error"]["message"]

    def returned(self, expression, imports=""):
        return self.value("%s\ndef run():\n    return %s\n" % (imports, expression))


ADD = "def add(a: int, b: int = 2) -> int:\n    return a + b\n"


class TheChannel(RuntimeTest):
    def test_a_child_says_ready_takes_one_call_and_ends(self):
        self.assertEqual(self.value(ADD, {"a": 1}), 3)

    def test_a_warm_child_answers_the_same(self):
        self.assertEqual(self.call(ADD, {"a": 1}, warm=True), {
            "nonce": "nonce-1", "status": "ok", "return": 3, "imports": []})

    def test_a_child_can_be_warmed_later_and_more_than_once(self):
        child = self.zygote.fork()
        self.assertEqual(child.receive(), (b"R", b""))
        for _ in range(2):
            child.send(b"W")
            self.assertEqual(child.receive(), (b"R", b""))
        child.send(b"C", request(ADD, {"a": 5}))
        self.assertEqual(json.loads(child.receive()[1])["return"], 7)
        self.assertEqual(child.close(), ("", ""))

    def test_frames_that_arrive_together_or_in_pieces_are_understood(self):
        child = self.zygote.fork()
        payload = request(ADD, {"a": 1})
        stream = b"\0\0\0\0W" + len(payload).to_bytes(4, "little") + b"C" + payload
        child.channel.sendall(stream[:8])
        self.assertEqual([child.receive(), child.receive()], [(b"R", b"")] * 2)
        child.channel.sendall(stream[8:])
        self.assertEqual(json.loads(child.receive()[1])["return"], 3)
        child.close()

    def test_a_child_whose_engine_hangs_up_ends_quietly(self):
        child = self.zygote.fork()
        child.receive()
        self.assertEqual(child.close(), ("", ""))

    def test_large_arguments_and_results_pass(self):
        text = "ab" * 3_000_000
        source = "def echo(text: str):\n    return text\n"
        self.assertEqual(self.value(source, {"text": text}, max_return_bytes=10_000_000), text)

    def test_a_call_that_is_not_json_is_refused(self):
        child = self.zygote.fork()
        child.receive()
        child.send(b"C", b"\xff\x00garbage")
        self.assertEqual(json.loads(child.receive()[1])["status"], "invalid")
        child.close()

    def test_output_is_complete_when_the_answer_comes_and_apart_from_it(self):
        source = "import sys\ndef run():\n    print('out', end='')\n    sys.stderr.write('err')\n    return 'value'\n"
        self.assertEqual(self.value(source), "value")
        self.assertEqual((self.stdout, self.stderr), ("out", "err"))

    def test_lines_printed_before_a_sudden_end_are_kept(self):
        child = self.zygote.fork()
        child.receive()
        child.send(b"C", request("import os\ndef run():\n    print('before')\n    os._exit(9)\n"))
        self.assertIsNone(child.receive())
        self.assertEqual(child.close(), ("before\n", ""))

    def test_programs_started_by_the_tool_do_not_get_the_channel(self):
        source = ("import os\ndef run():\n"
                  "    names = os.popen('ls -l /proc/self/fd').read()\n"
                  "    return names.count('socket:')\n")
        self.assertEqual(self.value(source), 0)


class TheFunction(RuntimeTest):
    def test_the_last_public_function_is_called(self):
        source = "def a(): return 'a'\ndef b(): return 'b'\ndef _c(): return 'c'\nclass D: pass\n"
        self.assertEqual(self.value(source), "b")

    def test_a_function_defined_twice_counts_where_it_was_defined_last(self):
        self.assertEqual(self.value("def a(): return 1\ndef b(): return 2\ndef a(): return 3\n"), 3)

    def test_imported_functions_classes_and_lambdas_are_not_candidates(self):
        source = "def mine(): return 'mine'\nfrom posixpath import join\nclass Late:\n    def run(self): pass\nf = lambda: 1\n"
        self.assertEqual(self.value(source), "mine")

    def test_a_deleted_function_is_not_a_candidate(self):
        self.assertEqual(self.value("def a(): return 'a'\ndef b(): return 'b'\ndel b\n"), "a")

    def test_functions_under_if_and_try_are_candidates(self):
        self.assertEqual(self.value("def a(): return 'a'\nif True:\n    def b(): return 'b'\n"), "b")

    def test_decorated_functions_are_candidates(self):
        source = ("import functools\ndef twice(f):\n    @functools.wraps(f)\n    def inner(*a, **k): return 2 * f(*a, **k)\n"
                  "    return inner\n@twice\ndef add(a: int, b: int): return a + b\n")
        self.assertEqual(self.value(source, {"a": 1, "b": 2}), 6)
        self.assertIn('passes the unknown "c"; call it as add(a: int, b: int)', self.refusal(source, {"a": 1, "b": 2, "c": 3}))

    @unittest.skipIf(sys.version_info < (3, 12), "syntax of 3.12")
    def test_generic_functions_are_candidates(self):
        self.assertEqual(self.value("def first[T](items: list[T]) -> T:\n    return items[0]\n", {"items": [7]}), 7)

    def test_a_named_function_is_called(self):
        self.assertEqual(self.value("def a(): return 'a'\ndef b(): return 'b'\n", name="a"), "a")

    def test_an_unknown_name_is_refused_with_the_names_there_are(self):
        self.assertEqual(self.refusal("def a(): pass\ndef b(): pass\n", name="c"), "weather.py has no function 'c'; it has a, b.")

    def test_a_source_without_a_function_is_refused(self):
        self.assertIn("weather.py has no public function: define one", self.refusal("x = 1\ndef _hidden(): pass\n"))

    def test_async_functions_are_run_to_their_end(self):
        source = "import asyncio\nasync def run(n: int):\n    await asyncio.sleep(0)\n    return n\n"
        self.assertEqual(self.value(source, {"n": 4}), 4)

    def test_an_awaitable_that_a_plain_function_returns_is_awaited(self):
        self.assertEqual(self.value("async def _inner(): return 5\ndef run(): return _inner()\n"), 5)

    def test_async_generators_become_lists(self):
        self.assertEqual(self.value("async def run():\n    yield 1\n    yield 2\n"), [1, 2])

    def test_the_module_is_found_under_the_stem_of_its_file(self):
        source = "import sys\ndef run():\n    return [__name__, __file__, sys.modules[__name__].run is run]\n"
        self.assertEqual(self.value(source), ["weather", "weather.py", True])

    def test_a_file_named_like_a_module_does_not_hide_it(self):
        source = "import random\ndef run():\n    return [__name__, random.__name__, hasattr(random, 'randint')]\n"
        self.assertEqual(self.value(source, filename="random.py"), ["tool_random", "random", True])

    def test_the_code_under_name_equals_main_is_not_run(self):
        self.assertEqual(self.value("def run(): return 1\nif __name__ == '__main__':\n    raise SystemExit(1)\n"), 1)

    def test_inspect_and_linecache_find_the_source(self):
        source = "import inspect\ndef run():\n    return inspect.getsource(run)\n"
        self.assertEqual(self.value(source), "def run():\n    return inspect.getsource(run)\n")

    def test_environment_variables_are_there_before_the_source_runs(self):
        source = "import os\nHERE = os.environ['CITY']\ndef run():\n    return [HERE, os.popen('echo $CITY').read(), 'PATH' in os.environ]\n"
        self.assertEqual(self.value(source, env={"CITY": "Troms\u00f8"}), ["Troms\u00f8", "Troms\u00f8\n", "PATH" in os.environ])

    def test_an_impossible_environment_variable_is_refused(self):
        for env in ({"A=B": "x"}, {"A": "x\0y"}, {"A": 5}, {"": "x"}):
            self.assertIn("cannot be set", self.refusal(ADD, {"a": 1}, env=env))


class TheArguments(RuntimeTest):
    def test_missing_and_unknown_names_are_refused_with_the_signature(self):
        self.assertEqual(self.refusal(ADD, {"x": 1}),
                         'The call lacks "a" and passes the unknown "x"; call it as add(a: int, b: int = 2).')

    def test_arguments_that_are_no_object_are_refused(self):
        self.assertIn("must be a JSON object", self.refusal(ADD, [1, 2]))

    def test_positional_only_keyword_only_and_open_parameters_are_passed(self):
        source = "def run(a, b=2, /, c=3, *, d, **rest):\n    return [a, b, c, d, rest]\n"
        self.assertEqual(self.value(source, {"a": 1, "d": 4, "e": 5}), [1, 2, 3, 4, {"e": 5}])
        self.assertIn('lacks "a"', self.refusal(source, {"d": 4}))

    def check(self, annotation, good, bad, header="from typing import *\n"):
        source = header + "def run(x: %s):\n    return x\n" % annotation
        for value in good:
            self.assertEqual(self.value(source, {"x": value}), value)
        for value in bad:
            message = self.refusal(source, {"x": value})
            self.assertTrue(message.startswith('The argument "x'), message)
            self.assertIn(" must be ", message)

    def test_simple_annotations_are_checked(self):
        self.check("int", [1, 2 ** 63], ["1", 1.5, True, None], header="")
        self.check("float", [1.5, 2], ["1", True], header="")
        self.check("str", ["a"], [1, None], header="")
        self.check("bool", [True], [1, "true"], header="")
        self.check("list", [[1]], [{}, "a"], header="")
        self.check("dict", [{"a": 1}], [[]], header="")
        self.check("None", [None], [0], header="")

    def test_generic_annotations_are_checked_inside(self):
        self.check("list[int]", [[], [1, 2]], [["a"], 5], header="")
        self.check("List[Dict[str, float]]", [[{"a": 1.5}]], [[{"a": "b"}]])
        self.check("dict[str, list[int]]", [{"a": [1]}], [{"a": [None]}], header="")

    def test_unions_optionals_and_literals_are_checked(self):
        self.check("Optional[int]", [1, None], ["a"])
        self.check("Union[int, List[str]]", [1, ["a"]], ["a", [1]])
        self.check("Literal['a', 1]", ["a", 1], ["b", True])
        self.check("Annotated[int, 'some']", [1], ["a"])
        if sys.version_info >= (3, 10):
            self.check("int | None", [1, None], ["a"], header="")

    def test_annotations_that_are_not_known_are_not_checked(self):
        self.check("Any", [1, "a", None], [])
        self.check("Iterable[int]", ["a"], [])
        self.check("'OnlyForTypeCheckers'", [1], [])

    def test_annotations_written_as_text_are_checked(self):
        self.check("int", [1], ["a"], header="from __future__ import annotations\n")
        self.check("Optional['int']", [1, None], ["a"])

    def test_none_is_welcome_where_it_is_the_default(self):
        self.assertIsNone(self.value("def run(x: int = None): return x\n", {"x": None}))

    def test_a_whole_float_passes_for_an_int_as_in_json_schema(self):
        self.assertEqual(self.value("def run(x: int): return type(x).__name__\n", {"x": 3.0}), "int")

    def test_a_mismatch_names_the_place(self):
        message = self.refusal("def run(rows: list[dict[str, int]]): pass\n", {"rows": [{"a": 1}, {"b": "x"}]})
        self.assertIn('"rows[1][b]" must be int, not str', message)

    def test_dataclasses_are_built_from_objects(self):
        source = ("from dataclasses import dataclass, field\nfrom typing import List, Optional\n"
                  "@dataclass\nclass Point:\n    x: int\n    y: int = 0\n"
                  "@dataclass\nclass Path:\n    points: List[Point]\n    name: Optional[str] = None\n"
                  "def run(path: Path): return [type(path.points[0]).__name__, path.points[0].y, path.name]\n")
        self.assertEqual(self.value(source, {"path": {"points": [{"x": 1}]}}), ["Point", 0, None])
        self.assertIn('"path" does not fit Path: it lacks "points"', self.refusal(source, {"path": {}}))
        self.assertIn('lacks "x"', self.refusal(source, {"path": {"points": [{"y": 1}]}}))
        self.assertIn('"x" must be int, not str', self.refusal(source, {"path": {"points": [{"x": "1"}]}}))
        self.assertIn('"path" must be Path, not int', self.refusal(source, {"path": 5}))

    def test_a_dataclass_that_refuses_its_values_is_the_callers_mistake(self):
        source = ("from dataclasses import dataclass\n@dataclass\nclass Age:\n    years: int\n    def __post_init__(self):\n"
                  "        if self.years < 0: raise ValueError('negative')\ndef run(age: Age): pass\n")
        self.assertIn("ValueError: negative", self.refusal(source, {"age": {"years": -1}}))

    def test_integers_of_any_size_and_odd_text_arrive(self):
        source = "def run(n, s): return [n + 1, s]\n"
        text = "\u2028\U0001f600\0"
        self.assertEqual(self.value(source, {"n": 10 ** 5000, "s": text}), ["1" + "0" * 4999 + "1", text])


class TheReturnValue(RuntimeTest):
    def test_json_types_are_returned_as_they_are(self):
        for value in (None, True, 0, -1.5, "", "\u00e6\U0001f600\0\"\\", [], {}, [[1], {"a": [None]}]):
            self.assertEqual(self.returned(repr(value)), value)

    def test_tuples_sets_ranges_and_iterators_become_lists(self):
        self.assertEqual(self.returned("(1, (2,))"), [1, [2]])
        self.assertEqual(self.returned("{3, 1, 2}"), [1, 2, 3])
        self.assertEqual(self.returned("frozenset(['b', 'a'])"), ["a", "b"])
        self.assertEqual(sorted(self.returned("{1, 'a'}"), key=str), [1, "a"])
        self.assertEqual(self.returned("range(3)"), [0, 1, 2])
        self.assertEqual(self.returned("(n * n for n in range(3))"), [0, 1, 4])
        self.assertEqual(self.returned("map(str, [1])"), ["1"])
        self.assertEqual(self.returned("[{'b': 1, 'a': 2}.keys(), {'x': 1}.values(), {'x': 1}.items()]"),
                         [["b", "a"], [1], [["x", 1]]])
        self.assertEqual(self.returned("collections.deque([1, 2])", "import collections"), [1, 2])

    def test_a_generator_function_returns_its_list(self):
        self.assertEqual(self.value("def run():\n    yield 1\n    yield {2}\n"), [1, [2]])

    def test_mappings_become_objects(self):
        imports = "import collections, types"
        self.assertEqual(self.returned("collections.OrderedDict(a=1)", imports), {"a": 1})
        self.assertEqual(self.returned("collections.Counter('aab')", imports), {"a": 2, "b": 1})
        self.assertEqual(self.returned("types.MappingProxyType({'a': 1})", imports), {"a": 1})

    def test_named_tuples_become_objects_also_inside_plain_data(self):
        self.assertEqual(self.returned("{'p': [P(1, {2})]}", "import collections\nP = collections.namedtuple('P', 'x y')"),
                         {"p": [{"x": 1, "y": [2]}]})

    def test_dataclasses_become_objects_all_the_way_down(self):
        imports = ("from dataclasses import dataclass\nfrom typing import ClassVar\nimport datetime\n@dataclass\nclass In:\n"
                   "    day: datetime.date\n    shared: ClassVar[int] = 1\n@dataclass\nclass Out:\n    items: list\n")
        self.assertEqual(self.returned("Out([In(datetime.date(2024, 2, 29))])", imports), {"items": [{"day": "2024-02-29"}]})

    def test_dates_and_times_are_iso_text_and_durations_seconds(self):
        imports = "from datetime import *"
        self.assertEqual(self.returned("datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone.utc)", imports), "2024-01-02T03:04:05+00:00")
        self.assertEqual(self.returned("[date(2024, 1, 2), time(3, 4)]", imports), ["2024-01-02", "03:04:00"])
        self.assertEqual(self.returned("timedelta(minutes=1, milliseconds=500)", imports), 60.5)

    def test_enums_become_their_values(self):
        imports = ("import enum\nclass C(enum.Enum):\n    RED = 'red'\n    PAIR = (1, 2)\nclass N(enum.IntEnum):\n    ONE = 1\n"
                   "class S(str, enum.Enum):\n    A = 'a'\n")
        self.assertEqual(self.returned("[C.RED, C.PAIR, N.ONE, S.A, {C.RED: 1, N.ONE: 2}]", imports),
                         ["red", [1, 2], 1, "a", {"red": 1, "1": 2}])

    def test_uuids_decimals_paths_and_complex_numbers_become_text(self):
        imports = "import uuid, decimal, pathlib"
        self.assertEqual(self.returned("[uuid.UUID(int=1), decimal.Decimal('1.10'), pathlib.Path('/a/b'), 1+2j]", imports),
                         ["00000000-0000-0000-0000-000000000001", "1.10", "/a/b", "(1+2j)"])

    def test_bytes_are_text_where_they_can_be_and_base64_elsewhere(self):
        self.assertEqual(self.returned("[b'caf\\xc3\\xa9', bytearray(b'x'), memoryview(b'y'), b'\\xff\\xfe']"),
                         ["caf\u00e9", "x", "y", "//4="])

    def test_nan_and_infinities_become_null(self):
        self.assertEqual(self.returned("[float('nan'), {'a': float('inf')}, -float('inf'), 1.5]"), [None, {"a": None}, None, 1.5])

    def test_keys_become_text(self):
        self.assertEqual(self.returned("{1: 1, None: 2, False: 3, 2.5: 4}"), {"1": 1, "null": 2, "false": 3, "2.5": 4})
        self.assertEqual(self.returned("{(1, 2): {1}, b'k': 2, None: 3, False: 4, 7: 5}"),
                         {"(1, 2)": [1], "k": 2, "null": 3, "false": 4, "7": 5})
        self.assertEqual(self.returned("{datetime.date(2024, 1, 2): 1}", "import datetime"), {"2024-01-02": 1})

    def test_integers_of_64_bits_are_numbers_and_longer_ones_lose_no_digit(self):
        numbers = [2 ** 64 - 1, -2 ** 63, 10 ** 18]
        self.assertEqual(self.returned(repr(numbers)), numbers)
        self.assertEqual(self.returned("[2 ** 64, -2 ** 63 - 1, {'n': 10 ** 50}]"),
                         ["18446744073709551616", "-9223372036854775809", {"n": "1" + "0" * 50}])
        self.assertEqual(self.returned("10 ** 5000"), "1" + "0" * 5000)
        self.assertEqual(self.returned("{1, 10 ** 5000}"), [1, "1" + "0" * 5000])

    def test_lone_surrogates_become_replacement_characters_and_pairs_characters(self):
        self.assertEqual(self.returned("['a\\ud800b', '\\ud83d\\ude00', {'\\udfff': 1}]"), ["a\ufffdb", "\U0001f600", {"\ufffd": 1}])

    def test_other_objects_are_their_str(self):
        imports = "class Thing:\n    def __str__(self): return 'a thing'\n"
        self.assertEqual(self.returned("[Thing(), {'t': Thing()}, ValueError('v')]", imports), ["a thing", {"t": "a thing"}, "v"])

    def test_subclasses_of_plain_types_are_plain(self):
        imports = "class S(str): pass\nclass I(int): pass\nclass F(float): pass\nclass L(list): pass\nclass D(dict): pass\n"
        self.assertEqual(self.returned("[S('s'), I(1), F(1.5), L([1]), D(a=1)]", imports), ["s", 1, 1.5, [1], {"a": 1}])

    def test_an_object_that_cannot_be_shown_is_named(self):
        error = self.error("class Mute:\n    def __str__(self): raise ValueError('no')\ndef run(): return [Mute()]\n")
        self.assertEqual(error["name"], "ReturnNotShowable")
        self.assertIn("class Mute whose str() raised ValueError", error["message"])

    def test_cycles_are_told(self):
        for body in ("x = []; x.append(x)", "x = {}; x['x'] = [x]", "x = [{1}]; x.append(x)"):
            error = self.error("def run():\n    %s\n    return x\n" % body)
            self.assertEqual(error["name"], "ReturnContainsItself")
            self.assertIn("The return value contains itself", error["message"])

    def test_the_same_object_twice_is_no_cycle(self):
        self.assertEqual(self.value("def run():\n    x = {1}\n    return [x, x, [x]]\n"), [[1], [1], [[1]]])

    def test_deep_nesting_is_told_and_reasonable_nesting_passes(self):
        source = "def run(n, leaf=None):\n    x = leaf\n    for _ in range(n): x = [x]\n    return x\n"
        deep_set = "def run(n):\n    x = {1}\n    for _ in range(n): x = [x, 1]\n    return x\n"
        for n in (250, 1000, 100_000):
            self.assertEqual(self.error(source, {"n": n})["name"], "ReturnTooDeep")
            self.assertEqual(self.error(deep_set, {"n": n})["name"], "ReturnTooDeep")
        for text in (source, deep_set):
            self.assertIn("[[[", json.dumps(self.value(text, {"n": 150})))

    def test_many_flat_containers_are_not_deep(self):
        self.assertEqual(self.returned("[[n] for n in range(1000)]"), [[n] for n in range(1000)])

    def test_a_value_that_is_too_large_is_told(self):
        for body in ("return 'x' * 2000", "return [1] * 2000", "return {b'x': 'y' * 2000}", "return iter(int, 1)",
                     "return ('x' * 100 for _ in iter(int, 1))"):
            error = self.error("def run():\n    %s\n" % body, max_return_bytes=1000)
            self.assertEqual(error["name"], "ReturnTooLarge")
            self.assertIn("larger than 1000 bytes", error["message"])

    def test_a_value_of_exactly_the_limit_passes(self):
        self.assertEqual(len(self.value("def run(): return 'x' * 998\n", max_return_bytes=1000)), 998)
        self.assertEqual(len(self.value("def run(): return iter('x' * 249)\n", max_return_bytes=1000)), 249)

    def test_an_error_in_a_generator_is_an_error_of_the_tool(self):
        error = self.error("def run():\n    yield 1\n    raise KeyError('k')\n")
        self.assertEqual((error["name"], error["message"]), ("KeyError", "'k'"))
        self.assertIn("line 3, in run", error["traceback"])
        self.assertNotIn("During handling", error["traceback"])


class TheFailure(RuntimeTest):
    def test_name_message_and_the_tools_own_frames_are_told(self):
        error = self.error("def helper(x):\n    return 1 / x\n\ndef run():\n    return helper(0)\n")
        self.assertEqual(error, {"name": "ZeroDivisionError", "message": "division by zero", "traceback": (
            'Traceback (most recent call last):\n'
            '  File "weather.py", line 5, in run\n    return helper(0)\n'
            '  File "weather.py", line 2, in helper\n    return 1 / x\n'
            'ZeroDivisionError: division by zero\n')})

    def test_an_error_while_the_source_runs_is_told_the_same_way(self):
        self.assertIn('File "weather.py", line 2, in <module>', self.error("x = 1\nundefined\n")["traceback"])

    def test_frames_of_libraries_below_the_tool_are_shown_with_their_source(self):
        traceback = self.error("import json\ndef run():\n    json.loads('')\n")["traceback"]
        self.assertIn("json/decoder.py", traceback)
        self.assertIn("raise JSONDecodeError", traceback)

    def test_no_frame_of_the_runtime_or_of_asyncio_above_the_tool_is_shown(self):
        traceback = self.error("async def run():\n    raise ValueError('x')\n")["traceback"]
        self.assertEqual(traceback.count("File "), 1)
        self.assertNotIn("belljar", traceback)

    def test_names_outside_of_builtins_are_qualified(self):
        self.assertEqual(self.error("import json\ndef run(): json.loads('')\n")["name"], "json.decoder.JSONDecodeError")
        self.assertEqual(self.error("class Bad(Exception): pass\ndef run(): raise Bad('x')\n")["name"], "weather.Bad")

    def test_causes_and_contexts_are_included(self):
        traceback = self.error("def run():\n    try:\n        try: 1/0\n        except Exception as e: raise ValueError('v') from e\n"
                               "    except ValueError:\n        raise KeyError('k')\n")["traceback"]
        self.assertRegex(traceback, r"(?s)ZeroDivisionError.*direct cause.*ValueError: v.*During handling.*KeyError: 'k'\n$")

    def test_a_suppressed_context_is_left_out(self):
        traceback = self.error("def run():\n    try: 1/0\n    except Exception: raise ValueError('v') from None\n")["traceback"]
        self.assertNotIn("ZeroDivisionError:", traceback)

    def test_exceptions_that_cause_each_other_end(self):
        error = self.error("def run():\n    a, b = ValueError('a'), ValueError('b')\n    a.__cause__, b.__cause__ = b, a\n    raise a\n")
        self.assertEqual(error["message"], "a")

    @unittest.skipIf(sys.version_info < (3, 11), "groups came with 3.11")
    def test_groups_show_their_members_and_notes(self):
        source = ("def run():\n    e = TypeError('t')\n    e.add_note('a note')\n"
                  "    raise ExceptionGroup('several', [ValueError('v'), ExceptionGroup('inner', [e])])\n")
        traceback = self.error(source)["traceback"]
        self.assertIn("ExceptionGroup: several (2 sub-exceptions)", traceback)
        self.assertIn("  | ValueError: v", traceback)
        self.assertIn("  |   | TypeError: t\n  |   | a note", traceback)

    def test_exceptions_that_cannot_be_shown_are_still_told(self):
        error = self.error("class Mute(Exception):\n    def __str__(self): raise RuntimeError\ndef run(): raise Mute\n")
        self.assertEqual(error["message"], "(no message: str() of this exception raised RuntimeError)")

    def test_errno_is_carried(self):
        answer = self.call("def run(): open('/no/such/file')\n")
        self.assertEqual((answer["error"]["name"], answer["errno"]), ("FileNotFoundError", 2))
        self.assertIsNone(self.call("def run(): raise ValueError\n")["errno"])

    def test_leaving_by_exit_is_told_as_such(self):
        for statement, message in (("sys.exit(3)", "the tool called sys.exit(3)"), ("sys.exit()", "the tool called sys.exit()"),
                                   ("exit('bye')", "the tool called sys.exit('bye')")):
            error = self.error("import sys\ndef run(): %s\n" % statement)
            self.assertEqual((error["name"], error["message"]), ("SystemExit", message))

    def test_every_kind_of_exception_is_told(self):
        self.assertEqual(self.error("def run(): raise KeyboardInterrupt\n")["name"], "KeyboardInterrupt")
        self.assertEqual(self.error("def run(): raise BaseException('b')\n")["message"], "b")
        self.assertEqual(self.error("def run(): raise MemoryError\n")["message"], "the tool ran out of memory")

    def test_endless_recursion_is_told_in_few_lines(self):
        error = self.error("def run(): return run()\n")
        self.assertEqual(error["name"], "RecursionError")
        self.assertIn("[Previous line repeated", error["traceback"])
        error = self.error("def a(): return run()\ndef run(): return a()\n")
        self.assertIn("frames left out]", error["traceback"])

    def test_long_messages_and_tracebacks_are_cut(self):
        error = self.error("def run(): raise ValueError('\u00e9' * 1_000_000 + '\\ud800')\n")
        self.assertLessEqual(len(error["message"].encode()), 16 * 1024)
        self.assertLessEqual(len(error["traceback"].encode()), 64 * 1024)
        self.assertIn("[... cut ...]", error["message"])
        self.assertTrue(error["message"].endswith("\ufffd"))

    def test_a_source_that_does_not_compile_is_told_with_its_line(self):
        deep = "x = " + "-" * 100_000 + "1"
        for source, line in (("x = 1\ndef f(:\n", 2), ("def f():\nreturn 1\n", 2), ("x = 1\ny = '\0'\n", 2), ("\n\nreturn 5\n", 3),
                             ("\n'\ud800'\n", 2), ("if True:\n  x\n y\n", 3), (deep, 1)):
            error = self.error(source)
            self.assertEqual(error["name"], "SyntaxError", source[:50])
            self.assertIn("weather.py, line %d: " % line, error["message"])
            self.assertIn('File "weather.py", line %d' % line, error["traceback"])

    def test_a_byte_order_mark_is_no_error(self):
        self.assertEqual(self.value("\ufeffdef run(): return 1\n"), 1)


class HostileTools(RuntimeTest):
    """Nothing here guards against them, the seal does; but they must still get an answer, or hurt only their own."""

    def test_replaced_builtins_and_modules_do_not_matter(self):
        source = ("import builtins, sys, os, posix, json, marshal\n"
                  "def run():\n"
                  "    for module in (json, os, posix, marshal):\n"
                  "        for name in ('dumps', 'write', 'read', 'getpid', '_exit'):\n"
                  "            if hasattr(module, name): setattr(module, name, None)\n"
                  "    setattr_, names = setattr, list(vars(builtins))\n"
                  "    for name in names:\n"
                  "        if name != '__import__': setattr_(builtins, name, None)\n"
                  "    return {'a': (1, {2}), 'b': b'c'}\n")
        self.assertEqual(self.value(source), {"a": [1, [2]], "b": "c"})

    def test_replaced_builtins_do_not_spoil_the_telling_of_an_error(self):
        source = "import builtins\ndef run():\n    builtins.len = builtins.isinstance = builtins.str = None\n    raise ValueError('told')\n"
        self.assertEqual(self.error(source)["message"], "told")

    def test_replaced_output_streams_do_not_matter(self):
        source = ("import sys\nclass Evil:\n    def flush(self): raise SystemExit(5)\n    def write(self, text): raise KeyError\n"
                  "def run():\n    print('kept')\n    sys.stdout = Evil()\n    sys.stderr = None\n    return 1\n")
        self.assertEqual(self.value(source), 1)
        self.assertEqual(self.stdout, "kept\n")

    def test_closed_standard_descriptors_do_not_matter(self):
        self.assertEqual(self.value("import os\ndef run():\n    print('lost', end='')\n    for fd in (0, 1, 2): os.close(fd)\n    return 1\n"), 1)

    def test_a_tiny_recursion_limit_does_not_matter(self):
        body = "    import sys\n    for limit in range(5, 40):\n        try: sys.setrecursionlimit(limit); break\n        except RecursionError: pass\n"
        self.assertEqual(self.value("def run():\n%s    return [{1}, {'a': (2,)}]\n" % body), [[1], {"a": [2]}])
        self.assertEqual(self.error("def run():\n%s    raise ValueError('x')\n" % body)["message"], "x")

    def test_trace_and_profile_functions_do_not_see_the_answer_being_made(self):
        source = ("import sys\ndef watch(frame, event, value):\n    if 'encode' in frame.f_code.co_name: 1/0\n    return watch\n"
                  "def run():\n    sys.setprofile(watch)\n    sys.settrace(watch)\n    return {1}\n")
        self.assertEqual(self.value(source), [1])

    def test_threads_that_go_on_do_not_hold_the_answer_back(self):
        source = "import threading\ndef run():\n    threading.Thread(target=threading.Event().wait).start()\n    return 1\n"
        self.assertEqual(self.value(source), 1)

    def test_a_forked_process_that_returns_does_not_answer_too(self):
        source = "import os\ndef run():\n    pid = os.fork()\n    if pid: os.waitpid(pid, 0)\n    return pid > 0\n"
        self.assertEqual(self.value(source), True)

    def test_cleared_and_strange_modules_do_not_matter(self):
        self.assertEqual(self.value("import sys\ndef run():\n    sys.modules.clear()\n    return 1\n"), 1)
        self.assertEqual(self.value("import sys\ndef run():\n    for n in range(9): sys.modules[n] = n\n    return 1\n"), 1)

    def test_a_tool_that_closes_the_channel_only_loses_its_answer(self):
        child = self.zygote.fork()
        child.receive()
        child.send(b"C", request("import os\ndef run(): os.closerange(3, 50)\n"))
        self.assertIsNone(child.receive())
        self.assertEqual(child.close(), ("", ""))

    def test_a_class_that_lies_about_itself_is_survived(self):
        source = ("class Meta(type):\n    __module__ = property(lambda c: 1/0)\n    __qualname__ = property(lambda c: 1/0)\n"
                  "class Liar(Exception, metaclass=Meta): pass\ndef run(): raise Liar('x')\n")
        self.assertEqual(self.call(source)["status"], "error")

    def test_the_runtimes_own_directory_is_not_on_the_path(self):
        self.assertEqual(self.value("import sys\ndef run(): return [p for p in sys.path if 'runtimes' in p or 'belljar' in p]\n"), [])


class TheZygote(RuntimeTest):
    preload = ("random", "tempfile", "uuid", "ssl", "no_such_module_here", "multiprocessing.process")

    def test_it_reports_its_version_and_what_could_not_be_loaded(self):
        report = self.zygote.report
        self.assertEqual(report["version"], list(sys.version_info[:3]))
        self.assertEqual(report["loaded"], [name for name in self.preload if name != "no_such_module_here"])
        self.assertEqual(list(report["failed"]), ["no_such_module_here"])
        self.assertIn("ModuleNotFoundError", report["failed"]["no_such_module_here"])

    def test_siblings_do_not_share_random_numbers(self):
        source = ("import random, uuid, tempfile, secrets, os, ssl, multiprocessing\ndef run():\n"
                  "    return [random.random(), str(uuid.uuid4()), next(tempfile._get_candidate_names()), secrets.token_hex(),\n"
                  "            ssl.RAND_bytes(16).hex(), multiprocessing.current_process().authkey.hex(), str(uuid.uuid1())]\n")
        for warm in (False, True):
            rows = [self.value(source, warm=warm) for _ in range(3)]
            for column in zip(*rows):
                self.assertEqual(len(set(column)), 3, column)

    def test_the_collector_runs_in_a_child(self):
        self.assertEqual(self.value("import gc\ndef run(): return [gc.isenabled(), gc.get_freeze_count() > 0]\n"), [True, True])

    def test_children_of_a_tool_can_be_waited_for(self):
        self.assertEqual(self.value("import subprocess\ndef run(): return subprocess.run(['sh', '-c', 'exit 7']).returncode\n"), 7)

    def test_imports_of_a_call_are_reported_unless_preloaded(self):
        answer = self.call("import random, wave, math, _bisect\nimport xml.dom\ndef run(): return 1\n")
        self.assertIn("wave", answer["imports"])
        self.assertIn("xml", answer["imports"])
        self.assertEqual(sorted(answer["imports"]), answer["imports"])
        for name in ("random", "math", "_bisect", "weather", "xml.dom"):
            self.assertNotIn(name, answer["imports"])

    def test_a_call_that_imports_nothing_reports_nothing(self):
        self.assertEqual(self.call(ADD, {"a": 1})["imports"], [])


class TheBareZygote(RuntimeTest):
    def test_it_holds_nothing_that_a_plain_call_does_not_need(self):
        heavy = {"re", "typing", "json", "enum", "os", "collections", "functools", "inspect", "traceback", "asyncio"}
        loaded = self.value("import sys\ndef run(): return list(sys.modules)\n")
        self.assertEqual(heavy.intersection(loaded), set())

    def test_at_most_64_imports_are_reported(self):
        source = "import asyncio, http.server, unittest, xml.dom, sqlite3, zipfile, doctest, email.mime.text, wave\ndef run(): pass\n"
        self.assertEqual(len(self.call(source)["imports"]), 64)


class SiteDirectories(unittest.TestCase):
    def test_their_modules_and_pth_files_count_and_output_of_imports_is_not_repeated(self):
        with tempfile.TemporaryDirectory() as site, tempfile.TemporaryDirectory() as linked:
            for path, text in ((site + "/noisy_module.py", "print('imported', end='')\n"), (site + "/link.pth", linked + "\n"),
                               (linked + "/linked_module.py", ""), (site + "/exiting.py", "raise SystemExit('bye')\n")):
                with open(path, "w") as file:
                    file.write(text)
            zygote = Zygote([site], ["noisy_module", "exiting"])
            self.addCleanup(zygote.close)
            self.assertEqual(zygote.report["loaded"], ["noisy_module"])
            self.assertEqual(zygote.report["failed"], {"exiting": "SystemExit: bye"})
            child = zygote.fork()
            child.receive()
            source = "import linked_module, site, os\ndef run(): return [__name__, os.environ['A']]\n"
            child.send(b"C", request(source, filename="linked_module.py", env={"A": "b"}))
            answer = json.loads(child.receive()[1])
            self.assertEqual(child.close(), ("", ""))
            self.assertEqual(answer["return"], ["tool_linked_module", "b"])
            self.assertEqual(answer["imports"], ["linked_module"])


@unittest.skipUnless(PYDANTIC, "pydantic is not installed")
class Pydantic(RuntimeTest):
    site_dirs = (PYDANTIC,)
    preload = ("pydantic",)
    source = ("import datetime, typing, uuid\nfrom pydantic import BaseModel\n"
              "class City(BaseModel):\n    name: str\n    founded: datetime.date = datetime.date(1048, 1, 1)\n"
              "class Trip(BaseModel):\n    cities: typing.List[City]\n"
              "def run(trip: Trip, more: typing.Optional[City] = None):\n    return {'trip': trip, 'more': more}\n")

    def test_models_are_built_and_returned(self):
        self.assertEqual(self.zygote.report["failed"], {})
        self.assertEqual(self.value(self.source, {"trip": {"cities": [{"name": "Oslo"}]}, "more": {"name": "Rome", "founded": "0753-04-21"}}),
                         {"trip": {"cities": [{"name": "Oslo", "founded": "1048-01-01"}]},
                          "more": {"name": "Rome", "founded": "0753-04-21"}})

    def test_a_call_finds_all_of_pydantic_loaded(self):
        arguments = {"trip": {"cities": []}}
        for warm in (False, True):
            self.assertEqual(self.call(self.source, arguments, warm=warm)["imports"], [])

    def test_values_that_do_not_fit_a_model_are_the_callers_mistake(self):
        message = self.refusal(self.source, {"trip": {"cities": [{}]}})
        self.assertRegex(message, r'The argument "trip" does not fit Trip: cities\.0\.name: [Ff]ield required')
        self.assertIn('"more" does not fit City', self.refusal(self.source, {"trip": {"cities": []}, "more": 5}))

    def test_models_with_odd_fields_are_returned(self):
        source = ("import typing\nfrom pydantic import BaseModel\nclass Odd:\n    def __str__(self): return 'odd'\n"
                  "class M(BaseModel):\n    a: typing.Any\n    b: float\ndef run(): return M(a=Odd(), b=float('nan'))\n")
        self.assertEqual(self.value(source), {"a": "odd", "b": None})

    def test_pydantic_dataclasses_are_built_and_returned(self):
        source = "from pydantic.dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef run(p: P): return [p, type(p).__name__]\n"
        self.assertEqual(self.value(source, {"p": {"x": 1}}), [{"x": 1}, "P"])
        self.assertRegex(self.refusal(source, {"p": {"x": "no"}}), '"p" does not fit P: "?x')

    def test_models_of_the_old_interface_inside_the_new_one_work(self):
        source = ("try:\n    from pydantic.v1 import BaseModel\nexcept ImportError:\n    from pydantic import BaseModel\n"
                  "class M(BaseModel):\n    tags: set = set()\ndef run(m: M): return m\n")
        if sys.version_info >= (3, 14):
            self.skipTest("pydantic.v1 does not support 3.14")
        self.assertEqual(self.value(source, {"m": {"tags": ["b", "a"]}}), {"tags": ["a", "b"]})


@unittest.skipUnless(NUMPY, "numpy is not installed")
class Numpy(RuntimeTest):
    site_dirs = (NUMPY,)
    preload = ("numpy", "numpy.random")

    def test_scalars_and_arrays_become_numbers_and_lists(self):
        imports = "import numpy as np"
        self.assertEqual(self.returned("[np.int64(1), np.float32(0.5), np.bool_(True), np.str_('s'), np.float64('nan')]", imports),
                         [1, 0.5, True, "s", None])
        self.assertEqual(self.returned("{'a': np.arange(4).reshape(2, 2), np.int64(3): np.array(5)}", imports),
                         {"a": [[0, 1], [2, 3]], "3": 5})
        self.assertEqual(self.returned("np.array([1.5, np.inf])", imports), [1.5, None])
        self.assertEqual(self.returned("[np.datetime64('2024-01-02T03:04:05.000000000'), np.longdouble(1.5), np.complex128(1j)]", imports),
                         ["2024-01-02T03:04:05.000000000", 1.5, "1j"])

    def test_siblings_do_not_share_random_numbers(self):
        source = "import numpy\ndef run(): return numpy.random.random()\n"
        self.assertEqual(len({self.value(source) for _ in range(3)}), 3)


if __name__ == "__main__":
    unittest.main()
