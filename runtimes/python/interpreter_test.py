"""Tests of the interpreter runtime: cells, state, streams, results, errors, interrupts, checkpoints."""

import base64
import importlib.util
import json
import os
import signal
import socket
import sys
import tempfile
import time
import unittest

from fake_interpreter_engine import Gone, Zygote


class InterpreterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.zygote = Zygote(cwd=cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.zygote.end()
        cls.folder.cleanup()

    def setUp(self):
        self.context = self.zygote.context(self.folder.name)

    def tearDown(self):
        self.context.wire.socket.close()

    def run_cell(self, code, **more):
        outcome = self.context.run(code, **more)
        self.assertIsNone(outcome.error, outcome.error)
        return outcome


class Cells(InterpreterTest):
    def test_the_last_expression_is_the_result_and_names_stay(self):
        self.run_cell("x = 40")
        outcome = self.run_cell("y = 2\nx + y")
        self.assertEqual((outcome.text, outcome.count), ("42", 2))
        self.assertEqual(self.run_cell("_ * 2").text, "84")

    def test_none_a_semicolon_and_statements_give_no_result(self):
        for code in ("None", "5;", "x = 5", "", "# nothing", "print(1)"):
            self.assertEqual(self.run_cell(code).results, [], code)

    def test_contexts_know_nothing_of_each_other(self):
        self.run_cell("mine = 1")
        other = self.zygote.context(self.folder.name)
        self.assertEqual(other.run("mine").error["name"], "NameError")

    def test_await_at_the_top_level_and_a_loop_that_stays(self):
        self.assertEqual(self.run_cell("import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  return 7\nawait f()").text, "7")
        self.assertEqual(self.run_cell("q = asyncio.Queue()\nawait q.put(3)\nawait q.get()").text, "3")
        self.assertEqual(self.run_cell("asyncio.run(f())").text, "7")

    def test_a_cell_that_waits_runs_in_the_loop_as_a_whole(self):
        cell = "import asyncio\nasync def f(): return 8\ntask = asyncio.create_task(f())\nawait task"
        self.assertEqual(self.run_cell(cell).text, "8")

    def test_a_semicolon_counts_behind_the_last_expression_only(self):
        for code, results in (("5; # quiet", 0), ("(5);", 0), ("5 # ;", 1), ("'a;'", 1), ("x = 1; x", 1)):
            self.assertEqual(len(self.run_cell(code).results), results, code)

    def test_classes_and_functions_are_told_by_their_names(self):
        for code, text in (("int", "int"), ("class A: pass\nA", "__main__.A"), ("def f(a, b=1): pass\nf", "<function __main__.f(a, b=1)>"),
                           ("len", "<function len(obj, /)>")):
            self.assertEqual(self.run_cell(code).text, text)

    def test_annotations_of_the_future_stay_in_force(self):
        self.run_cell("from __future__ import annotations")
        self.assertEqual(self.run_cell("def f(a: Unknown): pass\nf.__annotations__").text, "{'a': 'Unknown'}")

    def test_classes_can_be_pickled(self):
        self.assertEqual(self.run_cell("import pickle\nclass A: pass\ntype(pickle.loads(pickle.dumps(A()))) is A").text, "True")

    def test_variables_of_one_execution_are_gone_after_it(self):
        self.run_cell("import os; os.environ['KEPT'] = 'old'")
        self.assertEqual(self.run_cell("os.environ['KEPT'], os.environ['NEW']", env={"KEPT": "new", "NEW": "1"}).text,
                         "('new', '1')")
        self.assertEqual(self.run_cell("os.environ['KEPT'], os.environ.get('NEW')").text, "('old', None)")

    def test_a_forked_process_does_not_answer(self):
        self.assertEqual(self.run_cell("import os\npid = os.fork()\n1").text, "1")
        self.assertEqual(self.run_cell("2").text, "2")

    def test_a_forked_process_ends_as_a_program_does(self):
        for end, status, said in (("sys.exit(7)", 7, ""), ("sys.exit()", 0, ""), ("sys.exit('why')", 1, "why\n"),
                                  ("raise ValueError('of the child')", 1, "ValueError: of the child\n"), ("pass", 0, "")):
            outcome = self.run_cell(f"import os, sys\npid = os.fork()\nif pid == 0:\n    {end}\nelse:\n"
                                    "    status = os.waitpid(pid, 0)[1]\nos.waitstatus_to_exitcode(status)")
            self.assertEqual((outcome.text, outcome.stderr[-len(said):]), (str(status), said), end)

    def test_a_directory_that_is_not_there_is_refused(self):
        self.assertIn("No such file", self.zygote.context("/not/there").first["reason"])

    def test_a_context_that_ends_itself_hangs_up(self):
        with self.assertRaises(Gone):
            self.context.run("import os; os._exit(3)")


class Ahead(InterpreterTest):
    def setUp(self):
        self.context = self.zygote.context_ahead()

    def test_it_is_like_any_other_once_it_is_wanted(self):
        self.assertEqual(self.context.enter(self.folder.name), {"op": "ready", "pid": self.context.pid})
        other = self.zygote.context(self.folder.name)
        for code in ("import os\nos.getcwd()", "sorted(globals())", "import sys\nsorted(sys.modules)", "_",
                     "import asyncio\nawait asyncio.sleep(0, 5)"):
            ours, theirs = self.run_cell(code), other.run(code)
            self.assertEqual((ours.text, ours.count), (theirs.text, theirs.count), code)

    def test_a_directory_that_is_not_there_is_refused_then(self):
        self.assertEqual(self.context.enter("/not/there")["op"], "refused")

    def test_it_ends_when_nobody_wants_it(self):
        pid = self.context.pid
        self.context.wire.socket.close()
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.01)


class Streams(InterpreterTest):
    def test_output_of_python_of_programs_and_of_descriptors_in_their_order(self):
        outcome = self.run_cell("import os, subprocess, sys\nprint('one')\nsubprocess.run(['echo', 'two'])\n"
                                "os.write(1, b'three\\n')\nprint('err', file=sys.stderr)\nprint('four', end='')")
        self.assertEqual(outcome.stdout, "one\ntwo\nthree\nfour")
        self.assertEqual(outcome.stderr, "err\n")

    def test_input_is_empty(self):
        self.assertEqual(self.run_cell("import sys; sys.stdin.read()").text, "''")
        self.assertEqual(self.context.run("input('name? ')").error["name"], "StdinNotImplementedError")
        self.assertIn("Return the number of items", self.run_cell("help(len)").stdout)

    def test_a_broken_stdout_does_not_break_the_context(self):
        for broken in ("sys.stdout = None", "sys.stdout = []", "del sys.stdout"):
            self.context.run("import sys; " + broken)
            self.assertEqual(self.run_cell("1 + 1").text, "2", broken)


class Magics(InterpreterTest):
    def test_commands_of_the_shell(self):
        self.assertEqual(self.run_cell("x = 5\n!echo value $x {x + 1} $HOME_OF_NOBODY\nif True:\n    !echo nested").stdout,
                         "value 5 6\nnested\n")
        self.assertEqual(self.run_cell("lines = !printf 'a\\nb\\n'\nlines").text, "['a', 'b']")
        self.assertEqual(self.run_cell("!exit 3\n_exit_code").text, "3")

    def test_what_looks_like_magic_in_python_is_python(self):
        code = "t = '''\n!echo no\n%pip no\n'''\nn = (7\n% 4)\nt.count('no'), n"
        self.assertEqual(self.run_cell(code).text, "(2, 3)")

    def test_quotes_in_a_command_are_the_shells(self):
        self.assertEqual(self.run_cell("""!echo "it's"\n!echo 'a (b'""").stdout, "it's\na (b\n")

    def test_known_and_unknown_magics(self):
        self.assertIn("pip ", self.run_cell("%pip --version").stdout)
        self.assertEqual(self.run_cell("%%bash\necho from bash").stdout, "from bash\n")
        self.run_cell("%matplotlib inline")
        self.assertEqual(self.run_cell("%%html\n<b>x</b>").results[0]["data"]["text/html"], "<b>x</b>")
        self.assertEqual(self.run_cell("%%capture kept\nprint('quiet')").stdout, "")
        self.assertEqual(self.run_cell("kept.stdout").text, r"'quiet\n'")
        self.assertEqual(self.run_cell("%%python3\nprint(6 * 7)").stdout, "42\n")
        self.assertIn("per loop", self.run_cell("%timeit -n1 -r1 1 + 1").stdout)
        self.assertIn("Return the number of items", self.run_cell("len?").stdout)
        self.assertEqual(self.run_cell("get_ipython().getoutput('echo asked')").text, "['asked']")
        self.assertEqual(self.context.run("%nonsense").error["value"], "Line magic function `%nonsense` not found.")
        self.assertEqual(self.context.run("1 +").error["name"], "SyntaxError")


class Results(InterpreterTest):
    def test_display_gives_further_results(self):
        outcome = self.run_cell("print('before')\ndisplay(1, 'two')\n3")
        self.assertEqual([(r["main"], r["data"]["text/plain"]) for r in outcome.results],
                         [(False, "1"), (False, "'two'"), (True, "3")])

    def test_what_is_displayed_with_an_id_has_a_handle(self):
        outcome = self.run_cell("from IPython.display import display, update_display\n"
                                "h = display('one', display_id=True)\nh.update('two')\n"
                                "update_display('three', display_id=h.display_id)\nh.display('four')\n"
                                "display('five', display_id='own').display_id")
        self.assertEqual([result["data"]["text/plain"] for result in outcome.results],
                         ["'one'", "'four'", "'five'", "'own'"])

    def test_every_representation_by_its_type(self):
        methods = {"html": "'<b>'", "markdown": "'*'", "svg": "'<svg/>'", "png": "b'png'", "jpeg": "b'jpg'", "pdf": "b'pdf'",
                   "latex": "'$x$'", "json": "{'a': [1, float('nan')]}", "javascript": "'alert()'"}
        body = "".join(f"  def _repr_{name}_(self): return {value}\n" for name, value in methods.items())
        data = self.run_cell(f"class Rich:\n{body}  def _repr_mimebundle_(self, include, exclude):\n"
                             "    return {'application/x-own': {'k': 1}}\nRich()").main
        self.assertEqual(data["text/html"], "<b>")
        self.assertEqual(base64.b64decode(data["image/png"]), b"png")
        self.assertEqual(data["application/json"], {"a": [1, None]})
        self.assertEqual(data["application/x-own"], {"k": 1})
        self.assertEqual(len(data), 11, data.keys())

    def test_what_is_imported_from_ipython_is_there_without_it(self):
        self.run_cell("from IPython.display import display, HTML, Markdown, JSON, Math, Image")
        outcome = self.run_cell("display(Markdown('*m*'), JSON({'a': 1}), Math('x'), Image(b'\\x89PNG'))\nHTML('<b>')")
        shown = [sorted(set(result["data"]) - {"text/plain"}) for result in outcome.results]
        self.assertEqual(shown, [["text/markdown"], ["application/json"], ["text/latex"], ["image/png"], ["text/html"]])
        self.assertEqual(outcome.text, "<IPython.core.display.HTML object>")

    def test_hostile_representations_hurt_nobody(self):
        self.run_cell("class Bad:\n  def _repr_html_(self): raise ValueError\n  def __getattr__(self, name): return lambda *a, **k: {}\n"
                      "  def __repr__(self): return 'bad'")
        self.assertEqual(self.run_cell("Bad()").main, {"text/plain": "bad"})
        self.assertEqual(self.run_cell("Bad").main.keys(), {"text/plain"})
        self.assertEqual(self.context.run("class Worse:\n  def __repr__(self): raise ValueError('no')\nWorse()").error["value"], "no")

    def test_large_and_odd_values(self):
        self.assertTrue(self.run_cell("list(range(5000))").text.endswith("..."+"]"))
        self.assertLess(len(self.run_cell("'x' * (64 << 20)").text), 8 << 20)
        self.assertEqual(self.run_cell("'\\ud800'").text, "'\\ud800'")
        self.assertEqual(self.run_cell("class H:\n  def _repr_html_(self): return '\\ud800'\nH()").main["text/html"], "?")
        self.assertIn("\n", self.run_cell("{i: 'x' * 20 for i in range(9)}").text)


class Failures(InterpreterTest):
    def test_a_traceback_has_the_cells_own_frames(self):
        self.run_cell("def f(x):\n    return 1 / x")
        error = self.context.run("a = 1\nf(0)").error
        self.assertEqual((error["name"], error["value"]), ("ZeroDivisionError", "division by zero"))
        lines = error["traceback"].split("\n")
        self.assertEqual(lines[0], "-" * 75)
        self.assertEqual(lines[1], "ZeroDivisionError" + " " * 25 + "Traceback (most recent call last)")
        self.assertIn("Cell In[2], line 2", lines)
        self.assertIn("----> 2 f(0)", lines)
        self.assertIn("Cell In[1], line 2, in f", lines)
        self.assertEqual(lines[-1], "ZeroDivisionError: division by zero")
        self.assertNotIn("belljar_interpreter", error["traceback"])

    def test_causes_and_syntax_errors(self):
        error = self.context.run("try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e").error
        self.assertIn("direct cause", error["traceback"])
        syntax = self.context.run("x = = 1").error
        self.assertEqual(syntax["name"], "SyntaxError")
        self.assertIn("Cell In[2], line 1", syntax["traceback"])

    def test_deep_recursion_is_short(self):
        error = self.context.run("def r(): r()\nr()").error
        self.assertEqual(error["name"], "RecursionError")
        self.assertIn("skipping", error["traceback"])

    def test_exit_is_an_error_and_the_context_lives(self):
        self.assertEqual(self.context.run("import sys; sys.exit(4)").error["name"], "SystemExit")
        self.assertEqual(self.run_cell("1").text, "1")

    def test_an_interrupt_ends_the_cell_and_nothing_else(self):
        self.run_cell("kept = 1")
        for code in ("print('on', flush=True)\nwhile True: pass", "import time\nprint('on', flush=True)\ntime.sleep(600)",
                     "import asyncio\nprint('on', flush=True)\nawait asyncio.sleep(600)", "!echo on; sleep 600"):
            outcome = self.context.run(code, interrupt_when="on")
            self.assertEqual(outcome.error["name"], "KeyboardInterrupt", code)
        self.assertEqual(self.run_cell("kept").text, "1")

    def test_an_interrupt_that_meets_a_result_on_its_way_waits_for_its_end(self):
        self.run_cell("kept = 1")
        wire = self.context.wire
        wire.send({"op": "execute", "nonce": "large", "code": "for _ in range(9): display('x' * 4000000)", "env": {}})
        self.assertEqual(wire.receive()["op"], "count")
        size = int.from_bytes(wire._take(5)[:4], "little")  # more than a socket holds: it is in the middle of a frame
        os.kill(self.context.pid, signal.SIGINT)
        self.assertEqual(json.loads(wire._take(size))["op"], "result")
        self.assertEqual(wire.receive()["name"], "KeyboardInterrupt")
        self.assertEqual(wire.receive()["op"], "done")
        self.assertEqual(self.run_cell("kept").text, "1")

    def test_an_interrupt_that_comes_before_the_code_begins_is_not_lost(self):
        # A file that a cell's first moments open holds it there.
        self.run_cell("import os, site\nos.mkfifo('gate')\nheld = site.getusersitepackages\n"
                      "def hold():\n    open('gate').close()\n    return held()\nsite.getusersitepackages = hold")
        self.context.wire.send({"op": "execute", "nonce": "early", "code": "while True: pass", "env": {}})
        self.assertEqual(self.context.wire.receive()["op"], "count")
        os.kill(self.context.pid, signal.SIGINT)
        open(self.folder.name + "/gate", "w").close()
        self.assertEqual(self.context.wire.receive()["name"], "KeyboardInterrupt")
        self.assertEqual(self.context.wire.receive()["op"], "done")
        os.unlink(self.folder.name + "/gate")

    def test_what_a_handler_raises_between_cells_hurts_nobody(self):
        self.run_cell("import os, signal\nkept = 1\ndef late(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, late)")
        os.kill(self.context.pid, signal.SIGALRM)
        self.assertEqual(self.run_cell("kept").text, "1")


class Checkpoints(InterpreterTest):
    def checkpoint(self):
        made = self.context.checkpoint()
        self.assertNotIsInstance(made, str)
        return made

    def test_back_to_any_and_again(self):
        self.run_cell("x = [1]")
        first = self.checkpoint()
        self.run_cell("x.append(2)")
        second = self.checkpoint()
        self.run_cell("x.append(3); y = 1")
        self.context.roll_back(first)
        self.assertEqual(self.run_cell("x").text, "[1]")
        self.context.roll_back(second)
        self.assertEqual(self.run_cell("x").text, "[1, 2]")
        self.assertEqual(self.context.run("y").error["name"], "NameError")
        self.context.roll_back(first)
        outcome = self.run_cell("print('out')\nx")
        self.assertEqual((outcome.text, outcome.stdout, outcome.count), ("[1]", "out\n", 2))

    def test_offsets_of_files_are_put_back(self):
        path = os.path.join(self.folder.name, "letters")
        with open(path, "w") as file:
            file.write("abcdefgh")
        self.run_cell(f"f = open({path!r}, 'rb', buffering=0); f.read(2)")
        made = self.checkpoint()
        self.assertEqual(self.run_cell("f.read(3)").text, "b'cde'")
        self.context.roll_back(made)
        self.assertEqual(self.run_cell("f.read(3)").text, "b'cde'")

    def test_a_checkpoint_holds_no_connection_open(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.run_cell(f"import socket; s = socket.create_connection(('127.0.0.1', {listener.getsockname()[1]}))")
        peer, _ = listener.accept()
        peer.settimeout(60)
        made = self.checkpoint()
        self.run_cell("s.close()")
        self.assertEqual(peer.recv(1), b"")
        self.context.roll_back(made)
        self.assertEqual(self.run_cell("s.recv(1)").text, "b''")

    def test_threads_and_pending_tasks_are_refused(self):
        self.run_cell("import threading; e = threading.Event(); t = threading.Thread(target=e.wait); t.start()")
        self.assertIn("threads", self.context.checkpoint())
        self.run_cell("e.set(); t.join()")
        self.checkpoint()
        self.run_cell("import asyncio; task = None\nasync def go():\n  global task\n  task = asyncio.create_task(asyncio.sleep(9))\nawait go()")
        self.assertIn("pending", self.context.checkpoint())

    def test_await_and_interrupt_work_after_a_rollback(self):
        self.run_cell("import asyncio; await asyncio.sleep(0)")
        self.context.roll_back(self.checkpoint())
        self.assertEqual(self.run_cell("await asyncio.sleep(0, 5)").text, "5")
        outcome = self.context.run("print('on')\nwhile True: pass", interrupt_when="on")
        self.assertEqual(outcome.error["name"], "KeyboardInterrupt")

    def test_a_checkpoint_ends_when_it_is_let_go(self):
        made = self.checkpoint()
        made.socket.shutdown(socket.SHUT_WR)
        with self.assertRaises(Gone):
            made.receive()


@unittest.skipUnless(importlib.util.find_spec("matplotlib") and importlib.util.find_spec("pandas"),
                     "matplotlib and pandas are not installed for " + sys.executable)
class Science(InterpreterTest):
    CHART, DATA = "application/vnd.belljar.chart+json", "application/vnd.belljar.data+json"

    def figure(self, code):
        outcome = self.run_cell("import matplotlib.pyplot as plt\n" + code)
        shown = [result["data"] for result in outcome.results if "image/png" in result["data"]]
        self.assertEqual(len(shown), 1, outcome.results)
        self.assertTrue(base64.b64decode(shown[0]["image/png"]).startswith(b"\x89PNG"))
        self.assertEqual(outcome.stderr, "")
        return shown[0].get(self.CHART)

    def test_a_table_has_html_and_its_columns(self):
        data = self.run_cell("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', None], 'd': pd.to_datetime(['2024-01-02', None])})").main
        self.assertIn("<table", data["text/html"])
        self.assertEqual(data[self.DATA], {"a": [1, 2], "b": ["x", None], "d": ["2024-01-02T00:00:00", None]})

    def test_lines(self):
        chart = self.figure("plt.plot([1, 2, 3], [4, 5, 6], label='up')\nplt.xlabel('Time (s)'); plt.ylabel('Size [m]'); plt.title('T')\nplt.show()")
        self.assertEqual((chart["type"], chart["title"], chart["x_label"], chart["x_unit"], chart["y_unit"], chart["x_scale"]),
                         ("line", "T", "Time (s)", "s", "m", "linear"))
        self.assertEqual(chart["elements"], [{"label": "up", "points": [[1, 4], [2, 5], [3, 6]]}])
        self.assertEqual(len(chart["x_ticks"]), len(chart["x_tick_labels"]))

    def test_an_open_figure_is_shown_at_the_end_of_its_cell_once(self):
        self.figure("fig, ax = plt.subplots()\nax.plot([1], [1])\nNone")
        self.assertEqual(self.run_cell("1").results[0]["data"]["text/plain"], "1")

    def test_figures_are_shown_where_a_template_names_the_backend_without_a_display(self):
        zygote = Zygote(env={"MPLBACKEND": "agg"})
        self.context = zygote.context()
        self.figure("plt.plot([1, 2])\nplt.show()")
        zygote.end()

    def test_dates_and_scales(self):
        chart = self.figure("import datetime as d\nplt.plot([d.date(2024, 1, i) for i in range(1, 4)], [1, 10, 100]); plt.yscale('log')")
        self.assertEqual((chart["x_scale"], chart["y_scale"]), ("datetime", "log"))
        self.assertEqual(chart["elements"][0]["points"][0], ["2024-01-01", 1])

    def test_points_bars_wedges_boxes_and_several(self):
        chart = self.figure("plt.scatter([1, 2], [3, 4], label='dots')")
        self.assertEqual((chart["type"], chart["elements"]), ("scatter", [{"label": "dots", "points": [[1, 3], [2, 4]]}]))
        chart = self.figure("plt.bar(['a', 'b'], [3, 5]); plt.xlabel('name'); plt.ylabel('n')")
        self.assertEqual(chart["elements"], [{"label": "a", "group": "Group 0", "value": 3}, {"label": "b", "group": "Group 0", "value": 5}])
        self.assertEqual((chart["type"], chart["x_label"], chart["y_label"]), ("bar", "name", "n"))
        chart = self.figure("plt.barh(['a', 'b'], [3, 5]); plt.xlabel('n'); plt.ylabel('name')")
        self.assertEqual(([e["value"] for e in chart["elements"]], chart["x_label"]), ([3, 5], "name"))
        chart = self.figure("plt.pie([1, 3], labels=['q', 'r'])")
        self.assertEqual(chart["elements"], [{"label": "q", "angle": 90, "radius": 1}, {"label": "r", "angle": 270, "radius": 1}])
        chart = self.figure("_ = plt.boxplot([[1, 2, 3, 4, 5, 20], [2, 3, 4]], tick_labels=['m', 'n'], patch_artist=True)")
        self.assertEqual(chart["type"], "box_and_whisker")
        self.assertEqual(chart["elements"][1], {"label": "n", "min": 2, "first_quartile": 2.5, "median": 3, "third_quartile": 3.5, "max": 4, "outliers": []})
        self.assertEqual(chart["elements"][0]["outliers"], [20])
        chart = self.figure("f, (a, b) = plt.subplots(1, 2); a.plot([1], [2]); b.bar(['z'], [1]); f.suptitle('both')")
        self.assertEqual((chart["type"], chart["title"], [c["type"] for c in chart["elements"]]), ("superchart", "both", ["line", "bar"]))

    def test_a_checkpoint_with_numpy_loaded(self):
        self.run_cell("import numpy as np; a = np.ones((300, 300)); b = a @ a; v = 1")
        made = self.context.checkpoint()
        self.assertNotIsInstance(made, str)
        self.run_cell("v = 2; c = a @ a")
        self.context.roll_back(made)
        self.assertEqual(self.run_cell("v, float((a @ a)[0, 0])").text, "(1, 300.0)")


if __name__ == "__main__":
    unittest.main()
