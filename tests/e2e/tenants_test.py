"""What one organization has is nobody else's, on every route; who has no key gets nothing; who may only read, only reads."""

import json
import unittest

from server_story import ServerStory

TOOL = 'def secret_tool() -> str:\n    """Theirs."""\n    return "theirs"\n'


class Tenants(ServerStory):
    """Organization "theirs" owns one of everything; "ours" tries to reach it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.theirs = cls.new_key("theirs", "admin")
        cls.ours = cls.new_key("ours", "admin")
        cls.reader = cls.new_key("theirs", "read-only")

        def make(method, path, body=None):
            status, _, text = cls.server.request(method, path, body, key=cls.theirs)
            assert status == 200, (path, status, text)
            return json.loads(text)

        cls.tool = make("POST", "/v1/tools/", {"source_code": TOOL})["id"]
        cls.config = make("POST", "/v1/sandbox-config/local/default")["id"]
        cls.variable = make("POST", f"/v1/sandbox-config/{cls.config}/environment-variable",
                            {"key": "K", "value": "their-value"})["id"]
        agent = make("POST", "/v1/agents/", {"name": "theirs", "tool_ids": [cls.tool], "secrets": {"S": "their-secret"},
                                             "memory_blocks": [{"label": "human", "value": "their-memory"}]})
        cls.agent, cls.block = agent["id"], agent["blocks"][0]["id"]
        binding = {"hosts": ["api.example.com"], "header": "Authorization"}
        make("POST", "/v1/credentials", {"name": "hidden", "value": "their-credential", "binding": binding})
        make("PUT", "/v1/network-policy", {"policy": {"rules": [{"allow": "their.example"}]}})
        cls.call = make("POST", f"/v1/tools/{cls.tool}/run", {"args": {}})["call_id"]

    @classmethod
    def new_key(cls, organization, role):
        done = cls.belljar("key", "create", "--organization", organization, "--role", role, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["key"]

    def attacks(self):
        tool, config, variable, agent, block = self.tool, self.config, self.variable, self.agent, self.block
        update = {"source_code": TOOL, "description": "ours now"}
        return [
            ("GET", f"/v1/tools/{tool}", None), ("PATCH", f"/v1/tools/{tool}", update), ("DELETE", f"/v1/tools/{tool}", None),
            ("POST", f"/v1/tools/{tool}/run", {"args": {}}),
            ("PATCH", f"/v1/sandbox-config/{config}", {"config": {"use_venv": True}}),
            ("DELETE", f"/v1/sandbox-config/{config}", None),
            ("POST", f"/v1/sandbox-config/{config}/environment-variable", {"key": "X", "value": "planted"}),
            ("PATCH", f"/v1/sandbox-config/environment-variable/{variable}", {"value": "changed"}),
            ("DELETE", f"/v1/sandbox-config/environment-variable/{variable}", None),
            ("GET", f"/v1/agents/{agent}", None), ("PATCH", f"/v1/agents/{agent}", {"name": "ours"}),
            ("DELETE", f"/v1/agents/{agent}", None), ("GET", f"/v1/agents/{agent}/tools", None),
            ("POST", f"/v1/agents/{agent}/tools/secret_tool/run", {"args": {}}),
            ("PATCH", f"/v1/agents/{agent}/tools/attach/{tool}", None), ("PATCH", f"/v1/agents/{agent}/tools/detach/{tool}", None),
            ("GET", f"/v1/agents/{agent}/core-memory/blocks", None),
            ("GET", f"/v1/agents/{agent}/core-memory/blocks/human", None),
            ("PATCH", f"/v1/agents/{agent}/core-memory/blocks/human", {"value": "changed"}),
            ("GET", f"/v1/blocks/{block}", None), ("PATCH", f"/v1/blocks/{block}", {"value": "changed"}),
            ("DELETE", f"/v1/blocks/{block}", None), ("GET", f"/v1/calls/{self.call}", None),
            ("GET", "/v1/credentials/hidden", None), ("DELETE", "/v1/credentials/hidden", None),
            ("PUT", "/v1/credentials/hidden", {"binding": {"hosts": ["evil.example"], "header": "X-Key"}}),
        ]

    def test_nothing_of_theirs_can_be_read_changed_run_or_removed(self):
        for method, path, body in self.attacks():
            with self.subTest(method + " " + path):
                status, _, text = self.server.request(method, path, body, key=self.ours)
                self.assertIn(status, (400, 404, 409), text)  # as for what does not exist: Letta has 400 for tools, 409 for variables
                self.assertNotIn(b"their", text)

    def test_the_same_requests_work_for_their_owner(self):
        """So that the test above can fail."""
        for method, path, body in self.attacks():
            if method == "GET":
                with self.subTest(path):
                    self.assertEqual(self.server.request(method, path, body, key=self.theirs)[0], 200)

    def test_lists_show_ones_own_only(self):
        for path in ("/v1/tools/", "/v1/agents/", "/v1/blocks/", "/v1/sandbox-config/", "/v1/calls", "/v1/credentials",
                     f"/v1/sandbox-config/{self.config}/environment-variable"):
            with self.subTest(path):
                self.assertEqual(self.api("GET", path, key=self.ours), [])
                self.assertNotEqual(self.api("GET", path, key=self.theirs), [])

    def test_a_network_policy_is_ones_own(self):
        self.assertIn("their.example", json.dumps(self.api("GET", "/v1/network-policy", key=self.theirs)))
        self.assertEqual(self.api("GET", "/v1/network-policy", key=self.ours)["source"], "server")
        self.api("DELETE", "/v1/network-policy", key=self.ours, expect=404)
        self.assertEqual(self.api("GET", "/v1/network-policy", key=self.theirs)["source"], "organization")

    def test_a_run_cannot_name_their_credentials(self):
        key = self.new_key("third", "admin")
        tool = self.api("POST", "/v1/tools/", {"source_code": TOOL}, key=key)["id"]
        answer = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}, "credentials": ["hidden"]}, key=key)
        self.assertIn("there is no credential", answer["error"]["message"])

    def test_a_user_id_header_does_not_change_the_organization(self):
        default = "user-00000000-0000-4000-8000-000000000000"
        self.assertEqual(self.api("GET", "/v1/tools/", key=self.ours, headers={"user_id": default}), [])

    def test_an_agent_cannot_be_given_their_tools_or_blocks(self):
        for field, value in (("tool_ids", self.tool), ("block_ids", self.block)):
            status, _, text = self.server.request("POST", "/v1/agents/", {"name": "thief", field: [value]}, key=self.ours)
            self.assertIn(status, (400, 404), text)

    def test_without_a_key_every_route_is_closed(self):
        for method, path, body in self.attacks() + [("GET", "/v1/tools/", None), ("POST", "/v1/tools/run", {})]:
            with self.subTest(method + " " + path):
                for key in (False, "bj_wrong", self.theirs[:-1]):
                    self.assertIn(self.server.request(method, path, body, key=key)[0], (401, 429))  # 429: too many of them

    def test_a_read_only_key_reads_and_nothing_else(self):
        for method, path, body in self.attacks():
            with self.subTest(method + " " + path):
                status = self.server.request(method, path, body, key=self.reader)[0]
                self.assertEqual(status, 200 if method == "GET" else 403)

    def test_a_revoked_key_is_closed_at_once(self):
        key = self.new_key("theirs", "member")
        self.api("GET", "/v1/tools/", key=key)
        listed = json.loads(self.belljar("key", "list", "--json").stdout)
        newest = max(listed, key=lambda one: one["created_at"])
        self.assertEqual(self.belljar("key", "revoke", newest["id"]).returncode, 0)
        self.assertEqual(self.server.request("GET", "/v1/tools/", key=key)[0], 401)

    def test_a_web_page_cannot_use_the_server(self):
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                        {"Host": "127.0.0.1.evil.example"}):
            with self.subTest(str(headers)):
                status = self.server.request("POST", "/v1/tools/run", {"source_code": TOOL, "args": {}}, headers=headers)[0]
                self.assertEqual(status, 403)


if __name__ == "__main__":
    unittest.main()
