"""Letta's tool sandbox over HTTP: configurations, variables, runs, memory, as docs/letta.md promises."""

import ast
import http.server
import itertools
import json
import os
import threading
import unittest

from server_story import ServerStory
from story import until, without_sanitizer

VECTORS = os.path.join(os.path.dirname(__file__), "../vectors/letta-vectors.json")

ADD = 'def add(a: int, b: int = 2) -> int:\n    """Adds.\n\n    Args:\n        a (int): one\n        b (int): other\n    """\n    return a + b\n'
SHOW = 'import os\ndef show(names: list) -> dict:\n    """Show variables.\n\n    Args:\n        names (list): which\n    """\n    return {n: os.environ.get(n) for n in names}\n'
EVERYTHING = 'import os\ndef everything() -> dict:\n    """All variables."""\n    return dict(os.environ)\n'


def vectors(section):
    with open(VECTORS) as file:
        return json.load(file)[section]


class SandboxConfigurations(ServerStory):
    def expected(self, config):
        return json.loads(json.dumps(config).replace("${HOME}", self.scratch))

    def clear(self):
        for config in self.api("GET", "/v1/sandbox-config/"):
            self.api("DELETE", f"/v1/sandbox-config/{config['id']}", expect=204)

    def test_which_type_a_configuration_becomes_and_what_is_stored(self):
        for case in vectors("config_union_resolution"):
            if "stored_on_create" not in case:
                continue
            with self.subTest(str(case["input"])):
                self.clear()
                made = self.api("POST", "/v1/sandbox-config/", {"config": case["input"]})
                self.assertEqual((made["type"], made["config"]), (case["type"], self.expected(case["stored_on_create"])))

    def test_a_local_configuration_is_there_from_the_first_start_on(self):
        key = self.json_of_key("--organization", "", "--user", "ada")  # another user of the same organization
        self.assertIn("local", [config["type"] for config in self.api("GET", "/v1/sandbox-config/", key=key["key"])])
        self.assertNotEqual(key["user_id"], self.json_of_key()["user_id"])
        self.assertEqual(key["user_id"], self.json_of_key("--user", "ada")["user_id"])

    def json_of_key(self, *flags):
        return json.loads(self.belljar("key", "create", "--json", *flags).stdout)

    def test_one_configuration_a_type(self):
        self.clear()
        first = self.api("POST", "/v1/sandbox-config/", {"config": {"timeout": 60}})
        again = self.api("POST", "/v1/sandbox-config/", {"config": {"timeout": 90}})
        self.assertEqual((first["id"], again["config"]["timeout"]), (again["id"], 90))
        modal = self.api("POST", "/v1/sandbox-config/", {"config": {"type": "modal", "timeout": 30}})
        changed = self.api("POST", "/v1/sandbox-config/", {"config": {"type": "modal", "timeout": 31}})
        self.assertEqual((modal["id"], changed["config"]["timeout"]), (changed["id"], 31))
        self.assertEqual([c["type"] for c in self.api("GET", "/v1/sandbox-config/?sandbox_type=modal")], ["modal"])
        self.api("PATCH", f"/v1/sandbox-config/{first['id']}", {"config": {"use_venv": True}}, expect=400)

    def test_variables_are_upserted_listed_changed_and_removed(self):
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        place = f"/v1/sandbox-config/{config}/environment-variable"
        one = self.api("POST", place, {"key": "A", "value": "1", "description": "d"})
        self.assertEqual(self.api("POST", place, {"key": "A", "value": "2"})["id"], one["id"])
        self.api("POST", place, {"key": "B", "value": ""})
        self.assertEqual([(v["key"], v["value"]) for v in self.api("GET", place)], [("A", "2"), ("B", "")])
        changed = self.api("PATCH", f"/v1/sandbox-config/environment-variable/{one['id']}", {"key": "C"})
        self.assertEqual((changed["key"], changed["value"], changed["description"]), ("C", "2", "d"))
        taken = self.api("PATCH", f"/v1/sandbox-config/environment-variable/{one['id']}", {"key": "B"}, expect=409)
        self.assertEqual(taken["detail"], "its sandbox configuration has another variable of that key")
        self.api("DELETE", f"/v1/sandbox-config/environment-variable/{one['id']}", expect=204)
        self.assertEqual([v["key"] for v in self.api("GET", place)], ["B"])
        nowhere = self.api("POST", "/v1/sandbox-config/sandbox-00000000-0000-4000-8000-000000000009/environment-variable",
                           {"key": "A", "value": "1"}, expect=409)
        self.assertEqual(nowhere["detail"], "there is no sandbox configuration sandbox-00000000-0000-4000-8000-000000000009")


    def test_what_a_query_cannot_say_is_told_as_letta_tells_it(self):
        for query, error in (
                ("limit=many", "'int_parsing', 'loc': ('query', 'limit'), 'msg': 'Input should be a valid integer, unable to parse "
                 "string as an integer', 'input': 'many'}"),
                ("order=up", "'literal_error', 'loc': ('query', 'order'), 'msg': \"Input should be 'asc' or 'desc'\", 'input': 'up', "
                 "'ctx': {'expected': \"'asc' or 'desc'\"}}"),
                ("sandbox_type=vm", "'enum', 'loc': ('query', 'sandbox_type'), 'msg': \"Input should be 'e2b', 'modal' or 'local'\", "
                 "'input': 'vm', 'ctx': {'expected': \"'e2b', 'modal' or 'local'\"}}")):
            self.assertEqual(self.api("GET", "/v1/sandbox-config/?" + query, expect=422)["detail"], "[{'type': " + error + "]")

    def test_what_is_no_id_is_told_as_letta_tells_it(self):
        kindly = self.api("GET", "/v1/tools/tool-1", expect=422)
        self.assertEqual(kindly["detail"], """[{'type': 'string_pattern_mismatch', 'loc': ('path', 'tool_id'), 'msg': "String \
should match pattern 'tool-{uuid4}'", 'input': 'tool-1', 'ctx': {'pattern': \
'^tool-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'}}]""")
        self.assertEqual(kindly["examples"], ["tool-123e4567-e89b-42d3-8456-426614174000"])
        short = self.api("DELETE", "/v1/sandbox-config/sandbox-1", expect=422)
        self.assertEqual(short["detail"], "[{'type': 'string_too_short', 'loc': ('path', 'sandbox_config_id'), 'msg': "
                         "'String should have at least 44 characters', 'input': 'sandbox-1', 'ctx': {'min_length': 44}}]")
        self.assertNotIn("examples", short)

    def test_blanks_around_the_items_of_a_query_s_list_do_not_count(self):
        for name in ("first_item", "second_item"):
            self.api("POST", "/v1/tools/", {"source_code": f"def {name}(): pass", "json_schema": {"name": name}})
        for query in ("names=first_item,%20second_item%20,", "names=first_item&names=%20second_item"):
            found = self.api("GET", "/v1/tools/?order=asc&tool_types=letta_core,%20custom&" + query)
            self.assertEqual([tool["name"] for tool in found], ["first_item", "second_item"])


def copies_in_memory(process, text):
    """How often a text lies in a process's memory. Stacks are not looked at: what ran there writes over them."""
    count = 0
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            if line.split()[1].startswith("rw") and "[stack]" not in line:
                memory.seek(start)
                count += memory.read(end - start).count(text.encode())
    return count


class FreedMemory(ServerStory):
    @without_sanitizer
    def test_no_freed_memory_holds_a_secret(self):
        secret = "a-secret-of-some-length-" + os.urandom(8).hex()
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        self.api("POST", f"/v1/sandbox-config/{config}/environment-variable", {"key": "TOKEN", "value": secret})
        source = 'import os\ndef f():\n    """F."""\n    return len(os.environ["TOKEN"])\n'
        self.assertEqual(self.api("POST", "/v1/tools/run", {"source_code": source, "args": {}})["tool_return"], str(len(secret)))
        self.assertEqual(copies_in_memory(self.server.process.pid, secret), 0)


class ATimeoutOfItsOwn(ServerStory):
    env = {"BELLJAR_TIMEOUT": "250ms", "TOOL_SANDBOX_TIMEOUT": "60"}

    def test_the_limit_that_was_hit_is_the_one_that_is_told(self):
        answer = self.api("POST", "/v1/tools/run", {"source_code": "import time\ndef f():\n    time.sleep(60)\n", "name": "f", "args": {}})
        self.assertEqual(answer["tool_return"],
                         "Error executing function f: TimeoutError: Executing tool f timed out after 0.25 seconds.")


class Runs(ServerStory):
    env = {"SERVER_ONLY": "leak", "LETTA_ENCRYPTION_KEY": "", "TOOL_SANDBOX_TIMEOUT": "3"}

    def run_source(self, source, args=None, **more):
        return self.api("POST", "/v1/tools/run", {"source_code": source, "args": args or {}, **more})

    def test_a_source_is_run_and_answers_as_python_would_print(self):
        for expression, text in (("True", "True"), ("None", "None"), ("{'a': [1, 'x']}", "{'a': [1, 'x']}"), ("1.0", "1.0"),
                                 ("'text'", "text"), ("float('nan')", "nan"), ("10**30", str(10**30)),
                                 ("{'a': float('nan'), 'b': [10**30]}", "{'a': nan, 'b': [%d]}" % 10**30)):
            with self.subTest(expression):
                answer = self.run_source(f'def f():\n    """F."""\n    return {expression}\n')
                self.assertEqual((answer["status"], answer["tool_return"]), ("success", text), answer)
        self.assertEqual((answer["message_type"], answer["id"], answer["name"]), ("tool_return_message", "null", None))

    def test_what_is_too_long_is_cut_once_an_object_as_json(self):
        note = "... [NOTE: function output was truncated since it exceeded the character limit (60009 > 50000)]"
        for source, more in (('def f():\n    """F."""\n    return {"a": "b" * 60000}\n', {}),
                             ('export function f(): any { return {a: "b".repeat(60000)} }', {"source_type": "typescript"})):
            answer = self.run_source(source, **more)["tool_return"]
            self.assertEqual((answer[:10], answer[50000:]), ('{"a": "bbb', note))

    def test_text_is_data_by_annotation_and_schema_in_a_call_s_own_process(self):
        """The vectors over HTTP: a test's process has modules that a call's has not."""
        for case in vectors("annotation_coercion_server_side"):
            with self.subTest(case["signature"], args=case["args"]):
                properties = {name: {"type": "string"} for name in case["args"]}
                source = "from __future__ import annotations\nMyModel = dict\n%s f(%s):\n    return [locals(), str(x)]\n" % (
                    case["kind"], case["signature"])
                answer = self.run_source(source, case["args"], name="f", json_schema={
                    "name": "f", "parameters": {"type": "object", "properties": properties}})
                values, text = ast.literal_eval(answer["tool_return"])
                wanted = case["result"]
                if type(wanted["x"]) is str and wanted["x"] != values["x"]:
                    values["x"] = text  # a set or a tuple, which the vectors hold as text
                self.assertEqual(values, wanted)

    def test_letta_s_own_cases(self):
        """The vectors, over HTTP: those where docs/letta.md promises the same as Letta."""
        for case in vectors("local_end_to_end"):
            result = case.get("result")
            same = result and result["status"] == "success" and not case.get("args_json_schema") and case["case"] not in (
                "cwd is sandbox_dir", "return pydantic model", "return lone surrogate", "atexit prints after frame",
                "param shadowed by module code", "env ids", "in-sandbox coercion off")
            if not same or "__" in json.dumps(result["func_return"]):
                continue
            with self.subTest(case["case"]):
                schema = {"name": "f", "parameters": {"type": "object", "properties": case["properties"]}}
                tool = {"name": "f", "json_schema": schema, "env_vars": case.get("env") or {}}
                answer = self.run_source(case["source_code"], case["args"], **tool)
                self.assertEqual(answer["status"], "success", answer)
                self.assertEqual((answer["stdout"], answer["stderr"]), (result["stdout"], result["stderr"]))
                self.assertEqual(answer["tool_return"], str(result["func_return"]))

    def test_a_failure_is_told_in_letta_s_words_with_the_traceback_beside(self):
        answer = self.run_source('def f():\n    """F."""\n    print("before")\n    raise KeyError("gone")\n', name="f")
        self.assertEqual((answer["status"], answer["tool_return"]),
                         ("error", "Error executing function f: KeyError: 'gone'"))
        self.assertEqual(answer["stdout"], ["before\n"])
        self.assertIn("Traceback", answer["stderr"][0])

    def test_a_tool_that_takes_too_long_is_a_timeout(self):
        answer = self.run_source("import time\ndef f():\n    time.sleep(60)\n", name="f")
        self.assertEqual(answer["tool_return"],
                         "Error executing function f: TimeoutError: Executing tool f timed out after 3.0 seconds.")
        self.assertEqual(answer["stderr"], ["TimeoutError: Executing tool f timed out after 3.0 seconds.\n"])

    def test_the_server_s_environment_stays_with_the_server(self):
        tool = self.api("POST", "/v1/tools/", {"source_code": EVERYTHING})["id"]
        seen = self.api("POST", f"/v1/tools/{tool}/run")["return"]
        self.assertNotIn("SERVER_ONLY", seen)
        self.assertNotIn("BELLJAR_DATA", seen)
        self.assertEqual((seen["TERM"], seen["LETTA_TOOL_ID"]), ("dumb", tool))

    def test_variables_in_their_order(self):
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        for key in ("G", "P", "A"):
            self.api("POST", f"/v1/sandbox-config/{config}/environment-variable", {"key": key, "value": "config"})
        tool = self.api("POST", "/v1/tools/", {"source_code": SHOW})["id"]
        agent = self.api("POST", "/v1/agents/", {"name": "a", "tool_ids": [tool], "secrets": {"A": "agent"},
                                                 "project_id": "project-1"})["id"]
        names = ["G", "P", "A", "LETTA_AGENT_ID", "LETTA_PROJECT_ID"]
        answer = self.api("POST", f"/v1/tools/{tool}/run", {"args": {"names": names}, "agent_id": agent,
                                                            "env_vars": {"P": "caller", "A": "caller"}})
        self.assertEqual(answer["return"], {"G": "config", "P": "caller", "A": "agent", "LETTA_AGENT_ID": agent,
                                            "LETTA_PROJECT_ID": "project-1"})

    def test_a_variable_without_a_name_stops_no_run(self):
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        nameless = self.api("POST", f"/v1/sandbox-config/{config}/environment-variable", {"key": "", "value": "x"})["id"]
        self.assertEqual(self.run_source("def f():\n    return 1\n", name="f")["tool_return"], "1")
        self.api("DELETE", f"/v1/sandbox-config/environment-variable/{nameless}", expect=204)

    def test_why_there_is_no_schema_is_told_as_letta_tells_it(self):
        source = "def f(x: int):\n    pass\n"
        asked = self.api("POST", "/v1/tools/generate-schema", {"code": source}, expect=400)["detail"]
        self.assertEqual(asked, "Schema generation failed: Function f missing docstring")
        stored = self.api("POST", "/v1/tools/", {"source_code": source}, expect=400)["detail"]
        self.assertEqual(stored, "Failed to derive json schema: " + asked)

    def test_a_version_that_was_not_given_is_null(self):
        tool = self.api("POST", "/v1/tools/", {"source_code": ADD, "pip_requirements": [{"name": "a"}, {"name": "b", "version": "1"}],
                                               "npm_requirements": [{"name": "c", "version": None}]})
        self.assertEqual(tool["pip_requirements"], [{"name": "a", "version": None}, {"name": "b", "version": "1"}])
        self.assertEqual(tool["npm_requirements"], [{"name": "c", "version": None}])
        self.api("DELETE", f"/v1/tools/{tool['id']}")

    def test_output_arrives_as_events_before_the_result(self):
        source = 'import sys\ndef talk():\n    """T."""\n    print("out", flush=True)\n    print("err", file=sys.stderr, flush=True)\n    return 7\n'
        tool = self.api("POST", "/v1/tools/", {"source_code": source})["id"]
        status, headers, body = self.server.request("POST", f"/v1/tools/{tool}/run", {},
                                                    headers={"Accept": "text/event-stream"})
        self.assertEqual((status, headers["Content-Type"]), (200, "text/event-stream"))
        events = [dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
                  for block in body.decode().split("\n\n") if block.strip()]
        kinds = [event["event"] for event in events]
        self.assertEqual(kinds[-1], "result")
        self.assertEqual(json.loads(events[-1]["data"])["return"], 7)
        self.assertIn({"event": "stdout", "data": '"out\\n"'}, events)
        self.assertIn({"event": "stderr", "data": '"err\\n"'}, events)

    def test_characters_stay_whole_in_events(self):
        source = ("import os\ndef talk():\n    for byte in 'é€😀'.encode() * 50:\n        os.write(1, bytes([byte]))\n"
                  "    print('x' * 40001 + 'é€😀' * 30000)\n    os.write(1, b'\\xc3')\n")
        tool = self.api("POST", "/v1/tools/", {"source_code": source, "json_schema": {
            "name": "talk", "description": "T.", "parameters": {"type": "object", "properties": {}}}})["id"]
        body = self.server.request("POST", f"/v1/tools/{tool}/run", {}, headers={"Accept": "text/event-stream"})[2].decode()
        blocks = [block.split("\ndata: ", 1) for block in body.split("\n\n") if block.startswith("event: stdout")]
        text = "".join(json.loads(data) for _, data in blocks)
        self.assertEqual(text, "é€😀" * 50 + "x" * 40001 + "é€😀" * 30000 + "\n\ufffd")

    def test_a_tool_that_kills_itself_has_failed(self):
        for how in ("os.kill(os.getpid(), 9)", "os.kill(os.getpid(), signal.SIGTERM)", "signal.raise_signal(signal.SIGSEGV)",
                    "os.kill(0, 9)"):
            with self.subTest(how):
                answer = self.run_source(f"import os, signal\ndef f():\n    {how}\n    return 'alive'\n", name="f")
                self.assertEqual(answer["status"], "error", answer)
        answer = self.run_source("import os, signal\ndef f():\n    signal.signal(signal.SIGUSR1, lambda *_: print('heard'))\n"
                                 "    os.kill(os.getpid(), signal.SIGUSR1)\n    os.kill(os.getpid(), 0)\n    return 'alive'\n", name="f")
        self.assertEqual((answer["tool_return"], answer["stdout"]), ("alive", ["heard\n"]))

    def test_who_a_tool_is_and_which_tool(self):
        answer = self.run_source("import os, getpass\ndef f():\n    return [os.environ['LOGNAME'], getpass.getuser(), os.environ['LETTA_TOOL_ID'][:5]]\n", name="f")
        self.assertEqual(answer["tool_return"], "['user', 'user', 'tool-']")

    def test_annotations_may_name_the_classes_of_the_argument_schema(self):
        schema = {"title": "Args", "type": "object", "required": ["items"], "$defs": {"Item": {
            "title": "Item", "type": "object", "properties": {"q": {"type": "integer"}}, "required": ["q"]}},
            "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}}}
        answer = self.run_source("def inv(items: List[Item]) -> int:\n    return sum(i.q for i in items)", {"items": [{"q": 3}, {"q": 4}]},
                                 name="inv", args_json_schema=schema)
        self.assertEqual((answer["status"], answer["tool_return"]), ("success", "7"), answer)

    def test_a_name_that_no_database_takes_costs_nobody_else_his_record(self):
        before = len(self.api("GET", "/v1/calls?limit=1000"))
        threads = [threading.Thread(target=self.run_source, args=("def f():\n    return 1\n",), kwargs={"name": name})
                   for name in ["f"] * 3 + ["f\0"] + ["f"] * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: len(self.api("GET", "/v1/calls?limit=1000")) >= before + len(threads))
        self.assertEqual(len(self.api("GET", "/v1/calls?limit=100000")), before + len(threads))

    def test_arguments_are_checked_with_words(self):
        tool = self.api("POST", "/v1/tools/", {"source_code": ADD})["id"]
        self.assertEqual(self.api("POST", f"/v1/tools/{tool}/run", {"args": {"a": "40"}})["return"], 42)
        missing = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}}, expect=422)
        self.assertIn('"a"', missing["detail"])
        wrong = self.api("POST", f"/v1/tools/{tool}/run", {"args": {"a": {"deep": []}}}, expect=422)
        self.assertIn('"a"', wrong["detail"])

    def test_calls_are_recorded_without_what_was_said(self):
        tool = self.api("POST", "/v1/tools/", {"source_code": ADD})["id"]
        call = self.api("POST", f"/v1/tools/{tool}/run", {"args": {"a": 31415}})["call_id"]
        record = self.api("GET", f"/v1/calls/{call}")
        self.assertEqual((record["tool_id"], record["tool_name"], record["status"], record["provider"]),
                         (tool, "add", "ok", "local"))
        self.assertTrue(record["fingerprint"].isdigit())
        self.assertNotIn("31415", json.dumps(record))
        listed = json.loads(self.belljar("calls", "--json", "--tool", "add").stdout)
        self.assertIn(call, [one["id"] for one in listed])

    def test_a_return_limit_cuts(self):
        tool = self.api("POST", "/v1/tools/", {"source_code": 'def long() -> str:\n    """L."""\n    return "x" * 100\n',
                                               "return_char_limit": 10})["id"]
        returned = self.api("POST", f"/v1/tools/{tool}/run")["return"]
        self.assertEqual(returned, "x" * 10 + "... [NOTE: function output was truncated since it exceeded the character limit (100 > 10)]")


class Memory(ServerStory):
    """A tool changes its own agent's memory, and nothing else."""

    def agent_with(self, source, **more):
        tool = self.api("POST", "/v1/tools/", {"source_code": source})
        agent = self.api("POST", "/v1/agents/", {
            "name": "m", "tool_ids": [tool["id"]], "memory_blocks": [
                {"label": "human", "value": "before", "limit": 50}, {"label": "fixed", "value": "stays", "read_only": True}], **more})
        return tool["name"], agent

    def values(self, agent):
        return {b["label"]: b["value"] for b in self.api("GET", f"/v1/agents/{agent['id']}/core-memory/blocks")}

    def run_tool(self, name, agent):
        return self.api("POST", f"/v1/agents/{agent['id']}/tools/{name}/run", {"args": {}})

    def test_forged_states_change_nothing(self):
        victim = self.agent_with('def nothing() -> None:\n    """N."""\n')[1]
        block = victim["blocks"][0]["id"]
        source = f'''
def forge(agent_state: "AgentState") -> str:
    """Forges."""
    for one in agent_state.memory.blocks:
        if one.label == "human":
            one.id = "{block}"
            one.value = "forged"
    agent_state.id = "{victim['id']}"
    return "done"
'''
        name, agent = self.agent_with(source)
        self.run_tool(name, agent)
        self.assertEqual(self.values(victim)["human"], "before")
        self.assertEqual(self.values(agent)["human"], "before")

    def test_read_only_blocks_and_limits_hold(self):
        source = '''
def overdo(agent_state: "AgentState") -> str:
    """Overdoes."""
    for one in agent_state.memory.blocks:
        one.__dict__["value"] = "y" * (51 if one.label == "human" else 3)
    return "done"
'''
        name, agent = self.agent_with(source)
        self.run_tool(name, agent)
        self.assertEqual(self.values(agent), {"human": "before", "fixed": "stays"})

    def test_a_change_is_kept(self):
        """So that the tests above can fail."""
        source = '''
def change(agent_state: "AgentState") -> str:
    """Changes."""
    agent_state.memory.update_block_value("human", "after")
    return agent_state.name
'''
        name, agent = self.agent_with(source)
        self.assertEqual(self.run_tool(name, agent)["func_return"], "m")
        self.assertEqual(self.values(agent)["human"], "after")


class Webhook(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Webhook.asked.append((self.path, self.headers["Authorization"], body))
        answer = json.dumps({"FETCHED": "fresh", "G": "webhook"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Credentials(ServerStory):
    @classmethod
    def setUpClass(cls):
        cls.hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
        threading.Thread(target=cls.hook.serve_forever, daemon=True).start()
        cls.env = {"STEP_ORCHESTRATOR_ENDPOINT": f"http://127.0.0.1:{cls.hook.server_port}", "STEP_COMPLETE_KEY": "k"}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.hook.shutdown()
        cls.hook.server_close()

    def test_credentials_come_from_the_webhook(self):
        answer = self.api("POST", "/v1/tools/run", {"source_code": SHOW, "name": "show", "args": {"names": ["FETCHED", "G"]},
                                                    "env_vars": {"G": "caller"}})
        self.assertEqual(answer["tool_return"], "{'FETCHED': 'fresh', 'G': 'caller'}")
        path, key, body = Webhook.asked[-1]
        self.assertEqual((path, key, body["tool_name"]), ("/webhook/sandbox-credentials", "Bearer k", "show"))


class Secrets(ServerStory):
    def places(self):
        """Where the service keeps what it is told."""
        return [self.data]

    def test_a_secret_is_nowhere_but_where_it_belongs(self):
        secret = "s3cr3t-value-that-must-not-leak-0123456789"
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        self.api("POST", f"/v1/sandbox-config/{config}/environment-variable", {"key": "TOKEN", "value": secret})
        self.api("POST", f"/v1/sandbox-config/{config}/environment-variable", {"key": 5, "value": secret}, expect=422)
        self.api("POST", "/v1/agents/", {"name": "s", "secrets": {"S": secret}})
        self.api("POST", "/v1/tools/run", {"source_code": "def f():\n    raise ValueError('no')\n", "name": "f", "args": {}})
        self.assertNotIn(secret, self.log_text())
        with open(f"/proc/{self.server.process.pid}/cmdline", "rb") as file:
            self.assertNotIn(secret.encode(), file.read())
        for folder, _, files in itertools.chain(*map(os.walk, self.places())):
            for path in (os.path.join(folder, name) for name in files):
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as file:
                        self.assertNotIn(secret.encode(), file.read(), path)

    def test_a_complaint_repeats_no_secret_that_stands_in_the_wrong_place(self):
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        for body in ({"key": "A", "val": "t0psecret"}, ["t0psecret"], "t0psecret", {"key": "A", "value": ["t0psecret"]}):
            answer = self.api("POST", f"/v1/sandbox-config/{config}/environment-variable", body, expect=422)
            self.assertNotIn("t0psecret", json.dumps(answer))

    def test_files_that_open_things_are_for_their_owner_only(self):
        for name in ("admin.key", "secret.key"):
            self.assertEqual(os.stat(os.path.join(self.data, name)).st_mode & 0o777, 0o600)

    def test_rotation_keeps_every_value(self):
        config = self.api("POST", "/v1/sandbox-config/local/default")["id"]
        self.api("POST", f"/v1/sandbox-config/{config}/environment-variable", {"key": "ROTATED", "value": "kept"})
        done = self.belljar("secrets", "rotate", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        values = {v["key"]: v["value"] for v in self.api("GET", f"/v1/sandbox-config/{config}/environment-variable")}
        self.assertEqual(values["ROTATED"], "kept")


if __name__ == "__main__":
    unittest.main()
