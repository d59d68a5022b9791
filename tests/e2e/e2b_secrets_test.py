"""E2B's secrets with its official SDKs, and rules that put them into requests (e2b_secrets_story.mjs); attacks on both."""

import json
import sys
import unittest

from e2b_node_story import E2bNodeStory
from sandbox_story import SandboxStory
from sdk import python_sdk, skip_without, skip_without_node
from service_network_test import CallNetworkStory

VALUE = "value-that-nobody-may-see"


@skip_without_node("e2b")
class E2bSecretsJavaScript(CallNetworkStory, E2bNodeStory):
    def test_secrets_and_rules(self):
        self.ask("PUT", "/v1/network-policy", {"policy": "open"})
        self.tell("e2b_secrets_story.mjs", around=self.world.on_the_machine())


class E2bSecrets(SandboxStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.theirs = json.loads(cls.belljar("key", "create", "--organization", "others", "--json").stdout)["key"]
        cls.reader = json.loads(cls.belljar("key", "create", "--role", "read-only", "--json").stdout)["key"]

    def secret(self, name, key=None):
        made = self.api("POST", "/secrets", {"name": name, "value": VALUE}, expect=201, key=key)
        self.addCleanup(lambda: self.server.request("DELETE", "/secrets/" + made["secretID"], None, key))
        return made

    @skip_without("e2b")
    def test_pythons_client(self):
        sys.path.insert(0, python_sdk("e2b"))
        import e2b
        options = {"api_key": self.server.key, "api_url": self.server.url}
        made = e2b.Secret.create("py", VALUE, metadata={"a": "b"}, **options)
        self.assertEqual((made.name, made.version, made.metadata), ("py", 1, {"a": "b"}))
        self.assertEqual(e2b.Secret.update("py", VALUE + "2", **options).version, 2)
        self.assertEqual(e2b.Secret.get_info(made.secret_id, **options).name, "py")
        self.assertEqual([one.name for one in e2b.Secret.list(**options).next_items()], ["py"])
        self.assertTrue(e2b.Secret.exists("py", **options))
        self.assertTrue(e2b.Secret.destroy("py", **options))
        self.assertFalse(e2b.Secret.destroy("py", **options))
        with self.assertRaises(e2b.SecretNotFoundException):
            e2b.Secret.get_info("py", **options)

    def test_a_value_never_comes_back(self):
        made = self.secret("quiet")
        seen = [self.server.request("GET", path)[2] for path in ("/secrets", "/secrets/quiet", "/secrets/" + made["secretID"], "/v1/audit")]
        seen.append(self.server.request("POST", "/secrets", {"name": "quiet", "value": VALUE})[2])
        for body in ({"name": [VALUE], "value": VALUE}, {"name": "x", "value": [VALUE]}, {"name": "x", "value": {VALUE: VALUE}},
                     {"name": "x", "value": VALUE, "metadata": VALUE}, {"name": "{", "value": VALUE}, {"value": VALUE}, {"name": "x", "value": ""}):
            status, _, text = self.server.request("POST", "/secrets", body)
            self.assertEqual(status, 400, body)
            seen.append(text)
        for text in seen:
            self.assertNotIn(VALUE.encode(), text)
        with open(self.data + "/belljar.db", "rb") as database:
            self.assertNotIn(VALUE.encode(), database.read())

    def test_another_organizations_secret_does_not_exist(self):
        made = self.secret("mine")
        for reference in ("mine", made["secretID"]):
            for method, body in (("GET", None), ("POST", {"value": "x"}), ("DELETE", None)):
                status, _, text = self.server.request(method, "/secrets/" + reference, body, self.theirs)
                self.assertEqual((status, json.loads(text)["code"]), (404, 404))
        self.assertEqual(self.api("GET", "/secrets", key=self.theirs), [])
        self.secret("mine", key=self.theirs)  # a name is an organization's own
        wish = {"templateID": "base", "network": {"rules": {"a.example": [{"transform": {"headers": {"A": "${e2b.secrets.only ours}"}}}]}}}
        self.secret("only ours")
        self.api("POST", "/v2/sandboxes", wish, key=self.theirs, expect=400)

    def test_who_may_only_read_changes_nothing(self):
        self.secret("fixed")
        for method, path, body in (("POST", "/secrets", {"name": "new", "value": VALUE}), ("POST", "/secrets/fixed", {"value": VALUE}),
                                   ("DELETE", "/secrets/fixed", None)):
            self.assertEqual(self.server.request(method, path, body, self.reader)[0], 403)
        self.assertEqual(self.api("GET", "/secrets/fixed", key=self.reader)["currentVersion"], 1)

    def test_a_rule_that_is_refused_changes_no_network(self):
        made = self.api("POST", "/v2/sandboxes", {"templateID": "base", "network": {"denyOut": ["10.0.0.0/8"]}}, expect=201)
        self.addCleanup(lambda: self.server.request("DELETE", "/sandboxes/" + made["sandboxID"]))
        for rules in ([], {"a.example": [{"transform": {"headers": {"A": "${e2b.secrets.none}"}}}]},
                      {"a.example": [{"transform": {"headers": {"A": "x\r\nB: y"}}}]}, {f"h{i}.example": [] for i in range(11)}):
            self.api("PUT", f"/sandboxes/{made['sandboxID']}/network", {"rules": rules} if rules != [] else {"rules": [1]}, expect=400)
        self.assertEqual(self.api("GET", "/sandboxes/" + made["sandboxID"])["network"], {"denyOut": ["10.0.0.0/8"]})


if __name__ == "__main__":
    unittest.main()
