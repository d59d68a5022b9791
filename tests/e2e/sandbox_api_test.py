"""Sandboxes that live with the server: made, worked in, paused, ended. As a user of the API meets them."""

import hashlib
import http.client
import json
import os
import time
import unittest

from sandbox_story import SandboxStory
from server_story import Server
from story import SANITIZED
from web_socket import WebSocket


class Life(SandboxStory):
    def test_a_sandbox_is_made_used_and_removed(self):
        made = self.api("POST", "/v1/sandboxes", {"timeout": 60, "env": {"WHO": "ada"}, "metadata": {"team": "red"}})
        sandbox = made["id"]
        self.assertEqual((made["state"], made["template"], made["timeout"]), ("running", "base", 60))
        self.assertEqual(self.output(sandbox, "echo hello $WHO"), "hello ada\n")
        self.assertEqual(self.output(sandbox, ["id", "-un"]), "user\n")
        self.output(sandbox, "echo kept > note")
        self.assertEqual(self.output(sandbox, "cat note"), "kept\n")
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "running")
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)
        self.api("GET", f"/v1/sandboxes/{sandbox}", expect=404)
        self.run_in(sandbox, "true", expect=404)

    def test_sandboxes_are_found_by_what_was_noted_on_them(self):
        red, blue = self.create(metadata={"color": "red", "n": "1"}), self.create(metadata={"color": "blue", "n": "1"})
        ids = lambda query: [one["id"] for one in self.api("GET", "/v1/sandboxes?" + query)]
        self.assertEqual(ids("metadata.color=red"), [red])
        self.assertEqual(ids("metadata.n=1&state=running"), [blue, red])
        self.assertEqual(ids("metadata.n=1&limit=1"), [blue])
        self.assertEqual(ids(f"metadata.n=1&limit=1&after={blue}"), [red])
        self.assertEqual(ids("metadata.color=green"), [])
        self.assertEqual(ids("template=other"), [])
        self.api("GET", "/v1/sandboxes?state=flying", expect=422)

    def test_it_ends_when_its_time_is_over_and_says_so(self):
        sandbox = self.create(timeout=2)
        row = self.api("POST", f"/v1/sandboxes/{sandbox}/timeout", {"timeout": 1})
        self.assertEqual(row["timeout"], 1)
        deadline = time.monotonic() + 20
        while (row := self.api("GET", f"/v1/sandboxes/{sandbox}"))["state"] != "stopped":
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(row["reason"], "its time was over")
        late = time.mktime(time.strptime(row["ended_at"][:19], "%Y-%m-%dT%H:%M:%S")) - \
            time.mktime(time.strptime(row["end_at"][:19], "%Y-%m-%dT%H:%M:%S"))
        self.assertIn(late, (0, 1, 2))
        self.run_in(sandbox, "true", expect=409)

    def test_a_paused_sandbox_stands_still_and_goes_on(self):
        sandbox = self.create()
        count = self.run_in(sandbox, "i=0; while :; do i=$((i+1)); echo $i > /tmp/new; mv /tmp/new /tmp/count; done", background=True)
        paused = self.api("POST", f"/v1/sandboxes/{sandbox}/pause")
        self.assertEqual(paused["state"], "paused")
        self.assertGreater(paused["memory_before_bytes"], 0)
        with open("/proc/swaps") as swaps:
            self.assertEqual(paused["swap"], len(swaps.readlines()) > 1)
        before = self.api("GET", f"/v1/sandboxes/{sandbox}/metrics")["cpu_seconds"]
        self.run_in(sandbox, "true", expect=409)
        self.api("GET", self.files(sandbox, "/stat", path="/tmp"), expect=409)
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause", expect=409)
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}/metrics")["cpu_seconds"], before)
        self.assertEqual(self.api("POST", f"/v1/sandboxes/{sandbox}/resume")["state"], "running")
        self.api("POST", f"/v1/sandboxes/{sandbox}/resume", expect=409)
        listed = self.api("GET", f"/v1/sandboxes/{sandbox}/commands")
        self.assertTrue([one for one in listed if one["pid"] == count["pid"]][0]["running"])
        self.assertGreater(int(self.output(sandbox, "until cat /tmp/count 2>/dev/null; do :; done")), 0)

    def test_a_paused_sandbox_can_be_removed(self):
        sandbox = self.create()
        self.run_in(sandbox, "sleep 1000", background=True)
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause")
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)

    def test_one_that_ends_by_itself_is_told_of(self):
        sandbox = self.create(limits={"processes": 16})
        self.run_in(sandbox, ["sudo", "kill", "-9", "-1"])  # everything but the warden: it lives on
        self.assertEqual(self.output(sandbox, "echo here"), "here\n")

    def test_a_create_is_safe_to_repeat(self):
        first = self.api("POST", "/v1/sandboxes", {}, headers={"Idempotency-Key": "once"})["id"]
        self.assertEqual(self.api("POST", "/v1/sandboxes", {}, headers={"Idempotency-Key": "once"})["id"], first)
        self.api("DELETE", f"/v1/sandboxes/{first}", expect=204)

    def test_a_key_that_comes_with_another_body_is_refused(self):
        key = {"Idempotency-Key": "for-thirty"}
        first = self.api("POST", "/v1/sandboxes", {"timeout": 30, "env": {"A": "1"}}, headers=key)["id"]
        self.addCleanup(lambda: self.server.request("DELETE", f"/v1/sandboxes/{first}"))
        for other in ({"timeout": 31, "env": {"A": "1"}}, {"timeout": 30, "env": {"A": "2"}}, {}):
            self.assertIn("Idempotency-Key", self.api("POST", "/v1/sandboxes", other, headers=key, expect=409)["detail"])
        self.assertEqual(self.api("POST", "/v1/sandboxes", {"env": {"A": "1"}, "timeout": 30}, headers=key)["id"], first)
        moved = {"Idempotency-Key": "moved"}
        self.api("POST", f"/v1/sandboxes/{first}/timeout", {"timeout": 60}, headers=moved)
        self.api("POST", f"/v1/sandboxes/{first}/timeout", {"timeout": 61}, headers=moved, expect=409)

    def test_a_removed_credential_does_not_keep_its_network_open(self):
        binding = {"hosts": ["allowed.example"], "header": "Authorization", "format": "Bearer {}"}
        self.api("POST", "/v1/credentials", {"name": "gone", "value": "a-long-enough-value", "binding": binding})
        sandbox = self.create(network="open", credentials=["gone"])
        self.api("DELETE", "/v1/credentials/gone", expect=204)
        self.assertEqual(self.api("PUT", f"/v1/sandboxes/{sandbox}/network", {"network": "none"})["id"], sandbox)
        receipt = self.audit(subject=sandbox, action="sandbox.network")
        self.assertEqual([one["detail"] for one in receipt], [{"policy": "none"}])
        self.api("POST", "/v1/sandboxes", {"credentials": ["gone"]}, expect=422)  # a new one must have what it names

    def test_every_change_of_its_life_is_safe_to_repeat(self):
        sandbox = self.create()
        for act, state in (("pause", "paused"), ("resume", "running"), ("stop", "stopped"), ("start", "running")):
            for _ in range(2):
                done = self.api("POST", f"/v1/sandboxes/{sandbox}/{act}", headers={"Idempotency-Key": f"{sandbox}-{act}"})
                self.assertEqual(done["state"], state)
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause", headers={"Idempotency-Key": f"{sandbox}-stop"}, expect=409)
        for _ in range(2):
            self.api("DELETE", f"/v1/sandboxes/{sandbox}", headers={"Idempotency-Key": f"{sandbox}-delete"}, expect=204)
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=404)

    def test_what_is_asked_for_wrongly_is_refused_in_a_sentence(self):
        for body in ({"template": "none-such"}, {"timeout": 0}, {"timeout": 10 ** 9}, {"user": "nobody-here"}, {"limits": {"cpus": "x"}},
                     {"limits": {"memory_bytes": 1}}, {"git_url": "x"}, {"on_timeout": "fly"}, {"network": {"rules": [{"allow": "*"}]}},
                     {"metadata": {"": "x"}}, {"env": {"A": 1}}):
            with self.subTest(str(body)):
                detail = self.api("POST", "/v1/sandboxes", body, expect=422)["detail"]
                self.assertTrue(detail)

    def test_limits_are_the_ones_that_were_asked_for(self):
        sandbox = self.create(limits={"memory_bytes": 64 << 20, "disk_bytes": 8 << 20, "cpus": 0.5})
        metrics = self.api("GET", f"/v1/sandboxes/{sandbox}/metrics")
        self.assertEqual((metrics["memory_limit_bytes"], metrics["disk_limit_bytes"], metrics["cpus"]), (64 << 20, 8 << 20, 0.5))
        done = self.run_in(sandbox, "dd if=/dev/zero of=/tmp/full bs=1M count=20")
        self.assertNotEqual(done["exit_status"], 0)
        status, _, text = self.server.request("PUT", self.files(sandbox, path="/tmp/more"), b"x" * (600 << 10))
        self.assertEqual(status, 507, text)
        self.assertNotEqual(self.run_in(sandbox, ["python3", "-c", "x = bytearray(200 << 20)"])["exit_status"], 0)
        self.assertEqual(self.output(sandbox, "echo still here"), "still here\n")

    def test_what_was_done_is_in_the_receipts(self):
        sandbox = self.create()
        self.output(sandbox, ["echo", "a-secret-argument"])
        self.put(sandbox, "/tmp/receipt.txt", b"contents-are-not-noted")
        events = self.audit(subject=sandbox)
        self.assertEqual({one["action"] for one in events}, {"sandbox.create", "sandbox.command", "sandbox.write_file"})
        command = [one for one in events if one["action"] == "sandbox.command"][0]
        self.assertEqual((command["kind"], command["detail"]["program"], command["detail"]["exit_status"]), ("command", "echo", 0))
        self.assertNotIn("a-secret-argument", json.dumps(events))
        self.assertNotIn("contents-are-not-noted", json.dumps(events))
        self.assertEqual([one for one in events if one["kind"] == "file_write"][0]["detail"]["path"], "/tmp/receipt.txt")
        messages = [line["message"] for line in self.api("GET", f"/v1/sandboxes/{sandbox}/logs")]
        self.assertTrue(any("started from template base" in message for message in messages), messages)


class Quotas(SandboxStory):
    """What an organization has already is its own limit, not the machine's: nobody should try that again."""

    @classmethod
    def prepare(cls):
        os.makedirs(os.path.join(cls.scratch, ".config/belljar"))
        with open(os.path.join(cls.scratch, ".config/belljar/config.toml"), "w") as file:
            file.write("[sandboxes]\nmost_live = 2\nmost_cpus = 8\n")

    def test_too_many_are_429_and_what_alone_is_too_much_is_wrong(self):
        small = {"cpus": 0.5, "memory_bytes": 64 << 20}
        first = self.create(limits=small)
        self.assertIn("processors", self.api("POST", "/v1/sandboxes", {"limits": {**small, "cpus": 7.9}}, expect=429)["detail"])
        self.assertIn("alone", self.api("POST", "/v1/sandboxes", {"limits": {**small, "cpus": 8.5}}, expect=422)["detail"])
        self.api("POST", f"/v1/sandboxes/{first}/stop")
        self.create(limits=small), self.create(limits=small)
        self.assertIn("2 sandboxes at a time", self.api("POST", f"/v1/sandboxes/{first}/start", expect=429)["detail"])
        status, headers, text = self.server.request("POST", "/v2/sandboxes", {"templateID": "base"})
        self.assertEqual((status, json.loads(text)["code"]), (429, 429), text)
        self.assertNotIn("Retry-After", headers)


class Commands(SandboxStory):
    def test_a_command_tells_how_it_ended(self):
        sandbox = self.create()
        done = self.run_in(sandbox, "echo out; echo err >&2; exit 3")
        self.assertEqual((done["exit_status"], done["stdout"], done["stderr"]), (3, "out\n", "err\n"))
        self.assertEqual(self.run_in(sandbox, "kill -TERM $$")["signal"], 15)
        self.assertEqual(self.run_in(sandbox, "cat", stdin="fed")["stdout"], "fed")
        self.assertEqual(self.output(sandbox, "pwd; echo $A", cwd="/tmp", env={"A": "b"}), "/tmp\nb\n")
        self.assertEqual(self.output(sandbox, "id -un", user="root"), "root\n")
        for wrong, says in (({"command": ["no-such-program"]}, "no-such-program"), ({"command": "true", "cwd": "/nowhere"}, "/nowhere"),
                            ({"command": "true", "user": "who"}, "who"), ({"command": "true", "env": {"A=B": "c"}}, "name")):
            self.assertIn(says, self.api("POST", f"/v1/sandboxes/{sandbox}/commands", wrong, expect=400)["detail"])

    def test_one_that_takes_too_long_is_killed_with_its_children(self):
        sandbox = self.create()
        done = self.run_in(sandbox, "sleep 1000 & sleep 1000", timeout=1)
        self.assertTrue(done["timed_out"])
        self.assertFalse(self.run_in(sandbox, "while pgrep sleep > /dev/null; do :; done", timeout=30)["timed_out"])

    def test_its_time_does_not_pass_while_the_sandbox_is_paused(self):
        sandbox = self.create()
        pid = self.run_in(sandbox, "sleep 2; echo done", timeout=3, background=True)["pid"]
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause")
        time.sleep(4)
        self.api("POST", f"/v1/sandboxes/{sandbox}/resume")
        connection, events = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/{pid}/output")
        told = dict(events)
        connection.close()
        self.assertEqual((told["stdout"]["text"], told["end"]["exit_status"], told["end"]["timed_out"]), ("done\n", 0, False))
        pid = self.run_in(sandbox, "sleep 1000", timeout=1, background=True)["pid"]
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause")
        self.api("POST", f"/v1/sandboxes/{sandbox}/resume")
        connection, events = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/{pid}/output")
        self.assertTrue(dict(events)["end"]["timed_out"])
        connection.close()

    def test_output_comes_as_events_while_it_runs(self):
        sandbox = self.create()
        connection, events = self.events("POST", f"/v1/sandboxes/{sandbox}/commands",
                                         {"command": "echo one; cat; echo ünï >&2", "keep_stdin": True})
        name, data = next(events)
        self.assertEqual(name, "start")
        pid = data["pid"]
        self.assertEqual(next(events)[1]["text"], "one\n")
        status = self.server.request("POST", f"/v1/sandboxes/{sandbox}/commands/{pid}/stdin?close=true", b"typed")[0]
        self.assertEqual(status, 204)
        rest = list(events)
        self.assertIn(("stdout", "typed"), [(one, data.get("text")) for one, data in rest])
        self.assertIn(("stderr", "ünï\n"), [(one, data.get("text")) for one, data in rest])
        self.assertEqual((rest[-1][0], rest[-1][1]["exit_status"]), ("end", 0))
        connection.close()

    def test_a_background_command_is_left_and_found_again(self):
        sandbox = self.create()
        started = self.run_in(sandbox, "echo before; read line; echo got $line", background=True, keep_stdin=True, tag="job")
        self.assertTrue(started["running"])
        first, events = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/{started['pid']}/output")
        next(events)
        self.assertEqual(next(events)[1]["text"], "before\n")
        first.close()  # leaves
        one, second = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/job/output"), None
        other, second = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/job/output?from=end")
        self.server.request("POST", f"/v1/sandboxes/{sandbox}/commands/job/stdin", b"it\n")
        text = lambda stream: "".join(data.get("text", "") for _, data in stream)
        self.assertEqual(text(one[1]), "before\ngot it\n")
        self.assertEqual(text(second), "got it\n")
        late = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/job/output")[1]
        self.assertEqual(text(late), "before\ngot it\n")
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}/commands/job")["end"]["exit_status"], 0)

    def test_a_signal_reaches_it(self):
        sandbox = self.create()
        started = self.run_in(sandbox, "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done",
                              background=True)
        events = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/{started['pid']}/output")[1]
        next(events), next(events)  # start, ready
        self.api("POST", f"/v1/sandboxes/{sandbox}/commands/{started['pid']}/signal", {"signal": "SIGTERM"}, expect=204)
        self.assertEqual(list(events)[-1][1]["exit_status"], 7)
        self.api("POST", f"/v1/sandboxes/{sandbox}/commands/{started['pid']}/signal", {"signal": "SIGTERM"}, expect=409)
        self.api("POST", f"/v1/sandboxes/{sandbox}/commands/999999/signal", {}, expect=404)

    def test_a_terminal_is_one(self):
        sandbox = self.create()
        path = f"/v1/sandboxes/{sandbox}/terminal"
        terminal = WebSocket(self.server.port, path + "?rows=30&columns=90", self.server.key)
        kind, data = terminal.read()
        pid = json.loads(data)["pid"]
        terminal.send(WebSocket.BINARY, b"tty; stty size; echo do''ne\n")
        seen = terminal.read_until(b"done")
        self.assertIn(b"/dev/pts/", seen)
        self.assertIn(b"30 90", seen)
        terminal.send(WebSocket.TEXT, json.dumps({"rows": 10, "columns": 20}).encode())
        terminal.send(WebSocket.BINARY, b"stty size; echo ag''ain\n")
        self.assertIn(b"10 20", terminal.read_until(b"again"))
        terminal.close()  # leaves; the shell goes on
        back = WebSocket(self.server.port, f"{path}?pid={pid}", self.server.key)
        back.send(WebSocket.BINARY, b"exit 5\n")
        while True:
            kind, data = back.read()
            if kind == WebSocket.TEXT and b"exit_status" in data:
                break
        self.assertEqual(json.loads(data)["exit_status"], 5)
        self.api("GET", f"{path}?pid=4000000", headers={"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                                                        "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="}, expect=404)


class Files(SandboxStory):
    def test_what_is_put_in_comes_out(self):
        sandbox = self.create()
        info = self.put(sandbox, "/home/user/a/b/data.bin", b"0123456789", mode="600")
        self.assertEqual((info["size"], info["mode"], info["type"]), (10, 0o600, "file"))
        self.assertEqual(self.output(sandbox, "cat a/b/data.bin; stat -c '%U %a' a/b/data.bin"), "0123456789user 600\n")
        self.put(sandbox, "a/b/data.bin", b"abc", append="true")
        status, headers, data = self.read(sandbox, "~/a/b/data.bin")
        self.assertEqual((status, data, headers["Content-Length"]), (200, b"0123456789abc", "13"))
        status, headers, data = self.read(sandbox, "/home/user/a/b/data.bin", Range="bytes=8-10")
        self.assertEqual((status, data, headers["Content-Range"]), (206, b"89a", "bytes 8-10/13"))
        self.assertEqual(self.read(sandbox, "/home/user/a/b/data.bin", Range="bytes=50-")[0], 416)
        self.assertEqual(self.read(sandbox, "/nowhere")[0], 404)
        self.assertEqual(self.read(sandbox, "/tmp")[0], 400)

    def test_directories_are_listed_made_moved_and_removed(self):
        sandbox = self.create()
        made = self.api("POST", self.files(sandbox, "/directory", path="/home/user/x/y"))
        self.assertEqual((made["type"], made["uid"]), ("directory", 1000))
        self.api("POST", self.files(sandbox, "/directory", path="/home/user/x/y"), expect=409)
        self.put(sandbox, "x/y/z.txt", b"z")
        self.output(sandbox, "ln -s /etc/passwd x/link; mkfifo x/pipe")
        listing = self.api("GET", self.files(sandbox, "/list", path="/home/user/x", depth=2))
        self.assertEqual([(one["path"][13:], one["type"]) for one in listing["entries"]],
                         [("link", "symlink"), ("pipe", "other"), ("y", "directory"), ("y/z.txt", "file")])
        self.assertEqual(listing["entries"][0]["target"], "/etc/passwd")
        self.api("POST", f"/v1/sandboxes/{sandbox}/files/move", {"from": "x/y/z.txt", "to": "x/w.txt"})
        self.assertEqual(self.read(sandbox, "x/w.txt")[2], b"z")
        self.api("POST", f"/v1/sandboxes/{sandbox}/files/move", {"from": "x/w.txt", "to": "x/new/er/w.txt"})
        self.assertEqual(self.read(sandbox, "x/new/er/w.txt")[2], b"z")
        missing = self.api("POST", f"/v1/sandboxes/{sandbox}/files/move", {"from": "x/none", "to": "x/other/none"}, expect=404)
        self.assertIn("x/none", missing["detail"])
        self.api("GET", self.files(sandbox, "/stat", path="x/other"), expect=404)  # nothing was made for it
        self.api("DELETE", self.files(sandbox, path="/home/user/x"), expect=409)
        self.api("DELETE", self.files(sandbox, path="/home/user/x", recursive="true"), expect=204)
        self.api("GET", self.files(sandbox, "/stat", path="/home/user/x"), expect=404)
        self.assertEqual(self.output(sandbox, "head -1 /etc/passwd")[:5], "root:")  # the link went, not what it led to

    def test_files_are_searched_by_name_and_text(self):
        sandbox = self.create()
        self.put(sandbox, "p/one.py", b"import os\nprint('needle')\n")
        self.put(sandbox, "p/two.txt", b"needle\n")
        found = lambda **query: self.api("GET", self.files(sandbox, "/search", path="/home/user/p", **query))
        self.assertEqual([one["path"] for one in found(name="*.py")], ["/home/user/p/one.py"])
        self.assertEqual([(one["path"][-7:], one["line"]) for one in found(text="needle")], [("/one.py", 2), ("two.txt", 1)])
        self.assertEqual(found(name="*.py", text="nothing"), [])
        for path in (".", "./p/.", "p//"):
            listed = self.api("GET", self.files(sandbox, "/list", path=path, depth=2))["entries"]
            self.assertIn("/home/user/p/one.py", [one["path"] for one in listed], path)
            matched = self.api("GET", self.files(sandbox, "/search", path=path, name="one.py"))
            self.assertEqual([one["path"] for one in matched], ["/home/user/p/one.py"], path)

    def test_changes_are_told_as_they_happen(self):
        sandbox = self.create()
        connection, events = self.events("GET", self.files(sandbox, "/watch", path="/home/user"))
        self.assertEqual(next(events)[0], "watching")
        self.output(sandbox, "echo x > seen; mv seen moved; rm moved")
        told = []
        while ("remove", "moved") not in told:
            name, data = next(events)
            told.append((name, data["name"]))
        self.assertEqual([one for one in told if one[0] != "chmod"], [("create", "seen"), ("write", "seen"), ("rename", "seen"), ("create", "moved"),
                                ("remove", "moved")])
        connection.close()

    def test_a_recursive_watch_sees_what_happens_below_and_in_directories_that_appear(self):
        sandbox = self.create()
        self.output(sandbox, "mkdir -p tree/old; ln -s /etc tree/link")
        connection, events = self.events("GET", self.files(sandbox, "/watch", path="/home/user/tree", recursive="true"))
        self.assertEqual(next(events)[0], "watching")
        told = []
        for command, last in (("mkdir -p tree/new/deep; echo x > tree/new/deep/file", "new/deep/file"),
                              ("mv tree/new tree/old/; echo y > tree/old/new/deep/file", "old/new/deep/file")):
            self.output(sandbox, command)
            while ("write", last) not in told:
                name, data = next(events)
                told.append((name, data["name"]))
        for wanted in (("create", "new"), ("create", "new/deep"), ("rename", "new"), ("create", "old/new")):
            self.assertEqual(told.count(wanted), 1, told)
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)
        list(events)  # the stream ends with the sandbox
        connection.close()

    def test_a_tree_of_too_many_directories_is_not_watched(self):
        sandbox = self.create()
        self.output(sandbox, "mkdir -p $(seq -f wide/%g 1 9000)")
        answer = self.api("GET", self.files(sandbox, "/watch", path="/home/user/wide", recursive="true"), expect=422)
        self.assertIn("8192", json.dumps(answer))

    def test_activity_gives_a_sandbox_its_whole_time_again_if_it_asked_for_that(self):
        ends = lambda sandbox: self.api("GET", f"/v1/sandboxes/{sandbox}")["end_at"]
        plain, extending = self.create(timeout=30), self.create(timeout=30, extend_on_activity=True)
        before = {sandbox: ends(sandbox) for sandbox in (plain, extending)}
        deadline = time.monotonic() + 60
        while ends(extending) == before[extending]:
            self.assertLess(time.monotonic(), deadline)
            self.output(extending, "true")
            self.output(plain, "true")
        self.assertGreater(ends(extending), before[extending])
        self.assertEqual(ends(plain), before[plain])

    def test_large_files_pass_in_constant_memory(self):
        sandbox = self.create(limits={"disk_bytes": 700 << 20, "memory_bytes": 1500 << 20})
        piece = os.urandom(1 << 20)
        count = 400

        def pieces():
            for _ in range(count):
                yield piece

        def memory():
            if SANITIZED:
                return 0  # what it takes itself hides the server's
            with open(f"/proc/{self.server.process.pid}/status") as file:
                return int([line for line in file if line.startswith("VmHWM")][0].split()[1])

        before = memory()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        connection.request("PUT", self.files(sandbox, path="/tmp/large"), pieces(),
                           {"Authorization": "Bearer " + self.server.key}, encode_chunked=True)
        answer = connection.getresponse()
        self.assertEqual((answer.status, json.loads(answer.read())["size"]), (200, count << 20))
        connection.request("GET", self.files(sandbox, path="/tmp/large"), None, {"Authorization": "Bearer " + self.server.key})
        answer = connection.getresponse()
        sum_of = hashlib.sha256()
        while data := answer.read(1 << 20):
            sum_of.update(data)
        expected = hashlib.sha256()
        for _ in range(count):
            expected.update(piece)
        self.assertEqual(sum_of.hexdigest(), expected.hexdigest())
        self.assertLess(memory() - before, 60 * 1024)  # KiB


class Restarts(SandboxStory):
    def test_a_server_that_stops_ends_its_sandboxes_and_says_so(self):
        sandbox = self.create(timeout=3600)
        self.assertEqual(self.server.stop(), 0)
        type(self).server = Server(self.data, self.scratch)
        row = self.api("GET", f"/v1/sandboxes/{sandbox}")
        self.assertEqual((row["state"], row["reason"]), ("stopped", "the server stopped"))


if __name__ == "__main__":
    unittest.main()
