"""Attacks on the routes that E2B's clients use: another organization's sandbox or volume, no or wrong proofs, forged links."""

import base64
import contextlib
import hashlib
import json
import os
import unittest
import urllib.parse

from sandbox_story import SandboxStory
from story import until

CONTROL_ROUTES = [("GET", ""), ("DELETE", ""), ("POST", "/timeout"), ("POST", "/refreshes"), ("POST", "/connect"),
                  ("POST", "/resume"), ("POST", "/pause"), ("GET", "/metrics"), ("GET", "/logs")]
RPC = [("/process.Process/List", {}), ("/process.Process/SendSignal", {"process": {"pid": 1}, "signal": "SIGNAL_SIGKILL"}),
       ("/filesystem.Filesystem/Stat", {"path": "/"}), ("/filesystem.Filesystem/Remove", {"path": "/home/user"}),
       ("/filesystem.Filesystem/CreateWatcher", {"path": "/"})]


def signature(path, operation, user, token, expiration=None):
    text = f"{path}:{operation}:{user}:{token}" + (f":{expiration}" if expiration else "")
    return "v1_" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


class TwoOrganizations(SandboxStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.theirs = json.loads(cls.belljar("key", "create", "--organization", "others", "--json").stdout)["key"]


class E2bAttacks(TwoOrganizations):
    def make(self, key=None, **fields):
        made = self.api("POST", "/v2/sandboxes", {"templateID": "base", **fields}, expect=201, key=key)
        self.addCleanup(lambda: self.server.request("DELETE", f"/sandboxes/{made['sandboxID']}", None, key))
        return made

    def envd(self, made, method, path, body=None, token=True, **headers):
        sent = {"E2b-Sandbox-Id": made["sandboxID"], "E2b-Sandbox-Port": "49983", **headers}
        if token:
            sent["X-Access-Token"] = made["envdAccessToken"] if token is True else token
        return self.server.request(method, path, body, key=False, headers=sent)

    def test_another_organizations_sandbox_does_not_exist_on_any_route(self):
        made = self.make()
        for method, path in CONTROL_ROUTES:
            body = {"timeout": 60} if method == "POST" else None
            for prefix in ("/sandboxes/", "/v2/sandboxes/") if path == "/connect" else ("/sandboxes/",):
                with self.subTest(method + path):
                    status, _, text = self.server.request(method, prefix + made["sandboxID"] + path, body, key=self.theirs)
                    self.assertEqual((status, json.loads(text)["code"]), (404, 404), text)
        self.assertEqual(self.api("GET", "/v2/sandboxes", key=self.theirs), [])
        several = self.api("GET", "/sandboxes/metrics?sandbox_ids=" + made["sandboxID"], key=self.theirs)
        self.assertEqual(several, {"sandboxes": {}})
        self.assertEqual(self.api("GET", "/sandboxes/" + made["sandboxID"])["state"], "running")

    def test_a_signal_to_no_process_reaches_none(self):
        made = self.make()
        for nobody in ({}, {"tag": ""}):
            body = {"process": nobody, "signal": "SIGNAL_SIGKILL"}
            status, _, text = self.envd(made, "POST", "/process.Process/SendSignal", body)
            self.assertEqual((status, json.loads(text)["code"]), (400, "invalid_argument"), nobody)

    def test_without_its_token_a_sandbox_says_nothing(self):
        made, other = self.make(), self.make()
        for token in (False, "wrong", other["envdAccessToken"], self.server.key):
            for path, body in RPC:
                with self.subTest(path=path, token=token):
                    status, _, text = self.envd(made, "POST", path, body, token=token)
                    self.assertEqual((status, json.loads(text)["code"]), (401, 401))
            for method, path in (("GET", "/files?path=/etc/passwd"), ("POST", "/files?path=x"), ("GET", "/envs"), ("GET", "/metrics")):
                self.assertEqual(self.envd(made, method, path, b"x", token=token)[0], 401, path)
        self.assertEqual(self.envd(made, "GET", "/health", token=False)[0], 204)
        self.assertEqual(self.envd(made, "POST", "/init", {})[0], 404)

    def test_a_key_that_may_only_read_gets_no_token_to_do_more(self):
        made = self.make()
        reader = json.loads(self.belljar("key", "create", "--role", "read-only", "--json").stdout)["key"]
        self.assertNotIn("envdAccessToken", self.api("GET", "/sandboxes/" + made["sandboxID"], key=reader))
        self.assertEqual(self.api("GET", "/sandboxes/" + made["sandboxID"])["envdAccessToken"], made["envdAccessToken"])
        self.assertEqual(self.server.request("POST", f"/sandboxes/{made['sandboxID']}/connect", {"timeout": 60}, reader)[0], 403)
        template = self.api("POST", "/v3/templates", {"name": "linked"}, expect=202)["templateID"]
        upload = f"/templates/{template}/files/{'c' * 64}"
        self.assertEqual(self.server.request("GET", upload, None, reader)[0], 403)
        self.assertIn("url", self.api("GET", upload, expect=201))

    def test_a_link_is_for_what_was_signed(self):
        made, other = self.make(), self.make()
        self.envd(made, "POST", "/files?path=a.txt", b"a", **{"Content-Type": "application/octet-stream"})
        token = made["envdAccessToken"]
        good = signature("a.txt", "read", "", token).replace("+", "%2B")
        self.assertEqual(self.envd(made, "GET", "/files?path=a.txt&signature=" + good, token=False)[2], b"a")
        self.assertEqual(self.server.request("GET", "/files?path=a.txt&signature=" + good, key=False)[2], b"a")
        past = signature("a.txt", "read", "", token, 1).replace("+", "%2B")
        for wrong in (f"path=b.txt&signature={good}", f"path=a.txt&username=root&signature={good}", "path=a.txt",
                      f"path=a.txt&signature={good}&signature_expiration=9999999999",
                      f"path=a.txt&signature={past}&signature_expiration=1",
                      "path=a.txt&signature=" + signature("a.txt", "write", "", token).replace("+", "%2B"),
                      "path=a.txt&signature=" + signature("a.txt", "read", "", "").replace("+", "%2B")):
            with self.subTest(wrong):
                self.assertEqual(self.envd(made, "GET", "/files?" + wrong, token=False)[0], 401)
                self.assertEqual(self.server.request("GET", "/files?" + wrong, key=False)[0], 401)
        self.assertEqual(self.envd(other, "GET", "/files?path=a.txt&signature=" + good, token=False)[0], 401)
        self.assertEqual(self.server.request("POST", "/files?path=a.txt&signature=" + good, b"x", key=False)[0], 401)

    def test_ports_that_are_not_public_want_the_traffic_token(self):
        made = self.make(network={"allowPublicTraffic": False})
        headers = {"Host": f"8000-{made['sandboxID']}.localhost"}
        self.assertEqual(self.server.request("GET", "/", key=False, headers=headers)[0], 403)
        headers["e2b-traffic-access-token"] = made["trafficAccessToken"]
        self.assertEqual(self.server.request("GET", "/", key=False, headers=headers)[0], 502)

    def test_a_native_sandbox_is_closed_to_who_has_only_its_id(self):
        sandbox = self.create()
        for port in (49983, 49999, 8000):
            headers = {"E2b-Sandbox-Id": sandbox, "E2b-Sandbox-Port": str(port)}
            status = self.server.request("POST", "/process.Process/List", {}, key=False, headers=headers)[0]
            self.assertIn(status, (401, 403), port)

    def test_paths_stay_inside(self):
        made = self.make()
        self.assertEqual(self.envd(made, "GET", "/files?path=/proc/1/environ")[0] // 100, 4)
        for path in ("/proc/self/root/etc/shadow", "/proc/1/root/etc/passwd", "/dev/fd/3", "a\0b"):
            status, _, _ = self.envd(made, "GET", "/files?path=" + path.replace("\0", "%00"))
            self.assertEqual(status // 100, 4, path)
        status, _, text = self.envd(made, "GET", "/files?path=../../../../etc/hostname")
        self.assertEqual((status, text), (200, b"belljar\n"))

    def test_files_are_composed_as_a_whole_or_not_at_all(self):
        made = self.make()
        kind = {"Content-Type": "application/octet-stream"}
        for name in "abc":
            self.assertEqual(self.envd(made, "POST", f"/files?path={name}", name.encode() * 3, **kind)[0], 200)
        compose = lambda token=True, **body: self.envd(made, "POST", "/files/compose", body, token=token)
        read = lambda path: self.envd(made, "GET", "/files?path=" + path)[::2]
        self.assertEqual(compose(token=False, source_paths=["a"], destination="z")[0], 401)
        self.assertEqual(compose(source_paths=["a", "none"], destination="z")[0], 404)
        self.assertEqual((read("a"), read("z")[0]), ((200, b"aaa"), 404))
        for body in ({}, {"source_paths": [], "destination": "z"}, {"source_paths": [1], "destination": "z"}, {"source_paths": ["a"]},
                     {"source_paths": ["a"], "destination": "/tmp"}):
            self.assertEqual(compose(**body)[0], 400, body)
        status, _, text = compose(source_paths=["b", "a"], destination="new/b.txt")
        self.assertEqual((status, json.loads(text)), (200, {"path": "/home/user/new/b.txt", "name": "b.txt", "type": "file"}))
        self.assertEqual((read("new/b.txt"), read("a")[0], read("b")[0]), ((200, b"bbbaaa"), 404, 404))
        self.assertEqual(compose(source_paths=["c", "new/b.txt"], destination="c")[0], 200)  # one of its own sources
        self.assertEqual(read("c"), (200, b"cccbbbaaa"))
        status, _, text = self.envd(made, "POST", "/filesystem.Filesystem/ListDir", {"path": "/home/user/new"})
        self.assertEqual((status, json.loads(text).get("entries", [])), (200, []))  # nothing is left beside it

    def watches(self):
        """How many the server holds."""
        folder, found = f"/proc/{self.server.process.pid}/fd", 0
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                found += "inotify" in os.readlink(f"{folder}/{name}")
        return found

    def test_who_watches_again_and_again_holds_nothing(self):
        made = self.make()
        for _ in range(3):
            status, _, text = self.envd(made, "POST", "/filesystem.Filesystem/CreateWatcher", {"path": "/tmp"})
            self.assertEqual(status, 200, text)
            self.assertEqual(self.envd(made, "POST", "/filesystem.Filesystem/RemoveWatcher", json.loads(text))[0], 200)
            self.envd(made, "POST", "/filesystem.Filesystem/WatchDir", b'\0\0\0\0\x10{"path": "/tmp"}',
                      **{"Content-Type": "application/connect+json", "Connect-Timeout-Ms": "50"})
        until(lambda: self.watches() == 0, "the end of the watches")

    def test_malformed_bodies_are_told_and_change_nothing(self):
        made = self.make()
        for kind, body in (("application/json", b"{"), ("application/json", b"[]"), ("application/connect+json", b"\0\0\0\0\x10{}"),
                           ("application/connect+json", b"\1\0\0\0\2{}"), ("application/proto", b"\x0a")):
            status, _, text = self.envd(made, "POST", "/filesystem.Filesystem/Stat", body, **{"Content-Type": kind})
            self.assertIn(status, (400, 501), (kind, text))
        for kind, body in (("multipart/form-data; boundary=x", b"--x\r\nno end"), ("multipart/form-data", b""), ("text/plain", b"x")):
            status, _, text = self.envd(made, "POST", "/files?path=z", body, **{"Content-Type": kind})
            self.assertEqual(status, 400, (kind, text))

    def test_what_wants_no_token_takes_no_large_body(self):
        made = self.make()
        headers = {"E2b-Sandbox-Id": made["sandboxID"], "E2b-Sandbox-Port": "49999"}
        large = json.dumps({"language": "python", "x": [[]] * 30_000}).encode()
        self.assertEqual(self.server.request("POST", "/contexts", large, key=False, headers=headers)[0], 413)


class Pages(SandboxStory):
    """Pages of an allowed site call sandboxes from a browser, which asks first, without a key."""

    flags = ("--origin", "https://app.example")

    def preflight(self, path, origin="https://app.example", **headers):
        sent = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-access-token", **headers}
        return self.server.request("OPTIONS", path, key=False, headers=sent)[:2]

    def test_a_browser_may_ask_before_it_calls_a_sandbox(self):
        made = self.api("POST", "/v2/sandboxes", {"templateID": "base"}, expect=201)
        self.addCleanup(lambda: self.server.request("DELETE", f"/sandboxes/{made['sandboxID']}"))
        for port, path in ((49983, "/process.Process/List"), (49983, "/files"), (49999, "/execute")):
            host = {"Host": f"{port}-{made['sandboxID']}.localhost:{self.server.port}"}
            status, headers = self.preflight(path, **host)
            self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, "https://app.example"), path)
            self.assertIn("POST", headers["Access-Control-Allow-Methods"])
            status, headers = self.preflight(path, origin="https://evil.example", **host)
            self.assertNotIn("Access-Control-Allow-Origin", headers)
        announced = {"Access-Control-Request-Headers": "e2b-sandbox-id,e2b-sandbox-port,x-access-token"}
        self.assertEqual(self.preflight("/process.Process/List", **announced)[0], 204)
        _, headers, _ = self.server.request("GET", "/v2/sandboxes", headers={"Origin": "https://app.example"})
        self.assertIn("X-Next-Token", headers["Access-Control-Expose-Headers"])


CONTENT = [("GET", "path"), ("PATCH", "path"), ("DELETE", "path"), ("GET", "dir"), ("POST", "dir"), ("GET", "file"), ("PUT", "file")]


class VolumeAttacks(TwoOrganizations):
    def volume(self, name, key=None):
        made = self.api("POST", "/volumes", {"name": name}, expect=201, key=key)
        self.addCleanup(lambda: self.server.request("DELETE", f"/volumes/{made['volumeID']}", None, key))
        return made

    def content(self, volume, method, part, path="/", token=None, body=None, **query):
        """(status, body) of a request for a volume's files; `token` None is its own, False is none."""
        target = f"/volumecontent/{volume['volumeID']}/{part}?" + urllib.parse.urlencode({"path": path, **query})
        headers = {} if token is False else {"Authorization": "Bearer " + (token or volume["token"])}
        if method == "PATCH" and body is None:
            body = {"mode": 0o777}
        status, _, text = self.server.request(method, target, body, key=False, headers=headers)
        return status, text

    def mounted(self, volume):
        """Runs a command in a sandbox that has the volume at /v."""
        sandbox = self.create(volumes=[{"name": volume["name"], "path": "/v"}])
        return lambda command: self.output(sandbox, command)

    def test_a_volume_opens_to_its_own_token_alone(self):
        mine, other = self.volume("mine"), self.volume("other")
        theirs = self.volume("mine", key=self.theirs)
        self.assertEqual(self.content(mine, "PUT", "file", "/kept", body=b"kept")[0], 201)
        proof = mine["token"].split(".")[1]
        wrong = [False, "wrong", self.server.key, other["token"], theirs["token"], proof, "." + proof, mine["token"] + "0", mine["token"][:-1],
                 theirs["token"].split(".")[0] + "." + proof, "x" * 5000, "org-" + "a" * 3000 + "." + proof]
        for token in wrong:
            for method, part in CONTENT:
                with self.subTest(token=str(token)[:60], route=method + part):
                    status, text = self.content(mine, method, part, "/kept", token=token, body=b"x" if method == "PUT" else None)
                    self.assertEqual((status, json.loads(text)["code"]), (401, 401))
        self.assertEqual(self.content(mine, "GET", "file", "/kept"), (200, b"kept"))
        missing = {"volumeID": "vol" + "a" * 26, "token": mine["token"]}
        self.assertEqual(self.content(missing, "GET", "path")[0], 401)

    def test_another_organizations_volume_does_not_exist(self):
        volume = self.volume("hidden")
        for method in ("GET", "DELETE"):
            status, _, text = self.server.request(method, "/volumes/" + volume["volumeID"], None, self.theirs)
            self.assertEqual((status, json.loads(text)["code"]), (404, 404))
        self.assertEqual(self.api("GET", "/volumes", key=self.theirs), [])
        self.api("POST", "/v2/sandboxes", {"templateID": "base", "volumeMounts": [{"name": "hidden", "path": "/v"}]}, key=self.theirs, expect=400)
        self.api("GET", "/volumes/" + volume["volumeID"])

    def test_a_key_that_may_only_read_gets_a_token_that_only_reads(self):
        volume = self.volume("readable")
        self.content(volume, "PUT", "file", "/a", body=b"a")
        reader = json.loads(self.belljar("key", "create", "--role", "read-only", "--json").stdout)["key"]
        token = self.api("GET", "/volumes/" + volume["volumeID"], key=reader)["token"]
        for method, part in CONTENT:
            status, text = self.content(volume, method, part, "/a" if part != "dir" else "/", token=token, body=b"x" if method == "PUT" else None, force="true")
            self.assertEqual(status, 200 if method == "GET" else 401, (method, part, text))
        self.assertEqual(self.content(volume, "GET", "file", "/a"), (200, b"a"))

    def test_paths_do_not_lead_out(self):
        volume = self.volume("paths")
        for path in ("..", "../etc/passwd", "/../etc/passwd", "a/../../etc/passwd", "/a/../b", "/..", "a\0b", "x" * 5000, "/".join("x" * 1500)):
            for method, part in CONTENT:
                with self.subTest(path=path[:30], route=method + part):
                    status, text = self.content(volume, method, part, path, body=b"x" if method == "PUT" else None)
                    self.assertIn(status, (400, 404), text)
        self.assertEqual(self.content(volume, "GET", "dir"), (200, b"[]"))
        self.assertEqual(self.content(volume, "GET", "path", "~")[0], 404)

    def test_links_that_a_sandbox_planted_lead_nowhere_else(self):
        volume = self.volume("links")
        run = self.mounted(volume)
        run("cd /v; ln -s /etc/passwd passwd; ln -s /etc etc; ln -s / root; ln -s /proc proc; ln -s /proc/self/environ environ; "
            "ln -s /proc/1/root host; ln -s ../../../../etc up; ln -s loop loop; echo in > real; ln -s real good; mkdir d; ln -s ../real d/good")
        outside = ["passwd", "etc/passwd", "root/etc/passwd", "proc/self/environ", "proc/1/environ", "environ", "host/etc/passwd",
                   "up/passwd", "etc/shadow", "loop", "root/tmp/x", "etc/planted"]
        for path in outside:
            for method, part in CONTENT:
                if path in ("passwd", "environ", "loop") and (method, part) in (("GET", "path"), ("DELETE", "path")):
                    continue  # of the link itself
                with self.subTest(path=path, route=method + part):
                    status, text = self.content(volume, method, part, path, body=b"x" if method == "PUT" else None, force="true")
                    self.assertIn(status, (400, 403, 404, 409), text)
                    self.assertNotIn(b"root:", text)
        for path in ("etc", "root", "proc", "up", "host"):
            self.assertIn(self.content(volume, "GET", "dir", path)[0], (400, 403), path)
            self.assertEqual(json.loads(self.content(volume, "GET", "path", path)[1])["type"], "symlink")
        deep = json.loads(self.content(volume, "GET", "dir", "/", depth=10)[1])
        self.assertEqual({one["path"] for one in deep if one["path"].count("/") > 1}, {"/d/good"})  # no link was walked through
        self.assertEqual(self.content(volume, "GET", "file", "good"), (200, b"in\n"))
        self.assertEqual(self.content(volume, "GET", "file", "d/good"), (200, b"in\n"))
        self.assertEqual(self.content(volume, "DELETE", "path", "root")[0], 204)  # the link, not what it leads to
        self.assertEqual(run("cat /v/real; wc -l < /etc/passwd | awk '{print ($1 > 1)}'"), "in\n1\n")

    def test_what_is_no_file_is_told_and_stops_nothing(self):
        volume = self.volume("odd")
        run = self.mounted(volume)
        run("cd /v; mkfifo fifo; mkdir dir; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('/v/socket')\"")
        for name in ("fifo", "socket", "dir"):
            self.assertEqual(self.content(volume, "GET", "file", name)[0], 400, name)
            self.assertEqual(self.content(volume, "PUT", "file", name, body=b"x", force="true")[0] // 100, 4, name)
        self.assertEqual(json.loads(self.content(volume, "GET", "path", "fifo")[1])["type"], "unknown")
        for depth in ("11", "1000000", "-1", "x", "99999999999999999999"):
            self.assertEqual(self.content(volume, "GET", "dir", depth=depth)[0], 400, depth)
        run("cd /v; mkdir deep; cd deep; for i in $(seq 300); do mkdir d; cd d; done")
        self.assertEqual(len(json.loads(self.content(volume, "GET", "dir", "/deep", depth=10)[1])), 10)
        self.assertEqual(self.content(volume, "DELETE", "path", "/deep")[0], 204)
        self.assertEqual(self.content(volume, "DELETE", "path", "/fifo")[0], 204)

    def test_looking_into_many_volumes_shuts_nobody_out(self):
        for i in range(34):  # more than are looked into at a time
            made = self.api("POST", "/v1/volumes", {"name": f"many-{i}", "size_bytes": 16 << 20})["id"]
            self.addCleanup(lambda made=made: self.server.request("DELETE", "/volumes/" + made))
            volume = self.api("GET", "/volumes/" + made)
            self.assertEqual(self.content(volume, "GET", "dir"), (200, b"[]"))

    def test_rights_are_a_sandboxes_and_give_no_power(self):
        volume = self.volume("rights")
        for query in ({"uid": 65536}, {"uid": -1}, {"gid": 4294967295}, {"mode": 8192}, {"mode": "x"}, {"force": "maybe"}):
            self.assertEqual(self.content(volume, "PUT", "file", "/f", body=b"x", **query)[0], 400, query)
        self.assertEqual(self.content(volume, "PUT", "file", "/f", body=b"#!/bin/sh\nid -u\n", uid=0, gid=0, mode=0o6755)[0], 201)
        for body in ({"uid": 65536}, {"gid": -1}, {"mode": 1 << 40}, {"uid": "0"}, {"mode": [1]}):
            self.assertIn(self.content(volume, "PATCH", "path", "/f", body=body)[0], (200, 400), body)
        run = self.mounted(volume)
        self.assertEqual(run("cp /usr/bin/id /v/id; stat -c %u /v/f; /v/f"), "0\n1000\n")
        self.assertEqual(self.content(volume, "PATCH", "path", "/id", body={"uid": 0, "gid": 0, "mode": 0o6755})[0], 200)
        self.assertEqual(run("/v/id -u"), "1000\n")


if __name__ == "__main__":
    unittest.main()
