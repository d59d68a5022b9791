"""E2B's code interpreter, through the released packages: e2b-code-interpreter (PyPI) and @e2b/code-interpreter (npm)."""

import base64
import os
import subprocess
import sys
import unittest

import sdk
from server_story import ServerStory
from story import PATIENCE_SECONDS

PYTHON_PACKAGE, NODE_PACKAGE = "e2b-code-interpreter", "@e2b/code-interpreter"
HERE = os.path.dirname(os.path.abspath(__file__))


class CodeInterpreterStory(ServerStory):
    def settings(self):
        return {"E2B_API_URL": self.server.url, "E2B_SANDBOX_URL": self.server.url, "E2B_API_KEY": self.server.key,
                "E2B_VALIDATE_API_KEY": "false"}


@sdk.skip_without(PYTHON_PACKAGE)
class Python(CodeInterpreterStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.path.insert(0, sdk.python_sdk(PYTHON_PACKAGE))

    def setUp(self):
        os.environ.update(self.settings())
        from e2b_code_interpreter import Sandbox
        self.sandbox = Sandbox.create(template="base", timeout=120)
        self.addCleanup(self.sandbox.kill)

    def test_state_results_logs_and_errors(self):
        self.assertEqual(self.sandbox.run_code("x = 1").text, None)
        execution = self.sandbox.run_code("x += 1; x")
        self.assertEqual((execution.text, execution.execution_count), ("2", 2))
        execution = self.sandbox.run_code("import sys\nprint('out')\nprint('err', file=sys.stderr)\ndisplay('shown')\n'main'")
        self.assertEqual((execution.logs.stdout, execution.logs.stderr), (["out\n"], ["err\n"]))
        self.assertEqual([(result.is_main_result, result.text) for result in execution.results], [(False, "shown"), (True, "main")])
        self.assertEqual(execution.results[0].extra, {})
        error = self.sandbox.run_code("1 / 0").error
        self.assertEqual((error.name, error.value), ("ZeroDivisionError", "division by zero"))
        self.assertIn("----> 1 1 / 0", error.traceback)

    def test_callbacks_come_as_things_happen(self):
        seen = []
        self.sandbox.run_code("print('a')\nprint('b')\n3", on_stdout=lambda message: seen.append(message.line),
                              on_result=lambda result: seen.append(result.text))
        self.assertEqual("".join(seen), "a\nb\n3")

    def test_rich_results(self):
        code = ("class Rich:\n  def _repr_html_(self): return '<b>'\n  def _repr_png_(self): return b'png'\n"
                "  def _repr_json_(self): return {'k': 1}\n  def _repr_mimebundle_(self, include, exclude): return {'application/x-own': 'v'}\nRich()")
        result = self.sandbox.run_code(code).results[0]
        self.assertEqual((result.html, base64.b64decode(result.png), result.json, result.extra),
                         ("<b>", b"png", {"k": 1}, {"application/x-own": "v"}))

    def test_contexts(self):
        from e2b.exceptions import NotFoundException
        self.assertEqual({context.language for context in self.sandbox.list_code_contexts()}, {"python", "javascript"})
        context = self.sandbox.create_code_context(cwd="/tmp", language="python")
        self.assertEqual((context.cwd, context.language), ("/tmp", "python"))
        self.assertEqual(self.sandbox.run_code("import os; os.getcwd()", context=context).text, "/tmp")
        self.sandbox.restart_code_context(context)
        self.assertEqual(self.sandbox.run_code("os", context=context).error.name, "NameError")
        self.assertIn(context.id, [one.id for one in self.sandbox.list_code_contexts()])
        self.sandbox.remove_code_context(context)
        self.assertNotIn(context.id, [one.id for one in self.sandbox.list_code_contexts()])
        with self.assertRaises(NotFoundException):
            self.sandbox.run_code("1", context=context)

    def test_languages_and_variables(self):
        self.assertEqual(self.sandbox.run_code("const n: number = 3; n", language="typescript").text, "3")
        self.assertEqual(self.sandbox.run_code("await Promise.resolve(4)", language="js").text, "4")
        self.assertEqual(self.sandbox.run_code("echo hi", language="bash").logs.stdout, ["hi\n"])
        self.assertEqual(self.sandbox.run_code("import os; os.environ['Q']", envs={"Q": "1"}).text, "1")
        self.assertEqual(self.sandbox.run_code("os.environ.get('Q', 'none')").text, "none")

    def test_a_client_who_does_not_wait_leaves_a_context_that_works(self):
        from e2b.exceptions import TimeoutException
        self.sandbox.run_code("kept = 5")
        with self.assertRaises(TimeoutException):
            self.sandbox.run_code("import time; time.sleep(600)", timeout=1)
        self.assertEqual(self.sandbox.run_code("kept").text, "5")


@sdk.skip_without(NODE_PACKAGE)
class Node(CodeInterpreterStory):
    def test_the_story(self):
        folder = sdk.node_sdk(NODE_PACKAGE)
        story = os.path.join(folder, "code_interpreter_story.mjs")
        with open(os.path.join(HERE, "code_interpreter_story.mjs")) as source, open(story, "w") as copy:
            copy.write(source.read())  # Node looks for packages upwards from a module's file
        done = subprocess.run(["node", story], env={**os.environ, **self.settings()}, capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
