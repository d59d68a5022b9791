"""`belljar run`: a tool, its arguments, its answer, and every way to get it wrong."""

import os
import unittest

from story import Story

ADD = "def add(a: int, b: int) -> int:\n    '''Adds.'''\n    return a + b\n"


class RunningATool(Story):
    def test_the_answer_carries_what_the_manual_says(self):
        status, answer = self.run_tool(ADD, {"a": 1, "b": 2})
        self.assertEqual(status, 0)
        self.assertEqual(answer["return"], 3)
        self.assertLessEqual({"status", "return", "stdout", "stderr", "duration_ms", "limits_hit", "seal"}, set(answer))
        self.assertEqual((answer["status"], answer["limits_hit"]), ("ok", []))

    def test_people_get_the_value_on_stdout(self):
        done = self.belljar("run", self.write("add.py", ADD), "--args", '{"a": 1, "b": 2}')
        self.assertEqual((done.returncode, done.stdout.decode().strip()), (0, "3"))

    def test_printing_is_kept_apart_from_the_value(self):
        source = "import sys\ndef tool():\n    print('{\"return\": 666}')\n    print('oops', file=sys.stderr)\n    return 7\n"
        _, answer = self.run_tool(source)
        self.assertEqual((answer["return"], answer["stdout"], answer["stderr"]), (7, '{"return": 666}\n', "oops\n"))

    def test_the_last_public_function_is_the_tool_unless_one_is_named(self):
        source = "def first(): return 1\ndef second(): return 2\ndef _hidden(): return 3\n"
        self.assertEqual(self.value(source), 2)
        self.assertEqual(self.value(source, None, "--name", "first"), 1)

    def test_async_tools_are_awaited(self):
        self.assertEqual(self.value("import asyncio\nasync def tool():\n    await asyncio.sleep(0)\n    return 'ok'\n"), "ok")

    def test_values_become_the_json_a_person_expects(self):
        source = """
import dataclasses, datetime, enum, uuid
class Colour(enum.Enum):
    RED = "red"
@dataclasses.dataclass
class Point:
    x: int
    at: datetime.datetime
def tool():
    return {"p": Point(1, datetime.datetime(2026, 1, 2)), "c": Colour.RED, "s": {3, 1, 2}, "b": b"hi",
            "u": uuid.UUID(int=0), "n": float("nan"), "t": (1, 2)}
"""
        self.assertEqual(self.value(source), {
            "p": {"x": 1, "at": "2026-01-02T00:00:00"}, "c": "red", "s": [1, 2, 3], "b": "hi",
            "u": "00000000-0000-0000-0000-000000000000", "n": None, "t": [1, 2]})

    def test_integers_lose_no_digit(self):
        self.assertEqual(self.value("def tool(): return [2 ** 64 - 1, -2 ** 63, 10 ** 50]\n"),
                         [2 ** 64 - 1, -2 ** 63, "1" + "0" * 50])

    def test_an_exception_comes_with_the_tools_own_frames(self):
        source = "def inner():\n    raise ValueError('no such city')\ndef tool():\n    inner()\n"
        status, answer = self.run_tool(source)
        self.assertEqual((status, answer["status"]), (1, "error"))
        self.assertEqual((answer["error"]["name"], answer["error"]["message"]), ("ValueError", "no such city"))
        self.assertIn("in inner", answer["error"]["traceback"])
        self.assertNotIn("belljar_runtime", answer["error"]["traceback"])

    def test_a_process_that_dies_leaves_an_error_that_says_so(self):
        for source in ("import os\ndef tool(): os._exit(7)\n", "import os\ndef tool(): os.abort()\n"):
            status, answer = self.run_tool(source)
            self.assertEqual((status, answer["status"], answer["error"]["name"]), (1, "error", "NoAnswer"))
            # which status or signal it was, newer kernels tell
            self.assertRegex(answer["error"]["message"], "^the tool's process (ended|was ended by signal)")

    def test_variables_reach_the_tool_and_the_servers_do_not(self):
        source = "import os\ndef tool(): return dict(os.environ)\n"
        seen = self.value(source, None, "--env", "CITY=Oslo")
        self.assertEqual(seen["CITY"], "Oslo")
        self.assertNotIn("BELLJAR_DATA", seen)

    def test_two_calls_draw_different_random_numbers(self):
        source = "import random, uuid, os\ndef tool(): return [random.random(), str(uuid.uuid4()), os.urandom(8).hex()]\n"
        one, two = self.value(source), self.value(source)
        self.assertTrue(all(a != b for a, b in zip(one, two)))


class TypeScript(Story):
    def test_a_typescript_tool_runs(self):
        source = "import { basename } from 'node:path';\nexport async function greet(name: string): Promise<string> {\n" \
                 "  console.log('greeting');\n  return `Hello ${basename(name)}`;\n}\n"
        status, answer = self.run_tool(source, {"name": "Ada"}, name="greet.ts")
        if "Node" in str(answer.get("error", "")):
            self.skipTest("no Node 20 here")
        self.assertEqual((status, answer["return"], answer["stdout"]), (0, "Hello Ada", "greeting\n"))

    def test_a_process_that_is_aborted_leaves_an_error_that_says_so(self):
        status, answer = self.run_tool("export function f() { process.abort() }", name="aborted.ts")
        if "no Node" in str(answer.get("error", "")):
            self.skipTest("no Node 20 here")
        self.assertEqual((status, answer["error"]["name"]), (1, "NoAnswer"))
        self.assertRegex(answer["error"]["message"], r"^the tool's process was ended by signal 6 \(Aborted\)")

    def test_its_heap_may_grow_to_the_memory_limit(self):
        # V8's own limit, by the machine's memory, came first: the call ended without a word about memory.
        source = "import v8 from 'node:v8';\nexport function f() { return v8.getHeapStatistics().heap_size_limit }"
        status, answer = self.run_tool(source, None, "--memory", "64G", name="heap.ts")
        if "no Node" in str(answer.get("error", "")):
            self.skipTest("no Node 20 here")
        self.assertEqual(status, 0, answer)
        self.assertGreater(answer["return"], 64 << 30)


class GettingItWrong(Story):
    def mistake(self, source, args, status, *words, flags=(), name="tool.py"):
        got, answer = self.run_tool(source, args, *flags, name=name)
        self.assertEqual(got, status, answer)
        for word in words:
            self.assertIn(word, answer["error"]["message"])

    def test_source_that_does_not_parse(self):
        self.mistake("def broken(:\n", {}, 1, "line 1")

    def test_a_file_without_a_function(self):
        self.mistake("x = 1\n", {}, 2, "function")

    def test_a_name_that_is_not_there(self):
        self.mistake(ADD, {}, 2, "add", flags=("--name", "subtract"))

    def test_wrong_argument_names(self):
        self.mistake(ADD, {"a": 1, "c": 2}, 2, "b", "c")

    def test_wrong_argument_types(self):
        self.mistake(ADD, {"a": 1, "b": "two"}, 2, "b", "int")

    def test_binary_garbage(self):
        path = self.write("garbage.py", bytes(range(256)))
        self.assert_one_sentence(self.belljar("run", path), 2, "garbage.py")

    def test_arguments_that_are_not_json(self):
        self.assert_one_sentence(self.belljar("run", self.write("a.py", ADD), "--args", "{a: 1}"), 2, "JSON")

    def test_a_number_that_json_can_not_carry(self):
        self.assert_one_sentence(self.belljar("run", self.write("a.py", ADD), "--args", '{"a": 1e400, "b": 1}'), 2,
                                 "too large")

    def test_a_missing_file(self):
        self.assert_one_sentence(self.belljar("run", self.scratch + "/none.py"), 2, "none.py")

    def test_an_ending_that_is_neither_python_nor_typescript(self):
        self.assert_one_sentence(self.belljar("run", self.write("tool.rb", "x")), 2, "tool.rb")

    def test_a_hundred_megabytes_of_arguments(self):
        path = self.write("large.json", '{"a": "' + "x" * 100_000_000 + '"}')
        self.assert_one_sentence(self.belljar("run", self.write("a.py", ADD), "--args", "@" + path), 2, "limit")

    def test_a_template_that_is_not_there(self):
        done = self.belljar("run", self.write("a.py", ADD), "--template", "nowhere")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nowhere", done.stderr.decode())

    def test_a_package_that_stops_the_interpreter_in_which_it_was_preloaded(self):
        packages = os.path.join(self.scratch, "packages")
        os.mkdir(packages)
        os.chmod(packages, 0o755)
        self.write("packages/stopping.py", "import os, signal\n"
                   "os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGSTOP))\n")
        status, answer = self.run_tool(ADD, {"a": 1, "b": 2}, "--venv", packages, "--preload", "stopping")
        self.assertEqual((status, answer["status"], answer["error"]["name"]), (1, "error", "NoAnswer"), answer)

    def test_an_unknown_flag_is_wrong_usage(self):
        self.assertEqual(self.belljar("run", "--no-such-flag").returncode, 2)


if __name__ == "__main__":
    unittest.main()
