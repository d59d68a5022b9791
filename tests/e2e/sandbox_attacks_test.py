"""Attacks on the routes of live sandboxes: planted links, other organizations, slow readers, floods. Families 1-3, 13, 24."""

import json
import os
import socket
import time
import unittest

from sandbox_story import SandboxStory
from story import SANITIZED
from web_socket import Refused, WebSocket


class PlantedPaths(SandboxStory):
    """The host must never resolve a path of the sandbox: what a link means is decided inside."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.secret = os.path.join(cls.scratch, "host-secret")
        with open(cls.secret, "w") as file:
            file.write("of the host")

    def test_a_link_to_a_file_of_the_host_leads_nowhere(self):
        sandbox = self.create()
        self.output(sandbox, f"ln -s {self.secret} link; ln -s {self.scratch} dir; ln -s /etc/shadow shadow")
        self.assertEqual(self.read(sandbox, "link")[0], 404)
        self.assertEqual(self.read(sandbox, "dir/host-secret")[0], 404)
        self.assertEqual(self.api("GET", self.files(sandbox, "/list", path="/home/user/dir"), expect=404)["detail"][:5], "open(")
        status, _, data = self.read(sandbox, "shadow")
        self.assertIn(status, (403, 404), data)
        for path in ("link", "dir/planted"):
            status, _, text = self.server.request("PUT", self.files(sandbox, path=path), b"written from outside")
            self.assertNotEqual(status, 500, text)
        with open(self.secret) as file:
            self.assertEqual(file.read(), "of the host")
        self.assertEqual(os.listdir(self.scratch).count("planted"), 0)

    def test_the_same_link_works_inside(self):
        """So that the test above can fail: a link to what is there is followed, by the sandbox's own eyes."""
        sandbox = self.create()
        self.output(sandbox, "echo inside > real; ln -s real link")
        self.assertEqual(self.read(sandbox, "link")[2], b"inside\n")
        self.assertEqual(self.api("GET", self.files(sandbox, "/stat", path="/home/user/link"))["type"], "symlink")

    def test_proc_and_odd_paths_open_nothing(self):
        sandbox = self.create()
        for path in ("/proc/self/root/etc/passwd", "/proc/1/root/etc/passwd", "/proc/self/mem", "/proc/1/environ", "/proc/self/fd/3",
                     "/dev/fd/3", "/proc/self/cwd", "//proc//self//environ", "/../../proc/self/maps", "/dev/mem", "/dev/null", "/dev/ptmx"):
            with self.subTest(path):
                status, _, data = self.read(sandbox, path)
                self.assertIn(status, (400, 403, 404), data)
        self.assertEqual(self.read(sandbox, "/../../../etc/hostname/../passwd")[0] // 100, 4)
        self.assertEqual(self.read(sandbox, "a\0b")[0], 400)
        self.assertEqual(self.read(sandbox, "a" * 5000)[0], 400)
        self.assertEqual(self.read(sandbox, "a" * 300)[0], 400)

    def test_a_pipe_or_device_does_not_stop_anybody(self):
        sandbox = self.create()
        self.output(sandbox, "mkfifo pipe")
        for method in ("GET", "PUT"):
            status, _, text = self.server.request(method, self.files(sandbox, path="pipe"), b"x" if method == "PUT" else None)
            self.assertEqual(status, 400, text)
        self.assertEqual(self.output(sandbox, "echo still"), "still\n")

    def test_a_tree_whose_parts_are_exchanged_while_it_is_removed(self):
        sandbox = self.create()
        self.output(sandbox, "mkdir -p keep/me; echo x > keep/me/file")
        swap = "while :; do mkdir -p t/d/e; ln -sfn /home/user/keep t/l; mv t/d t/x; ln -s /home/user/keep t/d; rm -f t/d; mv t/x t/d; done"
        self.run_in(sandbox, swap + " 2>/dev/null", background=True)
        for _ in range(20):
            status, _, text = self.server.request("DELETE", self.files(sandbox, path="/home/user/t", recursive="true"))
            self.assertNotEqual(status, 500, text)
        self.assertEqual(self.output(sandbox, "ls /etc/passwd"), "/etc/passwd\n")

    def test_a_crowded_directory_is_cut_instead_of_filling_the_server(self):
        sandbox = self.create()
        self.output(sandbox, ["python3", "-c", "import os; os.mkdir('many'); [open(f'many/{i}', 'w').close() for i in range(12000)]"])
        listing = self.api("GET", self.files(sandbox, "/list", path="/home/user/many"))
        self.assertTrue(listing["cut"])
        self.assertEqual(len(listing["entries"]), 10000)
        self.api("DELETE", self.files(sandbox, path="/home/user/many", recursive="true"), expect=204)

    def test_an_endless_tree_ends(self):
        sandbox = self.create()
        self.output(sandbox, ["python3", "-c", "import os\nfor i in range(200): os.mkdir('d'); os.chdir('d')\nos.symlink('/', 'loop')"])
        listing = self.api("GET", self.files(sandbox, "/list", path="/home/user", depth=64))
        self.assertLessEqual(len(listing["entries"]), 100)


class Tenants(SandboxStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = {}
        for name, role in (("theirs", "admin"), ("ours", "admin"), ("theirs", "read-only")):
            made = cls.belljar("key", "create", "--organization", name, "--role", role, "--json")
            done[(name, role)] = json.loads(made.stdout)["key"]
        cls.theirs, cls.ours, cls.reader = done[("theirs", "admin")], done[("ours", "admin")], done[("theirs", "read-only")]

    def routes(self, sandbox, pid):
        base = f"/v1/sandboxes/{sandbox}"
        file = lambda what="", **query: self.files(sandbox, what, **{"path": "/home/user/their-file", **query})
        return [
            ("GET", base, None), ("POST", base + "/timeout", {"timeout": 1}), ("POST", base + "/pause", None),
            ("POST", base + "/resume", None), ("GET", base + "/metrics", None), ("GET", base + "/logs", None),
            ("POST", base + "/commands", {"command": "echo their-secret"}), ("GET", base + "/commands", None),
            ("GET", f"{base}/commands/{pid}", None), ("GET", f"{base}/commands/{pid}/output", None),
            ("POST", f"{base}/commands/{pid}/stdin", b"x"), ("POST", f"{base}/commands/{pid}/signal", {"signal": "SIGKILL"}),
            ("GET", file(), None), ("PUT", file(), b"overwritten"), ("GET", file("/stat"), None),
            ("GET", file("/list", path="/home/user"), None), ("POST", file("/directory", path="/home/user/d"), None),
            ("POST", base + "/files/move", {"from": "d", "to": "elsewhere"}),
            ("GET", file("/search", path="/home/user"), None), ("GET", file("/watch", path="/home/user"), None),
            ("DELETE", file(), None), ("DELETE", base, None),
        ]

    def make(self):
        sandbox = self.create(key=self.theirs)
        self.run_in(sandbox, "echo their-secret > their-file", key=self.theirs)
        pid = self.run_in(sandbox, "cat", key=self.theirs, background=True, keep_stdin=True)["pid"]
        return sandbox, pid

    def test_another_organizations_sandbox_does_not_exist_on_any_route(self):
        sandbox, pid = self.make()
        missing = "sb" + "a" * 26
        for (method, path, body), (_, other, _) in zip(self.routes(sandbox, pid), self.routes(missing, pid)):
            with self.subTest(method + " " + path):
                status, _, text = self.server.request(method, path, body, key=self.ours)
                self.assertEqual(status, 404, text)
                self.assertNotIn(b"their-secret", text)
                absent = self.server.request(method, other, body, key=self.ours)[2]
                self.assertEqual(text.replace(sandbox.encode(), b""), absent.replace(missing.encode(), b""))
        with self.assertRaises(Refused) as refused:
            WebSocket(self.server.port, f"/v1/sandboxes/{sandbox}/terminal", self.ours)
        self.assertEqual(refused.exception.status, 404)
        self.assertEqual(self.api("GET", "/v1/sandboxes", key=self.ours), [])
        self.assertEqual(self.run_in(sandbox, "cat their-file", key=self.theirs)["stdout"], "their-secret\n")

    def test_the_same_requests_reach_it_for_their_owner(self):
        """So that the test above can fail."""
        sandbox, pid = self.make()
        for method, path, body in self.routes(sandbox, pid):
            if path.endswith("/output") or "/watch" in path:
                continue  # would not end
            with self.subTest(method + " " + path):
                self.assertNotIn(self.server.request(method, path, body, key=self.theirs)[0], (401, 403, 404))

    def test_a_read_only_key_looks_and_does_not_touch(self):
        sandbox, pid = self.make()
        for method, path, body in self.routes(sandbox, pid):
            if path.endswith("/output") or "/watch" in path:
                continue
            with self.subTest(method + " " + path):
                status = self.server.request(method, path, body, key=self.reader)[0]
                self.assertEqual(status, 200 if method == "GET" else 403)
        with self.assertRaises(Refused) as refused:
            WebSocket(self.server.port, f"/v1/sandboxes/{sandbox}/terminal", self.reader)
        self.assertEqual(refused.exception.status, 403)

    def test_without_a_key_nothing_opens(self):
        sandbox, pid = self.make()
        for method, path, body in self.routes(sandbox, pid):
            with self.subTest(method + " " + path):
                self.assertIn(self.server.request(method, path, body, key=False)[0], (401, 429))
        with self.assertRaises(Refused) as refused:
            WebSocket(self.server.port, f"/v1/sandboxes/{sandbox}/terminal")
        self.assertIn(refused.exception.status, (401, 429))

    def test_a_page_of_another_site_gets_no_terminal(self):
        sandbox, _ = self.make()
        with self.assertRaises(Refused) as refused:
            WebSocket(self.server.port, f"/v1/sandboxes/{sandbox}/terminal", self.theirs, {"Origin": "https://evil.example"})
        self.assertEqual(refused.exception.status, 403)

    def test_an_organization_cannot_have_more_than_its_share(self):
        made = []
        try:
            for _ in range(6):
                status, _, text = self.server.request("POST", "/v1/sandboxes", {"limits": {"memory_bytes": 32 << 20}}, key=self.ours)
                if status != 200:
                    break
                made.append(json.loads(text)["id"])
            self.assertEqual((status, len(made)), (429, 4), text)
            self.assertIn(b"4 sandboxes at a time", text)
        finally:
            for one in made:
                self.server.request("DELETE", f"/v1/sandboxes/{one}", key=self.ours)

    @classmethod
    def prepare(cls):
        path = os.path.join(cls.scratch, "config.toml")
        with open(path, "w") as file:
            file.write("[sandboxes]\nmost_live = 4\n")
        os.makedirs(os.path.join(cls.scratch, ".config/belljar"))
        os.rename(path, os.path.join(cls.scratch, ".config/belljar/config.toml"))


class Shares(SandboxStory):
    """What an organization's sandboxes may take together, over HTTP."""

    @classmethod
    def prepare(cls):
        os.makedirs(os.path.join(cls.scratch, ".config/belljar"))
        with open(os.path.join(cls.scratch, ".config/belljar/config.toml"), "w") as file:
            file.write('[sandboxes]\nmost_live = 3\nmost_cpus = 3\nmost_memory = "600M"\nmost_disk = "600M"\n')

    SMALL = {"cpus": 0.5, "memory_bytes": 64 << 20, "disk_bytes": 64 << 20}

    def refused(self, word, **limits):
        answer = self.api("POST", "/v1/sandboxes", {"limits": {**self.SMALL, **limits}}, expect=429)
        self.assertIn(word, json.dumps(answer))

    def test_each_share_is_kept_and_given_back(self):
        first = self.create(limits=self.SMALL)
        self.refused("processors", cpus=2.6)
        self.refused("memory", memory_bytes=580 << 20)
        self.refused("disk", disk_bytes=580 << 20)
        more = [self.create(limits=self.SMALL) for _ in range(2)]
        self.refused("3 sandboxes at a time")
        other = json.loads(self.belljar("key", "create", "--organization", "elsewhere", "--role", "admin", "--json").stdout)["key"]
        theirs = self.api("POST", "/v1/sandboxes", {"limits": self.SMALL}, key=other)["id"]  # a share is an organization's own
        self.api("DELETE", f"/v1/sandboxes/{theirs}", key=other, expect=204)
        for one in (first, *more):
            self.api("DELETE", f"/v1/sandboxes/{one}", expect=204)
        self.create(limits={**self.SMALL, "memory_bytes": 580 << 20})


class Floods(SandboxStory):
    def memory(self):
        if SANITIZED:
            return 0  # what it takes itself hides the server's
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return int([line for line in file if line.startswith("VmRSS")][0].split()[1]) // 1024

    def test_a_gigabyte_of_output_is_counted_not_kept(self):
        sandbox = self.create()
        before = self.memory()
        done = self.run_in(sandbox, "head -c 1000000000 /dev/zero | tr '\\0' x", timeout=100)
        self.assertEqual(done["exit_status"], 0)
        self.assertEqual(len(done["stdout"]) + done["stdout_dropped"], 1000000000)
        self.assertLess(self.memory() - before, 64)

    def test_a_background_flood_keeps_its_end(self):
        sandbox = self.create()
        before = self.memory()
        started = self.run_in(sandbox, "head -c 300000000 /dev/zero; echo over", background=True)
        deadline = time.monotonic() + 60
        while self.api("GET", f"/v1/sandboxes/{sandbox}/commands/{started['pid']}")["running"]:
            self.assertLess(time.monotonic(), deadline)
        state = self.api("GET", f"/v1/sandboxes/{sandbox}/commands/{started['pid']}")
        self.assertEqual(state["output_end"], 300000005)
        self.assertLessEqual(state["output_end"] - state["output_begin"], 2 << 20)
        self.assertLess(self.memory() - before, 64)

    def test_a_reader_who_does_not_read_holds_up_only_his_own_process(self):
        sandbox = self.create()
        before = self.memory()
        slow = []
        for _ in range(20):
            connection = socket.create_connection(("127.0.0.1", self.server.port))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            body = json.dumps({"command": "yes", "timeout": 30}).encode()
            connection.sendall(f"POST /v1/sandboxes/{sandbox}/commands HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.server.key}\r\n"
                               f"Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            slow.append(connection)
        for _ in range(10):
            self.assertEqual(self.output(sandbox, "echo quick"), "quick\n")
        self.assertLess(self.memory() - before, 120)
        for connection in slow:
            connection.close()

    def test_who_leaves_a_silent_stream_frees_his_place(self):
        sandbox = self.create()
        pid = self.run_in(sandbox, "sleep 1000", background=True)["pid"]
        before = self.held_connections()
        for _ in range(30):
            connection, events = self.events("GET", f"/v1/sandboxes/{sandbox}/commands/{pid}/output")
            next(events)
            connection.close()
        self.assertGreater(self.held_connections(), before + 20)
        deadline = time.monotonic() + 60
        while self.held_connections() > before + 5:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.5)  # a heartbeat finds out

    def held_connections(self):
        """Those that the server has an end of, whether the client still has the other or not."""
        rows = [line.split() for line in open(f"/proc/{self.server.process.pid}/net/tcp").readlines()[1:]]
        established, close_wait = "01", "08"
        return sum(row[1].endswith(f":{self.server.port:04X}") and row[3] in (established, close_wait) for row in rows)

    def test_an_input_nobody_reads_is_bounded(self):
        sandbox = self.create()
        terminal = WebSocket(self.server.port, f"/v1/sandboxes/{sandbox}/terminal?command=stty+raw+-echo%3B+sleep+1000", self.server.key)
        before = self.memory()
        try:
            for _ in range(128):
                terminal.send(WebSocket.BINARY, b"x" * (1 << 20))
        except OSError:
            pass  # it may be disconnected on the way, or have its rest thrown away
        self.assertLess(self.memory() - before, 64)
        self.assertEqual(self.output(sandbox, "echo quick"), "quick\n")

    def test_a_bomb_of_processes_ends_at_its_limit_and_the_api_answers(self):
        sandbox = self.create(limits={"processes": 32})
        self.run_in(sandbox, "f() { f | f & }; f", background=True)
        self.api("GET", f"/v1/sandboxes/{sandbox}")
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause")
        self.api("POST", f"/v1/sandboxes/{sandbox}/resume")
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)

    def test_an_upload_that_stops_halfway_leaves_the_server_well(self):
        sandbox = self.create()
        connection = socket.create_connection(("127.0.0.1", self.server.port))
        connection.sendall(f"PUT {self.files(sandbox, path='half')} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.server.key}\r\n"
                           f"Content-Length: 1000000\r\n\r\n".encode() + b"x" * 1000)
        connection.close()
        self.assertEqual(self.output(sandbox, "echo well"), "well\n")


if __name__ == "__main__":
    unittest.main()
