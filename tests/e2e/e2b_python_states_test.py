"""E2B's official Python SDK, unchanged, against Belljar: snapshots, forks, pauses of both kinds, networks, repeated requests;
and the routes that only REST has."""

import sys
import time
import unittest

from sdk import python_sdk, skip_without
from server_story import ServerStory

BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


@skip_without("e2b")
class E2bPythonStates(ServerStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.path.insert(0, python_sdk("e2b"))
        import e2b
        cls.e2b = e2b
        cls.options = {"api_key": cls.server.key, "api_url": cls.server.url, "sandbox_url": cls.server.url}

    def create(self, *words, **fields):
        return self.kept(self.e2b.Sandbox.create(*words, **fields, **self.options))

    def kept(self, box):
        self.addCleanup(box.kill)
        return box

    def test_snapshots(self):
        box = self.create()
        box.files.write("state.txt", "first")
        snapshot = box.create_snapshot(name="py-states")
        self.assertTrue(snapshot.names[0].endswith("/py-states:default"), snapshot)
        self.assertEqual(snapshot.snapshot_id, snapshot.names[0])
        box.files.write("state.txt", "second")
        files_only = box.create_snapshot(mode="filesystem")
        listed = box.list_snapshots().next_items()
        self.assertEqual({one.snapshot_id for one in listed}, {snapshot.snapshot_id, files_only.snapshot_id})
        box.kill()
        self.assertEqual(self.create(snapshot.snapshot_id).files.read("state.txt"), "first")
        self.assertEqual(self.create("py-states").files.read("state.txt"), "first")
        self.assertEqual(self.create(files_only.snapshot_id).files.read("state.txt"), "second")
        for one in (snapshot, files_only):
            self.assertTrue(self.e2b.Sandbox.delete_snapshot(one.snapshot_id, **self.options))
        self.assertFalse(self.e2b.Sandbox.delete_snapshot(snapshot.snapshot_id, **self.options))
        with self.assertRaises(self.e2b.SandboxNotFoundException):
            self.e2b.Sandbox.create_snapshot(box.sandbox_id, **self.options)

    def test_forks(self):
        box = self.create(metadata={"of": "forks"})
        box.files.write("shared.txt", "before")
        forks = [self.kept(fork) for fork in box.fork(count=2, timeout=120)]
        forks[0].files.write("shared.txt", "of the first")
        self.assertEqual([one.files.read("shared.txt") for one in (box, *forks)], ["before", "of the first", "before"])
        self.assertEqual(forks[1].get_info().metadata, {"of": "forks"})
        self.api("POST", f"/sandboxes/{box.sandbox_id}/fork", {"timeout": 0}, expect=400)
        box.kill()
        with self.assertRaises(self.e2b.NotFoundException):
            box.fork()

    def test_pauses(self):
        box = self.create()
        box.files.write("kept.txt", "kept")
        boots = [box.commands.run(BOOT_ID).stdout]
        place = "/sandboxes/" + box.sandbox_id
        self.assertNotIn("pauseMode", self.api("GET", place))
        self.assertTrue(box.pause())
        self.assertFalse(box.pause())
        self.assertEqual(self.api("GET", place)["pauseMode"], "full")
        box.connect()
        boots.append(box.commands.run(BOOT_ID).stdout)
        self.assertTrue(box.pause(mode="filesystem"))
        self.assertEqual(box.get_info().state.value, "paused")
        self.assertEqual(self.api("GET", place)["pauseMode"], "filesystem")
        box.connect()
        boots.append(box.commands.run(BOOT_ID).stdout)
        box.pause()
        again = self.e2b.Sandbox.connect(box.sandbox_id, on_resume="reboot", **self.options)
        boots.append(again.commands.run(BOOT_ID).stdout)
        self.assertEqual([boots.index(boot) for boot in boots], [0, 0, 2, 3])
        self.assertEqual(box.files.read("kept.txt"), "kept")
        self.assertEqual(again.commands.run("echo same token").stdout, "same token\n")

    def test_networks(self):
        box = self.create(network={"deny_out": ["10.0.0.0/8"]})
        self.assertEqual(box.get_info().network["deny_out"], ["10.0.0.0/8"])
        box.update_network({"allow_out": ["api.example.com"], "deny_out": [self.e2b.ALL_TRAFFIC]})
        network = box.get_info().network
        self.assertEqual((network["allow_out"], network["deny_out"]), (["api.example.com"], ["0.0.0.0/0"]))
        box.update_network({})
        self.assertFalse(box.get_info().network.get("allow_out"))
        place = "/sandboxes/" + box.sandbox_id
        self.api("PUT", place + "/network", {"dnsServers": ["1.1.1.1"]}, expect=204)
        self.assertEqual(self.api("GET", place)["network"]["dnsServers"], ["1.1.1.1"])
        for wrong in (["a name"], ["::1"], [1], ["1.1.1.1"] * 11):
            self.api("PUT", place + "/network", {"dnsServers": wrong}, expect=400)
        for port in (0, 65536, 49983, 49999):
            self.api("POST", "/v2/sandboxes", {"templateID": "base", "network": {"httpsPorts": [port]}}, expect=400)

    def test_a_sandbox_that_was_made_closed_is_opened_later(self):
        self.api("PUT", "/v1/network-policy", {"policy": "open"})
        self.addCleanup(lambda: self.api("DELETE", "/v1/network-policy", expect=204))
        box = self.create(allow_internet_access=False)
        self.assertFalse(box.get_info().allow_internet_access)
        box.update_network({"allow_out": ["api.example.com"], "deny_out": [self.e2b.ALL_TRAFFIC]})
        resolved = "python3 -c 'import socket; print(socket.gethostbyname(\"%s.example.com\"))' || true"
        self.assertTrue(box.commands.run(resolved % "api").stdout.startswith("198.18."))  # by the gate
        self.assertEqual(box.commands.run(resolved % "other").stdout, "")

    def test_a_request_that_is_repeated_makes_one_sandbox(self):
        first = self.create(idempotency_key="repeated-1")
        self.assertEqual(self.create(idempotency_key="repeated-1").sandbox_id, first.sandbox_id)
        self.assertNotEqual(self.create(idempotency_key="repeated-2").sandbox_id, first.sandbox_id)

    def test_refreshes_and_resume(self):
        box = self.create(timeout=60)
        place = "/sandboxes/" + box.sandbox_id
        before = self.api("GET", place)["endAt"]
        self.api("POST", place + "/refreshes", {"duration": 5}, expect=204)
        self.assertEqual(self.api("GET", place)["endAt"], before)  # it only makes longer
        self.api("POST", place + "/refreshes", {"duration": 600}, expect=204)
        self.assertGreater(self.api("GET", place)["endAt"], before)
        self.assertEqual(self.api("POST", place + "/resume", {"timeout": 60}, expect=409)["code"], 409)
        self.api("POST", place + "/pause", expect=204)
        resumed = self.api("POST", place + "/resume", {"timeout": 60}, expect=201)
        self.assertEqual(resumed["sandboxID"], box.sandbox_id)
        self.assertTrue(box.is_running())
        self.assertEqual(self.api("GET", "/sandboxes/metrics?sandbox_ids=" + box.sandbox_id)["sandboxes"].keys(), {box.sandbox_id})

    def test_what_there_is_not_is_refused_and_not_forgotten(self):
        for field, wish in (("mcp", {"browserbase": {"apiKey": "x"}}), ("iam", {"tokens": {"aws": {"audience": "a", "tokenType": "JWT-SVID"}}}),
                            ("network", {"egressProxy": {"address": "127.0.0.1:1080"}})):
            self.assertIn("not supported", self.api("POST", "/v2/sandboxes", {"templateID": "base", field: wish}, expect=400)["message"])

    def test_a_list_has_an_order_that_there_is(self):
        self.assertEqual(self.api("GET", "/v2/sandboxes?order=up", expect=400)["code"], 400)

    def test_metrics_of_a_time(self):
        box = self.create()
        deadline = time.monotonic() + 30
        while not box.get_metrics() and time.monotonic() < deadline:
            time.sleep(0.1)
        point = box.get_metrics()[0]
        self.assertGreater(point.mem_total, 0)
        self.assertGreater(point.disk_total, 0)


if __name__ == "__main__":
    unittest.main()
