"""Attacks on the routes that E2B's clients use: another organization's sandbox, no or wrong proofs, forged links."""

import base64
import hashlib
import json
import unittest

from sandbox_story import SandboxStory

CONTROL_ROUTES = [("GET", ""), ("DELETE", ""), ("POST", "/timeout"), ("POST", "/refreshes"), ("POST", "/connect"),
                  ("POST", "/resume"), ("POST", "/pause"), ("GET", "/metrics"), ("GET", "/logs")]
RPC = [("/process.Process/List", {}), ("/process.Process/SendSignal", {"process": {"pid": 1}, "signal": "SIGNAL_SIGKILL"}),
       ("/filesystem.Filesystem/Stat", {"path": "/"}), ("/filesystem.Filesystem/Remove", {"path": "/home/user"}),
       ("/filesystem.Filesystem/CreateWatcher", {"path": "/"})]


def signature(path, operation, user, token, expiration=None):
    text = f"{path}:{operation}:{user}:{token}" + (f":{expiration}" if expiration else "")
    return "v1_" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


class E2bAttacks(SandboxStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.theirs = json.loads(cls.belljar("key", "create", "--organization", "others", "--json").stdout)["key"]

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

    def test_malformed_bodies_are_told_and_change_nothing(self):
        made = self.make()
        for kind, body in (("application/json", b"{"), ("application/json", b"[]"), ("application/connect+json", b"\0\0\0\0\x10{}"),
                           ("application/connect+json", b"\1\0\0\0\2{}"), ("application/proto", b"\x0a")):
            status, _, text = self.envd(made, "POST", "/filesystem.Filesystem/Stat", body, **{"Content-Type": kind})
            self.assertIn(status, (400, 501), (kind, text))
        for kind, body in (("multipart/form-data; boundary=x", b"--x\r\nno end"), ("multipart/form-data", b""), ("text/plain", b"x")):
            status, _, text = self.envd(made, "POST", "/files?path=z", body, **{"Content-Type": kind})
            self.assertEqual(status, 400, (kind, text))


if __name__ == "__main__":
    unittest.main()
