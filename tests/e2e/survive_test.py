"""kill -9 of the server: sandboxes go on without it, and the next one finds everything where it was. Killed together
with its keeper, it leaves nothing."""

import contextlib
import json
import os
import random
import socket
import subprocess
import threading
import time
import unittest

from sandbox_story import SandboxStory
from server_story import Server
from service_network_test import CallNetworkStory
from story import groups_of, instances, processes_in, processes_mentioning, until
from web_socket import WebSocket

KILLS = int(os.environ.get("BELLJAR_TEST_KILLS", "12"))
COUNTER = "i=0; while :; do i=$((i+1)); echo $i; [ $((i % 50)) = 0 ] && sleep 0.01; done"


def open_files(pid):
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile: a launcher makes the next sandboxes ahead
            yield os.readlink(f"/proc/{pid}/fd/{fd}")


def keepers(data):
    """Launchers that hold the lock of an instance with this data directory open."""
    found = []
    names = set(instances(data))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/status") as file:
                status = dict(line.split(":\t", 1) for line in file)
            if status["Name"].strip() != "belljar-launch" or len(status["NSpid"].split()) > 1:
                continue  # a sandbox about to be is in a namespace of its own, and looks the same otherwise
            targets = list(open_files(pid))
        except OSError:
            continue
        if any(os.path.basename(target) in names for target in targets):
            found.append(int(pid))
    return found


class SurviveStory(SandboxStory):
    def restart(self):
        """kill -9, and the next server on the same data directory."""
        self.server.kill()
        self.start_again()

    def start_again(self, around=()):
        type(self).server = Server(self.data, self.scratch, *self.flags, env={**self.everywhere, **self.env}, around=around)

    def start(self, sandbox, command, **fields):
        return self.run_in(sandbox, command, background=True, timeout=0, **fields)["pid"]

    def command(self, sandbox, pid):
        return self.api("GET", f"/v1/sandboxes/{sandbox}/commands/{pid}")

    def read_output(self, sandbox, pid, enough, place=0):
        """The output from a place on, until `enough` says so or it ends; (text by stream, how it ended)."""
        connection, events = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/{pid}/output?from={place}")
        text = {}
        for name, data in events:
            if name == "end":
                connection.close()
                return text, data
            self.assertNotEqual(name, "gap")
            if name != "start":
                text[name] = text.get(name, "") + data["text"]
            if enough(text):
                break
        connection.close()
        return text, None


class Survivors(SurviveStory):
    def test_files_processes_and_their_output_go_on(self):
        sandbox = self.create(timeout=3600, env={"COLOUR": "green"}, metadata={"who": "me"})
        self.put(sandbox, "note", b"written before")
        counter = self.start(sandbox, COUNTER, tag="counter")
        reader = self.start(sandbox, "while read line; do echo got $line; done; echo over >&2; exit 7", keep_stdin=True)
        short = self.start(sandbox, "echo short; exit 3")
        until(lambda: not self.command(sandbox, short)["running"])
        before = self.api("GET", f"/v1/sandboxes/{sandbox}")
        for turn in range(3):
            self.restart()
            self.server.request("POST", f"/v1/sandboxes/{sandbox}/commands/{reader}/stdin", f"turn {turn}\n".encode())
        row = self.api("GET", f"/v1/sandboxes/{sandbox}")
        self.assertEqual({key: row[key] for key in ("state", "end_at", "metadata", "started_at")},
                         {key: before[key] for key in ("state", "end_at", "metadata", "started_at")})
        self.assertEqual(self.read(sandbox, "note")[2], b"written before")
        self.assertEqual(self.output(sandbox, "cat note; echo $COLOUR"), "written beforegreen\n")
        self.assertEqual(self.command(sandbox, "counter")["pid"], counter)
        begin = self.command(sandbox, counter)["output_end"]
        text, _ = self.read_output(sandbox, counter, lambda seen: len(seen.get("stdout", "")) > 20000, begin)
        numbers = [int(line) for line in text["stdout"].split("\n")[1:-1]]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.server.request("POST", f"/v1/sandboxes/{sandbox}/commands/{reader}/stdin?close=true")
        text, end = self.read_output(sandbox, reader, lambda seen: False)
        self.assertEqual(text, {"stdout": "got turn 0\ngot turn 1\ngot turn 2\n", "stderr": "over\n"})
        self.assertEqual(end["exit_status"], 7)
        text, end = self.read_output(sandbox, short, lambda seen: False)
        self.assertEqual((text, end["exit_status"]), ({"stdout": "short\n"}, 3))
        until(lambda: len(self.audit(subject=sandbox, action="sandbox.command")) >= 3, "the last receipt")
        actions = [event["action"] for event in self.audit(subject=sandbox)]
        self.assertEqual(actions.count("sandbox.adopted"), 3)
        self.assertEqual(actions.count("sandbox.command"), 3)  # the two that ended, and `cat`
        self.assertNotIn("sandbox.lost", actions)

    def test_a_receipt_that_is_written_is_not_written_again_by_the_next_server(self):
        sandbox = self.create(timeout=3600)
        receipts = lambda: self.audit(subject=sandbox, action="sandbox.command")
        for turn in range(1, 4):
            self.output(sandbox, "true")
            until(lambda: len(receipts()) == turn, "the receipt")
            self.restart()  # before the server has noted that it wrote it, unless this is slow
        self.run_in(sandbox, "true")
        until(lambda: len(receipts()) >= 4, "the last receipt")
        self.assertEqual(len(receipts()), 4)
        self.assertEqual(len({event["detail"]["run"] for event in receipts()}), 4)

    def test_what_a_command_left_behind_goes_on_printing(self):
        sandbox = self.create(timeout=3600)
        self.run_in(sandbox, "while sleep 0.05; do echo still here; i=$((i+1)); echo $i > next; mv next ticks; done &")
        ticks = lambda: int(self.output(sandbox, "cat ticks").strip() or 0)
        until(lambda: ticks() > 3, "the first lines")
        for turn in range(2):
            self.restart()
            before = ticks()
            until(lambda: ticks() > before + 3, "more lines")

    def test_a_terminal_goes_on_with_its_shell(self):
        sandbox = self.create(timeout=3600)
        path = f"/v1/sandboxes/{sandbox}/terminal"
        terminal = WebSocket(self.server.port, path, self.server.key)
        pid = json.loads(terminal.read()[1])["pid"]
        terminal.send(WebSocket.BINARY, b"here=remembered; echo re''ady\n")
        terminal.read_until(b"ready")
        self.restart()
        terminal = WebSocket(self.server.port, f"{path}?pid={pid}", self.server.key)
        terminal.send(WebSocket.TEXT, json.dumps({"rows": 11, "columns": 33}).encode())
        terminal.send(WebSocket.BINARY, b"echo $here; stty size; echo do''ne\n")
        seen = terminal.read_until(b"done")
        self.assertIn(b"remembered", seen)
        self.assertIn(b"11 33", seen)
        terminal.close()

    def execute(self, sandbox, code, context=None, **fields):
        place = f"/v1/sandboxes/{sandbox}" + (f"/contexts/{context}" if context else "")
        return self.api("POST", place + "/execute", {"code": code, **fields})

    def test_contexts_keep_their_state_and_checkpoints(self):
        sandbox = self.create(timeout=300)
        place = f"/v1/sandboxes/{sandbox}/contexts"
        self.execute(sandbox, "x = [1]; import threading")
        other = self.api("POST", place, {"language": "python", "cwd": "/tmp"})["id"]
        self.execute(sandbox, "x = 'other'", other)
        point = self.api("POST", f"{place}/{other}/checkpoints")["id"]
        self.execute(sandbox, "x = 'later'", other)
        self.execute(sandbox, "let n = 41", language="js")
        self.execute(sandbox, "v=7; cd /tmp", language="bash")
        before = self.api("GET", place)
        self.restart()
        self.assertEqual(self.api("GET", place), before)
        done = self.execute(sandbox, "x.append(2); x")
        self.assertEqual((done["results"][0]["text"], done["count"], done["restarted"]), ("[1, 2]", 2, False))
        self.assertEqual(self.execute(sandbox, "n + 1", language="js")["results"][0]["text"], "42")
        self.assertEqual(self.execute(sandbox, "echo $v $PWD", language="bash")["stdout"], "7 /tmp\n")
        self.restart()
        self.assertEqual(self.execute(sandbox, "x", other)["results"][0]["text"], "'later'")
        self.api("POST", f"{place}/{other}/rollback", {"checkpoint_id": point})
        done = self.execute(sandbox, "import os; x, os.getcwd()", other)
        self.assertEqual((done["results"][0]["text"], done["count"]), ("('other', '/tmp')", 2))
        self.api("DELETE", f"{place}/{other}", expect=204)
        self.restart()
        self.assertNotIn(other, [context["id"] for context in self.api("GET", place)])
        self.assertEqual(self.api("POST", place, {"language": "python"})["executions"], 0)

    def test_code_that_ran_is_ended_and_its_context_says_that_it_began_anew(self):
        sandbox = self.create(timeout=300)
        self.execute(sandbox, "x = 1")
        connection, events = self.events("POST", f"/v1/sandboxes/{sandbox}/execute",
                                         {"code": "print('on')\nwhile True: pass", "timeout": 0})
        self.assertEqual([next(events)[0], next(events)[1]["text"]], ["start", "on\n"])
        self.restart()
        connection.close()
        done = self.execute(sandbox, "x")
        self.assertEqual((done["error"]["name"], done["restarted"]), ("NameError", True))
        states = "cat /proc/[0-9]*/stat | grep -c ') R '; true"
        until(lambda: int(self.output(sandbox, states)) <= 1, "the end of the endless loop")

    def test_what_ended_while_no_server_ran_is_told_with_its_status(self):
        sandbox = self.create(timeout=3600)
        pids = [self.start(sandbox, f"read line; echo $line; exit {status}", keep_stdin=True) for status in (5, 6)]
        slow = self.start(sandbox, "touch waiting; while [ ! -e go ]; do sleep 0.01; done; seq 20000; touch gone; exit 9")
        until(lambda: "waiting" in self.output(sandbox, "ls"))
        self.start(sandbox, "sleep 0.3; touch go")
        self.server.kill()
        time.sleep(1)  # without a server: it must happen by itself
        self.start_again()
        text, end = self.read_output(sandbox, slow, lambda seen: False)
        self.assertEqual(text["stdout"], "".join(f"{n}\n" for n in range(1, 20001)))
        self.assertEqual(end["exit_status"], 9)
        for pid, status in zip(pids, (5, 6)):
            self.server.request("POST", f"/v1/sandboxes/{sandbox}/commands/{pid}/stdin?close=true", b"line\n")
            self.assertEqual(self.read_output(sandbox, pid, lambda seen: False)[1]["exit_status"], status)

    def test_one_that_is_paused_stays_paused(self):
        sandbox = self.create(timeout=3600)
        counter = self.start(sandbox, COUNTER)
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause")
        self.restart()
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "paused")
        used = [self.api("GET", f"/v1/sandboxes/{sandbox}/metrics")["cpu_seconds"] for _ in range(2)]
        self.assertEqual(used[0], used[1])
        self.run_in(sandbox, "true", expect=409)
        self.api("POST", f"/v1/sandboxes/{sandbox}/resume")
        end = self.command(sandbox, counter)["output_end"]
        text, _ = self.read_output(sandbox, counter, lambda seen: len(seen.get("stdout", "")) > 1000, end)
        self.assertGreater(len(text["stdout"]), 1000)

    def test_time_limits_hold_with_and_without_a_server(self):
        short = self.create(timeout=3)
        moved = self.create(timeout=3600)
        limited = self.create(timeout=3600)
        self.api("POST", f"/v1/sandboxes/{moved}/timeout", {"timeout": 3})
        self.start(short, "sleep 7654311")
        command = self.run_in(limited, "sleep 1000", background=True, timeout=2)["pid"]
        self.server.kill()
        until(lambda: not processes_mentioning("7654311"), "its end")  # nobody but the keeper is there to end it
        self.start_again()
        for sandbox in (short, moved):
            until(lambda: self.api("GET", f"/v1/sandboxes/{sandbox}")["state"] == "stopped")
            self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["reason"], "its time was over")
        until(lambda: not self.command(limited, command)["running"])
        self.assertTrue(self.command(limited, command)["end"]["timed_out"])

    def test_a_server_that_stops_ends_them_as_before(self):
        sandbox = self.create(timeout=3600)
        self.restart()
        self.start(sandbox, "sleep 7654312")
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(processes_mentioning("7654312"), [])
        self.assertEqual(instances(self.data), [])
        self.start_again()
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["reason"], "the server stopped")


class KeptOnStop(SurviveStory):
    """A server that is told to leave its sandboxes when it stops, too."""

    @classmethod
    def prepare(cls):
        folder = os.path.join(cls.scratch, ".config/belljar")
        os.makedirs(folder)
        with open(os.path.join(folder, "config.toml"), "w") as file:
            file.write("[sandboxes]\nkeep_on_stop = true\n")

    @classmethod
    def tearDownClass(cls):
        for pid in keepers(cls.data):
            os.kill(pid, 9)
        super().tearDownClass()

    def test_a_stop_is_like_a_kill(self):
        sandbox = self.create(timeout=3600)
        counter = self.start(sandbox, COUNTER)
        self.assertEqual(self.server.stop(), 0)
        self.start_again()
        self.assertTrue(self.command(sandbox, counter)["running"])
        self.assertEqual(self.output(sandbox, "echo lives"), "lives\n")


class RandomMoments(SurviveStory):
    """Killed whenever, while sandboxes are made, paused, resumed, extended and removed."""

    def load(self, acknowledged, removed, server):
        chance = random.Random(self.turn)
        mine = []
        try:
            while True:
                act = chance.choice(["create", "create", "pause", "resume", "timeout", "command", "delete"])
                if act == "create" and len(mine) < 4:
                    status, _, text = server.request("POST", "/v1/sandboxes", {"timeout": 3600})
                    if status == 200:
                        mine.append(json.loads(text)["id"])
                        acknowledged.append(mine[-1])
                elif mine and act == "command":
                    server.request("POST", f"/v1/sandboxes/{chance.choice(mine)}/commands", {"command": "echo hi > f"})
                elif mine and act == "delete":
                    one = mine.pop()
                    removed.append(one)  # asked for: it may be there or not
                    server.request("DELETE", f"/v1/sandboxes/{one}")
                elif mine and act in ("pause", "resume", "timeout"):
                    server.request("POST", f"/v1/sandboxes/{chance.choice(mine)}/{act}",
                                   {"timeout": 1800} if act == "timeout" else None)
        except Exception:  # the server is gone, perhaps in the middle of an answer
            return

    def test_every_sandbox_is_there_after_every_kill(self):
        chance = random.Random(11)
        acknowledged, removed = [], []
        witness = self.create(timeout=3600)
        counter = self.start(witness, COUNTER)
        place, last = 0, 0
        for self.turn in range(KILLS):
            thread = threading.Thread(target=self.load, args=(acknowledged, removed, self.server))
            thread.start()
            time.sleep(chance.uniform(0.0, 0.6))  # the moment of the kill is what the test varies
            self.server.kill()
            thread.join()
            self.start_again()
            # Line after line, over all servers: no gap, nothing twice.
            text, _ = self.read_output(witness, counter, lambda seen: len(seen.get("stdout", "")) > 3000, place)
            whole = text["stdout"][:text["stdout"].rfind("\n") + 1]
            numbers = [int(line) for line in whole.split()]
            self.assertEqual(numbers, list(range(last + 1, last + 1 + len(numbers))))
            place, last = place + len(whole), numbers[-1]
            for one in set(acknowledged) - set(removed):
                row = self.api("GET", f"/v1/sandboxes/{one}")
                self.assertIn(row["state"], ("running", "paused"), (self.turn, row))
        for one in set(acknowledged) - set(removed):
            if self.api("GET", f"/v1/sandboxes/{one}")["state"] == "paused":
                self.api("POST", f"/v1/sandboxes/{one}/resume")
            self.assertEqual(self.output(one, "echo lives"), "lives\n")
        # What was begun is concluded; a removal that no server has heard of was none. Then all can go.
        def in_state(states):
            return {row["id"] for row in self.api("GET", f"/v1/sandboxes?state={states}&limit=100")}
        until(lambda: not in_state("creating,stopping"), "the end of what was begun")
        left = in_state("running,paused")
        self.assertLessEqual(set(acknowledged) - set(removed) | {witness}, left)
        for one in left:
            self.api("DELETE", f"/v1/sandboxes/{one}", expect=204)
        self.assertEqual(in_state("creating,running,paused,stopping,error"), set())


class Lost(SurviveStory):
    def test_killed_with_its_keeper_it_leaves_nothing(self):
        sandbox = self.create(timeout=3600)
        self.start(sandbox, "sleep 7654313")
        paused = self.create(timeout=3600)
        self.start(paused, "sleep 7654313")
        self.api("POST", f"/v1/sandboxes/{paused}/pause")
        dead = instances(self.data)
        (keeper,) = keepers(self.data)
        self.server.kill()
        os.kill(keeper, 9)
        until(lambda: not os.path.exists(f"/proc/{keeper}"))
        self.start_again()
        for one in (sandbox, paused):
            row = self.api("GET", f"/v1/sandboxes/{one}")
            self.assertEqual((row["state"], row["reason"]), ("stopped", "the server ended, and the sandbox with it"))
        self.assertIn("sandbox.lost", [event["action"] for event in self.audit(subject=sandbox)])
        until(lambda: processes_mentioning("7654313") == [])
        self.assertEqual(processes_in([group for one in dead for group in groups_of(one)]), [])
        self.restart()  # whoever comes next removes what had processes in it then
        self.assertEqual([group for one in dead for group in groups_of(one)], [])
        with open("/proc/self/mountinfo") as mounts:
            self.assertNotIn(self.data, mounts.read())

    def test_a_machine_that_has_another_name_now_is_the_same(self):
        """As a container that is made anew over its data. What had lived there was called running, and nobody could delete it."""
        renamed = ("unshare", "--uts", "sh", "-c", 'hostname renamed; exec "$@"', "sh")
        sandbox = self.create(timeout=3600)
        (keeper,) = keepers(self.data)
        self.server.kill()
        os.kill(keeper, 9)
        until(lambda: not os.path.exists(f"/proc/{keeper}"))
        self.start_again(renamed)
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "stopped")
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)
        sandbox = self.create(timeout=3600)
        self.restart()
        self.assertEqual(self.output(sandbox, "echo here"), "here\n")

    def test_without_sandboxes_nobody_waits_for_the_next_server(self):
        self.assertEqual(len(keepers(self.data)), 1)
        self.server.kill()
        until(lambda: keepers(self.data) == [], "the keeper's end")
        self.start_again()

    def test_a_second_server_on_the_same_data_leaves_the_first_ones_alone(self):
        sandbox = self.create(timeout=3600)
        second = Server(self.data, self.scratch, env=self.everywhere)
        self.assertEqual(self.output(sandbox, "echo mine"), "mine\n")
        second.stop()
        self.restart()
        self.assertEqual(self.output(sandbox, "echo mine"), "mine\n")


class Strangers(SurviveStory):
    """The keeper's door is for the next server of the same user only."""

    def test_nothing_inside_a_sandbox_reaches_the_door(self):
        sandbox = self.create(timeout=3600)
        script = ("import os,socket\n"
                  f"paths = ['{self.data}/keeper.sock', '/keeper.sock', '/proc/1/root{self.data}/keeper.sock', '/proc/1/cwd/keeper.sock']\n"
                  "for path in paths:\n"
                  "    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                  "    try:\n        s.connect(path); print('reached', path)\n"
                  "    except OSError as error:\n        print(error.errno)\n")
        for user in ("", "root"):
            said = self.output(sandbox, ["python3", "-c", script], **({"user": user} if user else {}))
            self.assertNotIn("reached", said)
            self.assertEqual(len(said.split()), 4)

    @unittest.skipUnless(os.geteuid() == 0, "becomes another user: needs root")
    def test_another_user_is_not_let_in(self):
        sandbox = self.create(timeout=3600)
        self.server.kill()
        path = os.path.join(self.data, "keeper.sock")
        script = ("import os,socket,sys\nos.chdir(sys.argv[1])\nos.setgroups([])\nos.setgid(65534); os.setuid(65534)\n"
                  "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                  "try:\n    s.connect('keeper.sock'); s.settimeout(5)\nexcept OSError as error:\n    print('refused', error.errno); sys.exit()\n"
                  "try:\n    s.send(bytes(48)); print('heard', s.recv(100))\nexcept OSError:\n    print(\"heard b''\")\n")
        said = subprocess.run(["python3", "-c", script, self.data], capture_output=True, timeout=60).stdout
        self.assertIn(b"refused 13", said)
        os.chmod(path, 0o666)  # even if somebody opens it: the keeper looks who it is
        os.chmod(self.data, 0o711)
        said = subprocess.run(["python3", "-c", script, self.data], capture_output=True, timeout=60).stdout
        os.chmod(self.data, 0o700)
        self.assertIn(b"heard b''", said)
        self.start_again()
        self.assertEqual(self.output(sandbox, "echo mine"), "mine\n")

    def test_another_build_does_not_take_over_but_ends_what_there_is(self):
        sandbox = self.create(timeout=3600)
        self.start(sandbox, "sleep 7654314")
        self.server.kill()
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door.connect(os.path.join(self.data, "keeper.sock"))
        magic = (0x3172657065656b42).to_bytes(8, "little")
        door.send(magic + (1).to_bytes(4, "little") + b"another build".ljust(32, b"\0") + b"\0" * 4)
        self.assertEqual(door.recv(100)[8:12], (3).to_bytes(4, "little"))
        door.close()
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door.connect(os.path.join(self.data, "keeper.sock"))
        door.send(magic + (2).to_bytes(4, "little") + b"another build".ljust(32, b"\0") + b"\0" * 4)
        self.assertEqual(door.recv(100)[8:12], (4).to_bytes(4, "little"))
        until(lambda: processes_mentioning("7654314") == [])
        self.start_again()
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "stopped")


class Network(CallNetworkStory):
    def test_a_gate_is_open_again_and_addresses_lead_where_they_led(self):
        self.allow_organization("allowed.example", "other.example")
        sandbox = self.ask("POST", "/v1/sandboxes", {"network": "open", "timeout": 3600})["id"]
        closed = self.ask("POST", "/v1/sandboxes", {"timeout": 3600})["id"]

        def inside(command, where=sandbox):
            return self.ask("POST", f"/v1/sandboxes/{where}/commands", {"command": command})["stdout"]

        def address(name):
            return inside(f"python3 -c 'import socket; print(socket.gethostbyname(\"{name}\"))'").strip()

        known = address("allowed.example")
        self.assertIn('"server": "world"', inside("curl -sS -m 10 http://allowed.example/"))
        self.server.kill()
        type(self).server = Server(self.data, self.scratch, around=self.world.on_the_machine(),
                                   env={"SSL_CERT_FILE": os.path.join(self.scratch, "ca.pem")})
        pinned = inside(f"curl -sS -m 10 -H 'Host: allowed.example' http://{known}/")
        self.assertIn('"server": "world"', pinned)
        self.assertIn('"server": "world"', inside("curl -sS -m 10 http://allowed.example/"))
        self.assertEqual(address("allowed.example"), known)
        self.assertNotEqual(address("other.example"), known)
        self.assertNotIn('"server": "world"', inside("curl -sS -m 10 http://private.example/"))
        self.allow_organization("other.example")
        self.server.kill()
        type(self).server = Server(self.data, self.scratch, around=self.world.on_the_machine(),
                                   env={"SSL_CERT_FILE": os.path.join(self.scratch, "ca.pem")})
        self.assertNotIn('"server": "world"', inside(f"curl -sS -m 10 -H 'Host: allowed.example' http://{known}/"))
        self.assertIn('"server": "world"', inside("curl -sS -m 10 http://other.example/"))
        self.assertNotIn('"server": "world"', inside("curl -sS -m 10 http://other.example/", closed))
        self.ask("PUT", f"/v1/sandboxes/{closed}/network", {"network": "open"})
        self.assertIn('"server": "world"', inside("curl -sS -m 10 http://other.example/", closed))


del CallNetworkStory  # told in its own file

if __name__ == "__main__":
    unittest.main()
