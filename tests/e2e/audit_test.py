"""The audit, as an administrator meets it: receipts of what was done, a chain that verifies, attacks that are found."""

import calendar
import contextlib
import hashlib
import json
import os
import sqlite3
import struct
import time
import unittest

from server_story import Server, ServerStory

TOOL = 'def add(a: int, b: int) -> int:\n    """Adds.\n\n    Args:\n        a: one\n        b: other\n    """\n    return a + b\n'
PLANTED = "planted-value-of-a-secret"
ARGUMENT = 918273645


def hash_of(event):
    """As docs/audit.md specifies it, from an exported line."""
    def number(value):
        return struct.pack(">Q", value)

    def text(value):
        return b"\xff" * 8 if value is None else number(len(value.encode())) + value.encode()

    seconds, fraction = event["time"].rstrip("Z").split(".")
    time_us = calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 1_000_000 + int(fraction)
    detail = json.dumps(event["detail"], separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(
        text("belljar-audit-event-v1") + text(event["previous_hash"]) + number(event["sequence"]) + text(event["id"])
        + number(time_us) + b"".join(text(event[name]) for name in ("organization_id", "user_id", "key_id", "kind", "action",
                                                                    "subject", "outcome", "call_id"))
        + text(detail)).hexdigest()


class Audit(ServerStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tool = cls.make("POST", "/v1/tools/", {"source_code": TOOL})["id"]
        config = cls.make("POST", "/v1/sandbox-config/local/default")["id"]
        cls.variable = cls.make("POST", f"/v1/sandbox-config/{config}/environment-variable",
                                {"key": "PLANTED", "value": PLANTED})["id"]
        cls.ran = cls.make("POST", f"/v1/tools/{cls.tool}/run", {"args": {"a": ARGUMENT, "b": 1}})

    @classmethod
    def make(cls, method, path, body=None):
        status, _, text = cls.server.request(method, path, body)
        assert status == 200, (path, status, text)
        return json.loads(text)

    def events(self, query=""):
        return self.make("GET", "/v1/audit" + query)

    def verify(self, *flags):
        done = self.belljar("audit", "verify", "--json", *flags)
        return done.returncode, json.loads(done.stdout)

    def tamper(self, sql):
        with sqlite3.connect(os.path.join(self.data, "belljar.db"), timeout=20) as database:
            self.assertGreater(database.execute(sql).rowcount, 0)

    def test_acts_and_runs_have_receipts_without_values(self):
        events = self.events("?order=asc")
        actions = [event["action"] for event in events]
        for action in ("key.create", "server.start", "tool.put", "variable.put", "tool.run"):
            self.assertIn(action, actions)
        self.assertEqual([event["sequence"] for event in events], sorted(event["sequence"] for event in events))
        run = self.events(f"?call_id={self.ran['call_id']}")
        self.assertEqual([(event["subject"], event["outcome"]) for event in run], [(self.tool, "ok")])
        self.assertEqual(run[0]["detail"]["secrets"], ["PLANTED"])
        exported = self.belljar("audit", "export").stdout.decode()
        self.assertIn("PLANTED", exported)
        self.assertNotIn(PLANTED, exported)
        self.assertNotIn(str(ARGUMENT), exported)

    def test_only_administrators_see_them_and_only_their_own(self):
        def key(organization, role):
            done = self.belljar("key", "create", "--organization", organization, "--role", role, "--json")
            return json.loads(done.stdout)["key"]
        for role in ("read-only", "member"):
            self.assertEqual(self.server.request("GET", "/v1/audit", key=key("default_org", role))[0], 403)
        other = json.loads(self.server.request("GET", "/v1/audit", key=key("others", "admin"))[2])
        self.assertEqual({event["action"] for event in other}, {"key.create"})

    def test_the_chain_verifies_while_the_server_writes_it(self):
        self.assertEqual(self.verify()[0], 0)
        self.assertEqual(self.verify()[1]["problem"], None)

    def test_a_page_goes_on_where_the_last_one_ended(self):
        first = self.events("?limit=2")
        second = self.events(f"?limit=2&after={first[-1]['sequence']}")
        self.assertEqual(second[0]["sequence"], first[-1]["sequence"] - 1)

    def test_exports_are_lines_of_json(self):
        for line in self.belljar("audit", "export", "--format", "ocsf").stdout.splitlines():
            self.assertIn(json.loads(line)["class_uid"], (6003, 1007, 1001))
        self.assertEqual(self.belljar("audit", "export", "--format", "xml").returncode, 2)

    def test_anybody_can_check_an_exported_chain_without_us(self):
        sandbox = self.make("POST", "/v1/sandboxes", {})["id"]
        self.make("POST", f"/v1/sandboxes/{sandbox}/commands", {"command": "true"})  # its duration is no whole number
        self.server.request("DELETE", f"/v1/sandboxes/{sandbox}")
        self.belljar("key", "create", "--rate", "0.01")
        previous = "0" * 64
        for line in self.belljar("audit", "export").stdout.splitlines():
            event = json.loads(line)
            self.assertEqual(event["previous_hash"], previous)
            self.assertEqual(hash_of(event), event["hash"])
            previous = event["hash"]

    def test_what_was_changed_is_found_and_a_kept_head_tells(self):
        head = self.write("head.json", self.belljar("audit", "head", "--json").stdout)
        self.assertEqual(self.verify("--head", head)[0], 0)
        self.tamper("UPDATE audit_events SET outcome = 'x' || outcome WHERE sequence = 2")
        status, report = self.verify()
        self.assertEqual((status, report["problem"]["fault"], report["problem"]["sequence"]), (1, "changed", 2))
        self.tamper("UPDATE audit_events SET outcome = substr(outcome, 2) WHERE sequence = 2")
        self.assertEqual(self.verify("--head", head)[0], 0)


    def test_what_is_put_before_the_first_event_or_is_of_another_type_is_found(self):
        self.tamper("INSERT INTO audit_events SELECT 0, 'event-forged', time_us, organization_id, user_id, key_id, kind, action,"
                    " subject, outcome, call_id, detail, previous_hash, hash FROM audit_events WHERE sequence = 2")
        self.assertEqual((self.verify()[0], self.verify()[1]["problem"]["fault"]), (1, "changed"))
        self.assertEqual(self.belljar("audit", "show", "0").returncode, 2)
        self.assertNotIn(b"event-forged", self.belljar("audit", "export").stdout)
        self.tamper("DELETE FROM audit_events WHERE sequence = 0")
        self.tamper("UPDATE audit_events SET detail = CAST(detail AS BLOB) WHERE sequence = 2")
        status, report = self.verify()
        self.assertEqual((status, report["problem"]["fault"], report["problem"]["sequence"]), (1, "changed", 2))
        self.assertEqual(self.server.request("GET", "/v1/audit?order=asc")[0], 409)
        self.tamper("UPDATE audit_events SET detail = CAST(detail AS TEXT) WHERE sequence = 2")
        self.assertEqual(self.verify()[0], 0)


class Killed(ServerStory):
    def test_a_killed_server_leaves_an_intact_chain_with_every_acknowledged_act(self):
        acknowledged = []
        for number in range(20):
            body = {"label": f"b{number}", "value": "v"}
            status, _, text = self.server.request("POST", "/v1/blocks/", body)
            self.assertEqual(status, 200)
            acknowledged.append(json.loads(text)["id"])
        self.server.kill()
        type(self).server = Server(self.data, self.scratch)
        done = self.belljar("audit", "verify", "--json")
        self.assertEqual(done.returncode, 0, done.stdout)
        exported = [json.loads(line) for line in self.belljar("audit", "export").stdout.splitlines()]
        created = [event["subject"] for event in exported if event["action"] == "block.create"]
        self.assertEqual(created, acknowledged)

    def test_what_a_killed_server_wrote_last_cannot_be_cut_off_unseen(self):
        self.assertEqual(self.belljar("audit", "head").returncode, 0)  # a checkpoint, and more behind it
        self.server.request("POST", "/v1/blocks/", {"label": "last", "value": "v"})
        self.server.kill()
        with contextlib.closing(sqlite3.connect(os.path.join(self.data, "belljar.db"))) as database, database:
            database.execute("DELETE FROM audit_events WHERE sequence = (SELECT MAX(sequence) FROM audit_events)")
            database.execute("UPDATE audit_head SET (sequence, hash) ="
                             " (SELECT sequence, hash FROM audit_events ORDER BY sequence DESC LIMIT 1)")
            database.execute("DELETE FROM audit_checkpoints WHERE sequence > (SELECT sequence FROM audit_head)")
        done = self.belljar("audit", "verify", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["problem"]["fault"]), (1, "truncated"))
        for name in ("audit.head", "audit.tail"):  # and who takes those away as well is missed
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(self.data, name))
        done = self.belljar("audit", "verify", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["problem"]["fault"]), (1, "no_kept_head"))
        type(self).server = Server(self.data, self.scratch)


if __name__ == "__main__":
    unittest.main()
