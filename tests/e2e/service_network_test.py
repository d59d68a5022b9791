"""Tools of the service on a network: what the layers of policies leave is reached and nothing else, and every step is told."""

import contextlib
import ctypes
import hashlib
import json
import os
import sys
import unittest

from network_world import World
from server_story import Server, ServerStory

FETCH = '''def fetch(url: str) -> str:
    """Fetches.

    Args:
        url (str): Where.
    """
    import urllib.request
    try:
        return urllib.request.urlopen(url, timeout=10).read().decode()
    except OSError as error:
        return "failed: " + repr(error)
'''


@contextlib.contextmanager
def network_of(pid):
    """This thread is in that process's network namespace meanwhile; sockets stay where they were made."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as here, open(f"/proc/{pid}/ns/net") as there:
        assert libc.setns(there.fileno(), 0x40000000) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert libc.setns(here.fileno(), 0x40000000) == 0


@unittest.skipUnless(os.geteuid() == 0, "makes network namespaces: needs root")
class CallNetworkStory(ServerStory):
    """A server on the machine of a small internet."""

    @classmethod
    def setUpClass(cls):
        super(ServerStory, cls).setUpClass()
        cls.world = World(cls.scratch)
        trusted = {"SSL_CERT_FILE": os.path.join(cls.scratch, "ca.pem")}  # by the gate, of servers outside
        cls.server = Server(cls.data, cls.scratch, around=cls.world.on_the_machine(), env=trusted)
        cls.tool = cls.ask("POST", "/v1/tools/", {"source_code": FETCH})["id"]

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.world.stop()

    @classmethod
    def ask(cls, method, path, body=None, headers=None, expect=(200, 204)):
        with network_of(cls.world.machine):
            status, _, text = cls.server.request(method, path, body, headers=headers)
        assert status in expect, (path, status, text)
        return json.loads(text) if text and not headers else text

    def setUp(self):
        self.ask("DELETE", "/v1/network-policy", expect=(204, 404))
        self.ask("POST", "/v1/sandbox-config/local", {})
        self.ask("PATCH", f"/v1/tools/{self.tool}", {"metadata_": {}})

    def allow_organization(self, *hosts, **more):
        self.ask("PUT", "/v1/network-policy", {"policy": {"rules": [{"allow": list(hosts)}], **more}})

    def fetch(self, url, **body):
        return self.ask("POST", f"/v1/tools/{self.tool}/run", {"args": {"url": url}, **body})

    def assert_reached(self, answer):
        self.assertIn('"server": "world"', answer["return"], answer)

    def assert_not_reached(self, answer):
        self.assertEqual(answer["return"][:7], "failed:", answer)

    def receipts(self, answer):
        return self.ask("GET", "/v1/audit?order=asc&limit=1000&call_id=" + answer["call_id"])


ALLOWED = {"rules": [{"allow": "allowed.example"}]}


class Layers(CallNetworkStory):
    def test_without_an_organizations_policy_nothing_is_reached(self):
        answer = self.fetch("http://allowed.example/", network="open")
        self.assert_not_reached(answer)
        self.assertIn("allows nothing", answer["network"]["note"])

    def test_nobody_asks_so_nothing_is_reached(self):
        self.ask("PUT", "/v1/network-policy", {"policy": "open"})
        self.assert_not_reached(self.fetch("http://allowed.example/"))

    def test_call_tool_and_configuration_may_each_ask(self):
        self.allow_organization("allowed.example", "other.example")
        self.assert_reached(self.fetch("http://allowed.example/", network=ALLOWED))
        self.ask("PATCH", f"/v1/tools/{self.tool}", {"metadata_": {"network": ALLOWED}})
        self.assert_reached(self.fetch("http://allowed.example/"))
        self.assert_not_reached(self.fetch("http://other.example/"))
        self.ask("PATCH", f"/v1/tools/{self.tool}", {"metadata_": {}})
        self.ask("POST", "/v1/sandbox-config/local", {"network": {"rules": [{"allow": "other.example"}]}})
        self.assert_reached(self.fetch("http://other.example/"))
        from_source = {"source_code": FETCH, "name": "fetch", "args": {"url": "http://other.example/"}}
        self.assertIn("world", self.ask("POST", "/v1/tools/run", from_source)["tool_return"])

    def test_no_layer_widens_another(self):
        self.allow_organization("allowed.example")
        self.assert_not_reached(self.fetch("http://other.example/", network="open"))
        self.assert_reached(self.fetch("http://allowed.example/", network="open"))  # so that the line above can fail
        self.ask("PATCH", f"/v1/tools/{self.tool}", {"metadata_": {"network": {"rules": [{"allow": "other.example"}]}}})
        self.assert_not_reached(self.fetch("http://allowed.example/", network="open"))
        self.ask("PATCH", f"/v1/tools/{self.tool}", {"metadata_": {"network": None}})
        self.assert_not_reached(self.fetch("http://allowed.example/", network="open"))

    def test_a_private_address_is_for_the_organization_to_list(self):
        rule = {"rules": [{"allow": "private.example"}]}
        self.allow_organization("private.example")
        self.assert_not_reached(self.fetch("http://private.example/", network=rule))
        self.allow_organization("private.example", private_addresses=["10.200.0.2:80"])
        self.assert_reached(self.fetch("http://private.example/", network=rule))


class Told(CallNetworkStory):
    def test_the_answer_the_events_and_the_audit_agree(self):
        self.allow_organization("allowed.example")
        answer = self.fetch("http://allowed.example/bytes/5000", network="open")
        self.assertEqual(len(answer["return"]), 5000)
        reached = answer["network"]["reached"][0]
        self.assertEqual((reached["host"], reached["port"]), ("allowed.example", 80))
        self.assertGreater(reached["bytes_received"], 5000)
        kinds = [(one["kind"], one["action"], one["outcome"]) for one in self.receipts(answer)]
        self.assertEqual(kinds, [("policy_decision", "network.connect", "allowed"), ("call", "tool.run", "ok")])
        totals = self.receipts(answer)[-1]["detail"]["network"]
        self.assertEqual(totals["bytes_received"], reached["bytes_received"])
        self.assertEqual(totals["hosts"][0]["host"], "allowed.example")

    def test_a_denial_names_its_layer_everywhere(self):
        self.allow_organization("allowed.example")
        answer = self.fetch("http://other.example/", network="open")
        self.assertEqual(answer["network"]["denied"][0]["host"], "other.example")
        denial = self.receipts(answer)[0]
        self.assertEqual((denial["action"], denial["outcome"], denial["subject"]), ("network.resolve", "denied", "other.example"))
        self.assertEqual(denial["detail"]["decision"]["layer"], "organization")
        text = self.ask("POST", f"/v1/tools/{self.tool}/run", {"args": {"url": "http://other.example/"}, "network": "open"},
                        headers={"Accept": "text/event-stream"}).decode()
        self.assertIn("event: network\n", text)
        self.assertIn("no rule allows other.example", text)

    def test_a_flood_of_denials_does_not_flood_the_chain(self):
        self.allow_organization("allowed.example")
        flood = ('def flood() -> str:\n    """F."""\n    import socket\n    for i in range(500):\n        try: socket.getaddrinfo(f"n{i}.example", 80)\n'
                 '        except OSError: pass\n    return "done"\n')
        tool = self.ask("POST", "/v1/tools/", {"source_code": flood})["id"]
        answer = self.ask("POST", f"/v1/tools/{tool}/run", {"args": {}, "network": "open"})
        self.assertEqual(answer["return"], "done", answer)
        receipts = self.receipts(answer)
        self.assertLess(len(receipts), 40)
        more = [one for one in receipts if one["action"] == "network.more"][0]["detail"]["more"]["name_denied"]
        denied = sum(one["outcome"] == "denied" for one in receipts)
        self.assertEqual(more + denied, receipts[-1]["detail"]["network"]["denied"])
        self.assertGreaterEqual(more + denied, 500)


VALUE = "tok_a-value-that-code-never-has"
ECHO = "https://allowed.example:8443/"
TO_ECHO = {"rules": [{"allow": "allowed.example", "ports": [8443]}]}


class CredentialsOfTheService(CallNetworkStory):
    """The server outside tells the SHA-256 of what came in Authorization: whether it was the value is known without showing it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "echo_page.py")
        cls.world.start("nsenter", f"--net=/proc/{cls.world.servers}/ns/net", sys.executable, page, cls.scratch)
        cls.ask("POST", "/v1/credentials", {"name": "demo", "value": VALUE, "binding": {
            "hosts": ["allowed.example"], "ports": [8443], "header": "Authorization", "format": "Bearer {}"}})

    def setUp(self):
        super().setUp()
        self.ask("PUT", "/v1/network-policy", {"policy": TO_ECHO})

    def arrived(self, answer):
        self.assertEqual(answer["return"][:1], "{", answer)
        self.assertNotIn(VALUE, json.dumps(answer))
        return hashlib.sha256(("Bearer " + VALUE).encode()).hexdigest() in answer["return"]

    def test_a_call_that_names_it_uses_it_and_never_sees_it(self):
        answer = self.fetch(ECHO, network=TO_ECHO, credentials=["demo"])
        self.assertTrue(self.arrived(answer))
        used = [one for one in self.receipts(answer) if one["kind"] == "secret_use"]
        self.assertEqual([(one["subject"], one["detail"]["host"]) for one in used], [("demo", "allowed.example")])
        self.assertEqual(self.receipts(answer)[-1]["detail"]["credentials"], ["demo"])
        self.assertNotIn(VALUE, json.dumps(self.receipts(answer)) + self.log_text())

    def test_a_call_that_does_not_name_it_goes_without(self):
        trusting = FETCH.replace("timeout=10", "timeout=10, context=__import__('ssl')._create_unverified_context()")
        tool = self.ask("PUT", "/v1/tools/", {"source_code": trusting.replace("def fetch", "def trusting")})["id"]
        run = {"args": {"url": ECHO}, "network": TO_ECHO}
        self.assertFalse(self.arrived(self.ask("POST", f"/v1/tools/{tool}/run", run)))
        self.assertTrue(self.arrived(self.ask("POST", f"/v1/tools/{tool}/run", {**run, "credentials": ["demo"]})))

    def test_tool_and_configuration_name_it_too(self):
        self.ask("PATCH", f"/v1/tools/{self.tool}", {"metadata_": {"network": TO_ECHO, "credentials": ["demo"]}})
        self.assertTrue(self.arrived(self.fetch(ECHO)))
        self.ask("PATCH", f"/v1/tools/{self.tool}", {"metadata_": {}})
        self.ask("POST", "/v1/sandbox-config/local", {"network": TO_ECHO, "credentials": ["demo"]})
        self.assertTrue(self.arrived(self.fetch(ECHO)))

    def test_a_sandbox_that_names_it_uses_it_and_never_sees_it(self):
        with_it = self.ask("POST", "/v1/sandboxes", {"network": TO_ECHO, "credentials": ["demo"]})["id"]
        without = self.ask("POST", "/v1/sandboxes", {"network": TO_ECHO})["id"]
        for sandbox, expected in ((with_it, True), (without, False)):
            self.addCleanup(self.ask, "DELETE", f"/v1/sandboxes/{sandbox}")
            answer = self.ask("POST", f"/v1/sandboxes/{sandbox}/commands", {"command": ["curl", "-sSk", "-m", "10", ECHO]})
            self.assertEqual(self.arrived({"return": answer["stdout"]}), expected, answer)
        used = [one for one in self.ask("GET", f"/v1/audit?call_id={with_it}") if one["kind"] == "secret_use"]
        self.assertEqual([one["subject"] for one in used], ["demo"])

    def test_a_sandbox_with_a_credential_that_is_not_there_is_refused(self):
        self.ask("POST", "/v1/sandboxes", {"network": TO_ECHO, "credentials": ["none"]}, expect=(422,))


if __name__ == "__main__":
    unittest.main()
