"""Contexts of a sandbox: state, streams, results, interrupts, checkpoints, and what hostile code in them can't do."""

import base64
import json
import subprocess
import threading
import time
import unittest

from sandbox_story import SandboxStory
from story import BELLJAR, until


class InterpreterStory(SandboxStory):
    def setUp(self):
        self.sandbox = self.create(timeout=300)

    def place(self, context=None):
        return f"/v1/sandboxes/{self.sandbox}" + (f"/contexts/{context}" if context else "")

    def context(self, **fields):
        return self.api("POST", self.place() + "/contexts", fields)["id"]

    def execute(self, code, context=None, expect=200, **fields):
        return self.api("POST", self.place(context) + "/execute", {"code": code, **fields}, expect=expect)

    def text(self, code, context=None, **fields):
        done = self.execute(code, context, **fields)
        self.assertIsNone(done["error"], done)
        main = [result["text"] for result in done["results"] if result["main"]]
        return main[0] if main else None

    def error(self, code, context=None, **fields):
        return self.execute(code, context, **fields)["error"]

    def stream(self, code, context=None, **fields):
        return self.events("POST", self.place(context) + "/execute", {"code": code, **fields})


class Contexts(InterpreterStory):
    def test_state_stays_in_a_context_and_only_there(self):
        self.assertIsNone(self.text("x = 40"))
        self.assertEqual(self.text("x + 2"), "42")
        other = self.context()
        self.assertEqual(self.error("x", other)["name"], "NameError")
        self.assertEqual(self.text("x = 'other'; x", other), "'other'")
        self.assertEqual(self.text("x"), "40")
        listed = self.api("GET", self.place() + "/contexts")
        self.assertEqual({c["language"] for c in listed} & {"python", "javascript"}, {"python", "javascript"})
        self.api("DELETE", self.place(other), expect=204)
        self.execute("1", other, expect=404)

    def test_javascript_typescript_and_bash(self):
        self.assertEqual(self.text("const a = 1; const b = await Promise.resolve(2); a + b", language="js"), "3")
        self.assertEqual(self.text("const a = 5; a + b", language="javascript"), "7")
        self.assertEqual(self.text("const n: number = 4; n as number", language="ts"), "4")
        done = self.execute("console.log('out'); throw new TypeError('bad')", language="js")
        self.assertEqual((done["stdout"], done["error"]["name"], done["error"]["value"]), ("out\n", "TypeError", "bad"))
        self.execute("cd /tmp; v=7; f() { echo got $1; }", language="bash")
        done = self.execute("pwd; f $v; echo oops >&2; false", language="bash")
        self.assertEqual((done["stdout"], done["stderr"], done["error"]["value"]), ("/tmp\ngot 7\n", "oops\n", "1"))
        self.assertIn("python, javascript", self.execute("1", language="r", expect=400)["detail"])

    def test_variables_directories_and_the_user(self):
        self.assertEqual(self.text("import os; os.environ['Q']", env={"Q": "once"}), "'once'")
        self.assertEqual(self.text("os.environ.get('Q'), os.getuid(), os.getcwd()"), "(None, 1000, '/home/user')")
        self.assertEqual(self.text("import os; os.getcwd()", self.context(cwd="/tmp")), "'/tmp'")
        self.assertIn("No such file", self.api("POST", self.place() + "/contexts", {"cwd": "/not/there"}, expect=400)["detail"])
        self.execute("1", env={"a b": "c"}, expect=400)

    def test_the_next_context_is_made_ahead_and_like_any_other(self):
        self.context(), self.context()
        count = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'interpreter[.]py 3' | wc -l"
        until(lambda: self.output(self.sandbox, count).strip() == "4")  # the interpreter, two contexts, the next one
        self.assertEqual(self.text("import os; os.getcwd()", self.context(cwd="/tmp")), "'/tmp'")
        until(lambda: self.output(self.sandbox, count).strip() == "5")
        self.api("POST", self.place() + "/contexts", {"cwd": "/not/there"}, expect=400)
        self.output(self.sandbox, "pkill -9 -f 'interpreter[.]py'; true")
        self.assertEqual(self.text("6 * 7", self.context()), "42")

    def test_output_comes_as_it_is_written(self):
        connection, events = self.stream("import sys\nprint('first')\nprint('é' * 3, file=sys.stderr)\n"
                                         "import os; os.system('echo second')\ndisplay('shown')\n3")
        got = list(events)
        connection.close()
        self.assertEqual(got[0][0], "start")
        self.assertEqual("".join(d["text"] for n, d in got if n == "stdout"), "first\nsecond\n")
        self.assertEqual("".join(d["text"] for n, d in got if n == "stderr"), "ééé\n")
        self.assertEqual([(d["main"], d["text"]) for n, d in got if n == "result"], [(False, "'shown'"), (True, "3")])
        self.assertEqual((got[-1][0], got[-1][1]["error"]), ("end", None))

    def test_contexts_run_at_once_and_executions_in_one_wait_for_each_other(self):
        first, second = self.context(), self.context()
        connection, events = self.stream("import os\nos.mkfifo('/tmp/f')\nprint('on')\nopen('/tmp/f').read()", first)
        self.assertEqual([next(events)[0], next(events)[1]["text"]], ["start", "on\n"])
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(self.text("'after'", first)))
        waiting.start()
        self.assertEqual(self.text("open('/tmp/f', 'w').write('x' * 3)", second), "3")
        waiting.join()
        self.assertEqual([d["text"] for n, d in events if n == "result"], ["'xxx'"])
        self.assertEqual(answers, ["'after'"])
        connection.close()

    def test_receipts_without_the_code(self):
        self.execute("secret_word = 1")
        found = [one for one in self.audit(action="sandbox.execute") if one["subject"] == self.sandbox]
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["detail"]["language"], "python")
        self.assertNotIn("secret_word", json.dumps(found))

    def test_another_organization_finds_nothing(self):
        context = self.context()
        made = self.belljar("key", "create", "--organization", "other", "--json")
        if made.returncode != 0:
            self.skipTest(made.stderr.decode())
        other = json.loads(made.stdout)["key"]
        for method, path in (("GET", self.place() + "/contexts"), ("GET", self.place(context)), ("DELETE", self.place(context)),
                             ("POST", self.place(context) + "/restart"), ("POST", self.place(context) + "/interrupt"),
                             ("POST", self.place(context) + "/checkpoints"), ("GET", self.place(context) + "/checkpoints")):
            self.api(method, path, expect=404, key=other)
        self.api("POST", self.place(context) + "/execute", {"code": "1"}, expect=404, key=other)

    def test_the_command(self):
        def code(*words, **more):
            return subprocess.run([BELLJAR, "sandbox", "code", "--server", self.server.url, self.sandbox, *words],
                                  env={"BELLJAR_API_KEY": self.server.key, "BELLJAR_DATA": self.data, "HOME": self.scratch,
                                       "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, **more)
        self.assertEqual(code("-c", "x = 6\nprint('out')").stdout, "out\n")
        done = code("-c", "x * 7")
        self.assertEqual((done.returncode, done.stdout), (0, "42\n"), done.stderr)
        done = code("-", input="1/0")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("ZeroDivisionError: division by zero", done.stderr)
        done = code(self.write("cell.js", "[1, 2].map(n => n * 2)"))
        self.assertEqual(done.stdout, "[ 2, 4 ]\n", done.stderr)
        self.assertEqual(json.loads(code("--json", "-c", "x").stdout)["results"][0]["text"], "6")
        self.assertEqual(code("--timeout", "1s", "-c", "while True: pass").returncode, 124)


class Ends(InterpreterStory):
    def test_an_interrupt_ends_the_code_and_keeps_the_state(self):
        for language, code in (("python", "kept = 1\nprint('on')\nwhile True: pass"), ("js", "kept = 1; console.log('on'); while (true) {}"),
                               ("js", "kept = 1; console.log('on'); await new Promise(() => {})"),
                               ("bash", "kept=1; echo on; while true; do sleep 1; done")):
            context = self.context(language=language)
            connection, events = self.stream(code, context, timeout=0)
            self.assertEqual([next(events)[0], next(events)[1]["text"]], ["start", "on\n"])
            self.api("POST", self.place(context) + "/interrupt", expect=204)
            end = dict(events)["end"]
            connection.close()
            self.assertIn(end["error"]["name"], ("KeyboardInterrupt", "ExitStatus"), (language, end))
            again = self.execute("echo $kept" if language == "bash" else "kept", context)
            self.assertIn("1", again["stdout"] + "".join(r["text"] for r in again["results"]))

    def test_an_interrupt_that_comes_before_the_code_begins_ends_it(self):
        for language, its_pid, code, name in (("python", "kept = 1; import os; print(os.getpid())", "while True: pass", "KeyboardInterrupt"),
                                              ("js", "var kept = 1; console.log(process.pid)", "for (;;);", "KeyboardInterrupt"),
                                              ("bash", "kept=1; echo $$", "while :; do :; done", "ExitStatus")):
            context = self.context(language=language)
            pid = self.execute(its_pid, context)["stdout"].strip()
            self.output(self.sandbox, f"kill -STOP {pid}")  # it has not heard of the code when the interrupt comes
            connection, events = self.stream(code, context, timeout=0)
            until(lambda: self.api("GET", self.place(context))["running"])
            self.api("POST", self.place(context) + "/interrupt", expect=204)
            self.output(self.sandbox, f"kill -CONT {pid}")
            self.assertEqual(dict(events)["end"]["error"]["name"], name, language)
            connection.close()
            self.assertIn("1", self.execute("echo $kept" if language == "bash" else "console.log(kept)" if language == "js" else "print(kept)",
                                            context)["stdout"], language)

    def test_an_interrupt_that_comes_before_there_is_a_process_waits(self):
        context = self.context(language="bash")
        for _ in range(10):
            self.assertEqual(self.execute("kill -9 $$", context)["error"]["name"], "ContextDied")
            connection, events = self.stream("while :; do :; done", context, timeout=0)
            self.assertEqual(next(events)[0], "start")
            self.api("POST", self.place(context) + "/interrupt", expect=204)
            self.assertEqual(dict(events)["end"]["error"]["name"], "ExitStatus")
            connection.close()

    def test_time_in_which_the_sandbox_is_paused_does_not_count(self):
        connection, events = self.stream("import time\nprint('on')\nfor _ in range(16): time.sleep(0.1)\n'whole'", timeout=4)
        said = []
        for name, data in events:
            said.append((name, data))
            if name == "stdout":
                self.api("POST", self.place() + "/pause", {})
                time.sleep(4.5)  # longer than the code has
                self.api("POST", self.place() + "/resume", {})
        connection.close()
        self.assertIn("'whole'", [data.get("text") for name, data in said if name == "result"], said)

    def test_time_that_is_over(self):
        self.execute("kept = 1")
        done = self.execute("while True: pass", timeout=1)
        self.assertEqual((done["timed_out"], done["error"]["name"]), (True, "KeyboardInterrupt"))
        self.assertEqual(self.text("kept"), "1")
        stubborn = self.execute("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", timeout=1)
        self.assertEqual((stubborn["timed_out"], stubborn["error"]["name"]), (True, "ContextDied"))
        after = self.execute("kept")
        self.assertEqual((after["restarted"], after["error"]["name"]), (True, "NameError"))

    def test_a_client_who_leaves_ends_his_code(self):
        self.execute("kept = 1")
        connection, events = self.stream("import time\nprint('on')\ntime.sleep(600)", timeout=0)
        self.assertEqual([next(events)[0], next(events)[1]["text"]], ["start", "on\n"])
        connection.sock.close() if connection.sock else None
        events.close()
        connection.close()
        self.assertEqual(self.text("kept"), "1")

    def test_restart_forgets(self):
        context = self.context()
        self.execute("x = 1", context)
        self.assertEqual(self.api("POST", self.place(context) + "/restart")["executions"], 0)
        done = self.execute("x", context)
        self.assertEqual((done["error"]["name"], done["count"], done["restarted"]), ("NameError", 1, False))

    def test_a_context_ends_with_its_sandbox(self):
        connection, events = self.stream("print('on')\nwhile True: pass", timeout=0)
        self.assertEqual([next(events)[0], next(events)[1]["text"]], ["start", "on\n"])
        self.api("DELETE", self.place(), expect=204)
        self.assertIn("error", [name for name, _ in events])
        connection.close()


class Checkpoints(InterpreterStory):
    def checkpoint(self, context, expect=200):
        return self.api("POST", self.place(context) + "/checkpoints", expect=expect)

    def roll_back(self, context, checkpoint, expect=200):
        return self.api("POST", self.place(context) + "/rollback", {"checkpoint_id": checkpoint["id"]}, expect=expect)

    def test_back_to_any_checkpoint_and_again(self):
        context = self.context()
        self.execute("x = [1]", context)
        first = self.checkpoint(context)
        self.execute("x.append(2)", context)
        second = self.checkpoint(context)
        self.execute("x.append(3)", context)
        self.assertEqual([one["id"] for one in self.api("GET", self.place(context) + "/checkpoints")], [first["id"], second["id"]])
        for checkpoint, expected in ((first, "[1]"), (second, "[1, 2]"), (first, "[1]")):
            self.roll_back(context, checkpoint)
            done = self.execute("print('out')\nx", context)
            self.assertEqual((done["results"][0]["text"], done["stdout"]), (expected, "out\n"))
        self.assertEqual(self.execute("1", context)["count"], 3)
        self.api("DELETE", self.place(context) + "/checkpoints/" + first["id"], expect=204)
        self.roll_back(context, first, expect=404)

    def test_what_cant_be_checkpointed_says_why(self):
        context = self.context()
        self.execute("import threading; e = threading.Event(); threading.Thread(target=e.wait).start()", context)
        self.assertIn("threads", self.checkpoint(context, expect=409)["detail"])
        javascript = self.context(language="js")
        self.assertIn("only Python", self.checkpoint(javascript, expect=400)["detail"])

    def test_a_context_that_died_can_be_rolled_back(self):
        context = self.context()
        self.execute("x = 5", context)
        made = self.checkpoint(context)
        self.assertEqual(self.error("import os; os._exit(1)", context)["name"], "ContextDied")
        self.roll_back(context, made)
        self.assertEqual(self.text("x", context), "5")

    def test_their_number_is_bounded(self):
        context = self.context()
        self.execute("1", context)
        for _ in range(16):
            self.checkpoint(context)
        self.assertIn("16", self.checkpoint(context, expect=409)["detail"])


class Hostile(InterpreterStory):
    CHANNEL = ("import gc, socket\nfrom belljar_interpreter.channel import Channel\n"
               "channel = next(o for o in gc.get_objects() if isinstance(o, Channel))\n")

    def test_forged_messages_hurt_only_their_own_context(self):
        for forged in ("b'\\xff\\xff\\xff\\x7fJ'", "b'\\x02\\0\\0\\0J[]'", "b'\\x01\\0\\0\\0Zx'",
                       "b'\\x00\\x10\\x00\\x00J' + b'[' * 4096"):
            context = self.context()
            done = self.execute(self.CHANNEL + f"channel._socket.sendall({forged})\nimport time; time.sleep(600)", context)
            self.assertEqual(done["error"]["name"], "ContextDied", forged)
            self.assertEqual(self.text("1", context), "1")
        self.assertEqual(self.text("2"), "2")

    def test_messages_of_no_execution_are_ignored(self):
        done = self.execute(self.CHANNEL + "channel.send({'op': 'done', 'nonce': 'guess'})\n"
                            "channel.send({'op': 'result', 'nonce': 'guess', 'main': True, 'data': {'text/plain': 'forged'}})\n1")
        self.assertEqual([result["text"] for result in done["results"]], ["1"])

    def test_a_context_that_closes_its_channel(self):
        context = self.context()
        done = self.execute(self.CHANNEL + "channel._socket.shutdown(2)\nimport time; time.sleep(600)", context)
        self.assertEqual(done["error"]["name"], "ContextDied")
        self.assertEqual(self.text("1", context), "1")

    def test_a_gigabyte_of_output(self):
        done = self.execute("import os\nfor _ in range(1024): os.write(1, b'x' * (1 << 20))\n'end'", timeout=0)
        self.assertEqual(done["results"][0]["text"], "'end'")
        self.assertEqual(len(done["stdout"]) + done["stdout_dropped"], 1 << 30)

    def test_results_without_end_are_bounded(self):
        done = self.execute("for _ in range(20): display('x' * (4 << 20))\n1")
        self.assertGreater(done["results_dropped"], 0)

    def test_output_that_goes_on_behind_a_cell_does_not_hold_it_up(self):
        self.assertEqual(self.text("import subprocess; p = subprocess.Popen(['yes']); 1"), "1")
        self.assertEqual(self.text("2"), "2")
        self.execute("p.kill()")

    def test_a_killed_zygote_is_replaced(self):
        self.execute("x = 1")
        self.run_in(self.sandbox, "pkill -9 -f 'interpreter[.]py'; true")
        self.assertEqual(self.text("1", self.context()), "1")

    def test_a_stopped_context_is_ended_when_its_time_is_over(self):
        done = self.execute("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", timeout=1)
        self.assertEqual((done["timed_out"], done["error"]["name"]), (True, "ContextDied"))

    def test_a_crash_with_a_forked_child_that_holds_the_channel(self):
        done = self.execute("import os, time\nif os.fork() == 0: time.sleep(600)\nos.kill(os.getpid(), 11)", timeout=0)
        self.assertEqual(done["error"]["name"], "ContextDied")

    def test_too_much_memory(self):
        sandbox, self.sandbox = self.sandbox, self.create(limits={"memory_bytes": 256 << 20})
        done = self.execute("x = bytearray(1 << 30)\nx[::4096] = b'x' * len(x[::4096])")
        self.assertIn(done["error"]["name"], ("ContextDied", "MemoryError"))
        self.assertEqual(self.text("1"), "1")
        self.sandbox = sandbox


class Science(InterpreterStory):
    """With matplotlib and pandas as users have them: installed into the sandbox's user's own folder."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packages = cls.scratch + "/packages"
        done = subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--target", cls.packages, "matplotlib", "pandas"],
                              capture_output=True, text=True)
        cls.why_not = done.stderr.strip()[-300:] if done.returncode != 0 else None
        if cls.why_not is None:
            subprocess.run(["tar", "-C", cls.packages, "-cf", cls.scratch + "/packages.tar", "."], check=True)

    def setUp(self):
        if self.why_not:
            self.skipTest("matplotlib and pandas could not be installed: " + self.why_not)
        self.sandbox = self.create(timeout=600, limits={"disk_bytes": 2 << 30, "memory_bytes": 3 << 30})
        with open(self.scratch + "/packages.tar", "rb") as file:
            self.put(self.sandbox, "/home/user/packages.tar", file.read())
        self.output(self.sandbox, "d=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p $d; tar -C $d -xf packages.tar", timeout=120)

    def test_tables_figures_and_charts(self):
        done = self.execute("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})", timeout=120)
        self.assertIsNone(done["error"], done)
        self.assertEqual(done["results"][0]["data"], {"a": [1, 2], "b": ["x", "y"]})
        self.assertIn("<table", done["results"][0]["html"])
        done = self.execute("import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4], label='l')\nplt.title('t')\nplt.show()", timeout=120)
        self.assertIsNone(done["error"], done)
        shown = [result for result in done["results"] if "png" in result][0]
        self.assertTrue(base64.b64decode(shown["png"]).startswith(b"\x89PNG"))
        self.assertEqual((shown["chart"]["type"], shown["chart"]["title"], shown["chart"]["elements"]),
                         ("line", "t", [{"label": "l", "points": [[1, 3], [2, 4]]}]))


if __name__ == "__main__":
    unittest.main()
