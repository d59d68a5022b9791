"""The tool service from the command line: tools, keys, calls, secrets, environments and settings, beside a server and without."""

import contextlib
import json
import os
import pty
import subprocess
import unittest

from package_index import PackageIndex
from server_story import ServerStory
from story import BELLJAR, Story

ROLL = '''
def roll(sides: int, times: int = 1) -> dict:
    """Roll dice.

    Args:
        sides (int): How many sides a die has.
        times (int): How often to roll.
    """
    import os
    return {"rolls": [sides] * times, "luck": os.environ.get("LUCK")}
'''
GREET = '''
/**
 * Greets.
 * @param name who
 */
export function greet(name: string): string {
  return "hello " + name;
}
'''
SCHEMA = {"name": "bare", "description": "Bare.", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}


class Commands:
    """How the classes below give commands."""

    def json_of(self, *arguments, status=0, **more):
        done = self.belljar(*arguments, "--json", **more)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return json.loads(done.stdout)

    def ok(self, *arguments):
        done = self.belljar(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def add(self, name, source, *flags):
        return self.json_of("tool", "add", self.write(name, source), *flags)

    def add_function(self, name, body, *flags):
        return self.add(name + ".py", f'def {name}():\n    """Does."""\n    {body}\n', *flags)

    def on_terminal(self, *arguments):
        """What a command writes if its output is a terminal."""
        ours, theirs = pty.openpty()
        self.belljar(*arguments, to=theirs)
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError), open(ours, "rb", buffering=0) as file:  # an error: nobody writes any more
            while piece := file.read(65536):
                text += piece
        return text.decode()


class Service(Commands):
    """What works beside a server and without one."""

    def test_a_python_tool_is_added_listed_run_and_removed(self):
        tool = self.add("roll.py", ROLL, "--tag", "games", "--description", "Dice.")
        self.assertEqual((tool["name"], tool["tags"], tool["description"]), ("roll", ["games"], "Dice."))
        self.assertEqual(self.add("roll.py", ROLL)["id"], tool["id"])
        self.assertIn("roll", self.ok("tool", "list"))
        self.assertEqual([t["id"] for t in self.json_of("tool", "list", "--search", "ROL")], [tool["id"]])
        ran = self.json_of("tool", "run", "roll", "--args", '{"sides": 6, "times": 2}', "--env", "LUCK=good")
        self.assertEqual((ran["status"], ran["return"], ran["provider"]),
                         ("ok", {"rolls": [6, 6], "luck": "good"}, "local"))
        self.assertEqual(json.loads(self.ok("tool", "run", tool["id"], "--args", '{"sides": 4}'))["rolls"], [4])
        self.assertIn(ran["call_id"], [call["id"] for call in self.json_of("calls", "--tool", "roll", "--status", "ok")])
        self.assertIn("roll", self.ok("calls"))
        self.assertEqual(self.json_of("tool", "rm", "roll"), {"removed": tool["id"]})
        self.assert_one_sentence(self.belljar("tool", "rm", "roll"), 2, '"roll"', "belljar tool list")

    def test_a_typescript_tool(self):
        tool = self.add("greet.ts", GREET)
        self.assertEqual((tool["name"], tool["source_type"]), ("greet", "typescript"))
        self.assertEqual(self.ok("tool", "run", "greet", "--args", '{"name": "Ada"}').strip(), '"hello Ada"')

    def test_a_schema_may_be_given(self):
        source = "def bare(x):\n    return x + 1\n"
        self.assert_one_sentence(self.belljar("tool", "add", self.write("bare.py", source)), 2)
        tool = self.add("bare.py", source, "--schema", json.dumps(SCHEMA))
        self.assertEqual((tool["name"], tool["json_schema"]["parameters"]), ("bare", SCHEMA["parameters"]))
        schema = self.write("schema.json", json.dumps(SCHEMA))
        self.assertEqual(self.add("bare.py", source, "--schema", "@" + schema)["id"], tool["id"])
        self.assertEqual(self.json_of("tool", "run", "bare", "-a", '{"x": 1}')["return"], 2)

    def test_wrong_files_and_words_are_one_sentence(self):
        for arguments, words in (
            (["tool", "add", "/no/such.py"], ["/no/such.py"]),
            (["tool", "add", self.write("tool.rb", "x")], ["tool.rb"]),
            (["tool", "add", self.write("broken.py", "def broken(:\n")], ["syntax"]),
            (["tool", "add", self.write("none.py", "x = 1\n")], ["function"]),
            (["tool", "add", self.write("bytes.py", b"\xff\xfe")], ["UTF-8"]),
            (["tool", "add", self.write("roll.py", ROLL), "--schema", "{"], ["JSON"]),
            (["tool", "add", self.write("roll.py", ROLL), "--pip", "--index-url=http://x"], []),
            (["tool", "run", "no_such_tool"], ["no_such_tool", "belljar tool list"]),
            (["tool", "run", "roll", "--args", "[]"], ["object"]),
            (["tool", "frobnicate"], ["frobnicate"]),
            (["tool", "run"], ["required"]),
            (["key", "create", "--role", "emperor"], ["emperor"]),
            (["key", "revoke", "key-00000000-0000-4000-8000-000000000009"], ["belljar key list"]),
            (["calls", "--limit", "0"], ["limit"]),
            (["calls", "--status", "splendid"], ["splendid"]),
            (["env", "prune"], ["--all"]),
            (["env", "prune", "--unused", "often"], ["--unused"]),
        ):
            with self.subTest(" ".join(map(str, arguments))):
                self.assert_one_sentence(self.belljar(*arguments), 2, *words)

    def test_exit_statuses_tell_what_happened(self):
        self.add_function("fails", "raise ValueError('no')")
        self.add_function("sleeps", "import time; time.sleep(60)")
        done = self.belljar("tool", "run", "fails")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"ValueError: no", done.stderr)
        self.assertEqual(self.json_of("tool", "run", "fails", status=1)["status"], "error")
        self.assertEqual(self.json_of("tool", "run", "sleeps", "--timeout", "1", status=124)["status"], "timeout")
        self.assert_one_sentence(self.belljar("tool", "list", env={"BELLJAR_DATABASE": "postgresql://u:hunter2@/x?host=/nowhere"}), 3)

    def test_an_agent_that_does_not_exist_is_said(self):
        self.add_function("plain", "return 1")
        self.assert_one_sentence(
            self.belljar("tool", "run", "plain", "--agent", "agent-00000000-0000-4000-8000-000000000001"), 2, "agent-0000")

    def test_keys_are_shown_once_listed_and_revoked(self):
        made = self.json_of("key", "create", "--name", "ci", "--role", "read-only", "--organization", "research")
        self.assertRegex(made["key"], "^e2b_[0-9a-f]{40}$")
        self.assertEqual((made["name"], made["role"], made["organization"]), ("ci", "read-only", "research"))
        self.assertRegex(self.ok("key", "create").strip(), "^e2b_[0-9a-f]{40}$")
        listed = {key["id"]: key for key in self.json_of("key", "list")}
        self.assertEqual((listed[made["id"]]["role"], listed[made["id"]]["revoked_at"]), ("read-only", None))
        self.assertNotIn(made["key"], json.dumps(listed) + self.ok("key", "list"))
        self.assertEqual(self.json_of("key", "revoke", made["id"]), {"revoked": made["id"]})
        listed = {key["id"]: key for key in self.json_of("key", "list")}
        self.assertIsNotNone(listed[made["id"]]["revoked_at"])
        self.assertIn("revoked", self.ok("key", "list"))

    def test_secrets_are_rotated_and_stay_readable(self):
        self.assertGreaterEqual(self.json_of("secrets", "rotate")["rewritten"], 0)
        self.assertIn("encrypted", self.ok("secrets", "rotate"))

    def test_a_key_of_the_environment_is_changed_for_another(self):
        data = os.path.join(self.scratch, "other-data")
        def run(*words, **env):
            return subprocess.run([BELLJAR, *words], env={"BELLJAR_DATA": data, "HOME": self.scratch, "PATH": "/usr/bin:/bin", **env},
                                  capture_output=True, text=True)
        made = run("credential", "add", "kept", "--from-env", "TOKEN", "--host", "api.example", "--header", "X-Key",
                   TOKEN="value-to-keep", BELLJAR_ENCRYPTION_KEY="one")
        self.assertEqual(made.returncode, 0, made.stderr)
        lost = run("secrets", "rotate", BELLJAR_ENCRYPTION_KEY="two")
        self.assertEqual(lost.returncode, 3)
        self.assertIn("BELLJAR_PREVIOUS_ENCRYPTION_KEY", lost.stderr)
        done = run("secrets", "rotate", "--json", BELLJAR_ENCRYPTION_KEY="two", BELLJAR_PREVIOUS_ENCRYPTION_KEY="one")
        self.assertEqual((done.returncode, json.loads(done.stdout)["rewritten"]), (0, 1), done.stderr)
        self.assertEqual(run("secrets", "rotate", BELLJAR_ENCRYPTION_KEY="two").returncode, 0)
        self.assertEqual(run("secrets", "rotate", BELLJAR_ENCRYPTION_KEY="one").returncode, 3)

    def test_what_tools_are_called_is_harmless_on_a_terminal(self):
        source = "def shouts():\n    print('\\x1b[31mred\\x9b31m')\n    return '\\x1b]0;title\\x07'\n"
        self.add("shouts.py", source, "--schema", json.dumps({**SCHEMA, "name": "shouts"}), "--description", "\x1b[2Jowned\x9b2J")
        for words in (["tool", "list"], ["tool", "run", "shouts"], ["calls"], ["tool", "run", "\x1b[2J"], ["key", "revoke", "\x1b[2J"]):
            with self.subTest(str(words)):
                text = self.on_terminal(*words)
                self.assertNotRegex(text, "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
        self.assertIn("^[[2Jowned", self.on_terminal("tool", "list"))
        self.assertIn("\x1b[2Jowned", self.ok("tool", "list"), "a pipe gets what was stored, so that this test can fail")


@unittest.skipIf(os.geteuid() != 0, "told with the whole seal: needs root")
class Packages(Commands, Story):
    """--pip, with an index of our own on loopback."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.index = PackageIndex()
        cls.everywhere = {"PIP_INDEX_URL": cls.index.url}

    @classmethod
    def tearDownClass(cls):
        cls.index.close()
        super().tearDownClass()

    def test_a_tool_brings_its_packages(self):
        self.index.add("small")
        self.add_function("counts", "import small; return small.VALUE", "--pip", "small==1.0")
        self.assertEqual(self.json_of("tool", "run", "counts")["return"], 42)
        (environment,) = self.json_of("env", "list")
        self.assertEqual(environment["requirements"], ["small==1.0"])
        self.assertEqual(self.json_of("tool", "run", "counts")["return"], 42)
        self.assertEqual(self.index.downloads["small"], 1)
        self.assertEqual(self.json_of("env", "prune", "--all")["removed"], [environment["key"]])

    def test_a_package_that_is_not_there_ends_with_status_3(self):
        self.add_function("lacks", "return 'ran'", "--pip", "no-such-package")
        ran = self.json_of("tool", "run", "lacks", status=3)
        self.assertEqual(ran["return"], None)
        self.assertIn("Failed to install pip packages (tool requirements: no-such-package)", ran["error"])
        self.assertNotIn(self.index.PASSWORD, json.dumps(ran))


class WithoutServer(Service, Story):
    pass


class BesideServer(Service, ServerStory):
    def test_both_see_the_same(self):
        tool = self.add("roll.py", ROLL)["id"]
        self.assertEqual(self.api("GET", f"/v1/tools/{tool}")["name"], "roll")
        self.api("POST", f"/v1/tools/{tool}/run", {"args": {"sides": 3}})
        self.api("GET", "/v1/calls")  # records are written a moment later, or when the server is asked
        self.assertEqual(self.json_of("calls", "--limit", "1")[0]["tool_id"], tool)
        self.api("DELETE", f"/v1/tools/{tool}")
        self.assert_one_sentence(self.belljar("tool", "run", "roll"), 2, "roll")

    def test_a_key_works_until_it_is_revoked(self):
        made = self.json_of("key", "create", "--role", "member")
        self.api("GET", "/v1/tools/", key=made["key"])
        self.ok("key", "revoke", made["id"])
        self.api("GET", "/v1/tools/", key=made["key"], expect=401)

    def test_rotation_beside_a_server_loses_nothing(self):
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        place = f"/v1/sandbox-config/{config}/environment-variable"
        self.api("POST", place, {"key": "A", "value": "before"})
        self.assertGreaterEqual(self.json_of("secrets", "rotate")["rewritten"], 1)
        self.api("POST", place, {"key": "B", "value": "after"})
        self.assertEqual({v["key"]: v["value"] for v in self.api("GET", place)}, {"A": "before", "B": "after"})


class Settings(Commands, Story):
    def shown(self, *flags, env=None):
        everything = self.json_of(*flags, "config", "show", env=env or {})
        return {one["name"]: (one["value"], one["origin"]) for one in everything}, json.dumps(everything)

    def test_every_value_tells_its_origin(self):
        file = self.write("config.toml", 'template = "base"\n\n[limits]\nmemory = "512M"\n\n[tools]\ntool_sandbox_timeout = 30\n')
        shown, _ = self.shown("--config", file, env={"BELLJAR_TIMEOUT": "5s", "TOOL_EXEC_DIR": "/x"})
        self.assertEqual(shown["template"], ("base", file + ":1"))
        self.assertEqual(shown["limits.memory"], ("512 MiB", file + ":4"))
        self.assertEqual(shown["TOOL_SANDBOX_TIMEOUT"], ("30.0", file + ":7"))
        self.assertEqual(shown["limits.timeout"][1], "environment BELLJAR_TIMEOUT")
        self.assertEqual(shown["data"], (self.data, "environment BELLJAR_DATA"))
        self.assertEqual(shown["pass_proxies"], ("false", "default"))

    def test_the_environment_is_over_the_file_and_flags_are_over_both(self):
        file = self.write("config.toml", '[tools]\ntool_sandbox_timeout = 30\n')
        shown, _ = self.shown("--config", file, env={"LETTA_TOOL_SANDBOX_TIMEOUT": "31"})
        self.assertEqual(shown["TOOL_SANDBOX_TIMEOUT"], ("31.0", "environment LETTA_TOOL_SANDBOX_TIMEOUT"))
        shown, _ = self.shown("--data", "/flag", "--database", "postgresql://a@b/c", env={"BELLJAR_DATABASE": "postgresql://x/y"})
        self.assertEqual(shown["data"], ("/flag", "flag --data"))
        self.assertEqual(shown["database"], ("postgresql://****@b/c", "flag --database"))

    def test_secrets_are_masked_wherever_they_stand(self):
        secret = "hunter2-hunter2"
        file = self.write("secret.toml", f'[tools]\nmodal_token_secret = "{secret}"\n')
        for variables in ({"E2B_API_KEY": secret, "LETTA_ENCRYPTION_KEY": secret, "STEP_COMPLETE_KEY": secret},
                          {"BELLJAR_DATABASE": f"postgresql://u:{secret}@h/d"},
                          {"BELLJAR_DATABASE": f"postgresql://h/d?user=u&password={secret}"},
                          {"STEP_ORCHESTRATOR_ENDPOINT": f"http://u:{secret}@hook/"},
                          {"SANDBOX_CREDENTIALS_WEBHOOK": f"http://u:{secret}@hook/", "SANDBOX_CREDENTIALS_KEY": secret}):
            with self.subTest(str(list(variables))):
                shown, text = self.shown("--config", file, env=variables)
                self.assertNotIn(secret, text)
                self.assertIn("****", text)
                self.assertNotIn(secret.encode(), self.belljar("--config", file, "config", "show", env=variables).stdout)

    def test_a_wrong_setting_is_named_with_its_place(self):
        file = self.write("wrong.toml", "\n[tools]\nno_such_setting = 1\n")
        self.assert_one_sentence(self.belljar("--config", file, "config", "show"), 2, "no_such_setting", file + ":3")
        self.assert_one_sentence(self.belljar("config", "show", env={"TOOL_SANDBOX_TIMEOUT": "soon"}), 2, "TOOL_SANDBOX_TIMEOUT")
        for no_time in ("0", "-1", "nan", "inf"):
            self.assert_one_sentence(self.belljar("serve", env={"TOOL_SANDBOX_TIMEOUT": no_time}), 2, "TOOL_SANDBOX_TIMEOUT")


if __name__ == "__main__":
    unittest.main()
