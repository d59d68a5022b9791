"""Who may say what tools reach: organization, sandbox configuration, tool and call, each only taking away; and limits of keys."""

import concurrent.futures
import json
import os
import threading
import unittest

from server_story import ServerStory

THREE = 'def three() -> int:\n    """T."""\n    return 3\n'
HOLD = 'def hold() -> str:\n    """H."""\n    import time\n    time.sleep(2)\n    return "held"\n'
PRIVATE = {"preset": "open", "private_addresses": ["10.0.0.5:80"]}
BROKEN = ({"rules": "*"}, {"rules": [{"allow": "*"}]}, {"odd": 1}, {"rules": [{"allow": "a.example", "ports": [0]}]}, "all", 5, [], True)
BINDING = {"hosts": ["api.example.com"], "header": "Authorization", "format": "Bearer {}"}
VALUE = "a-value-that-never-leaves"


class PolicyStory(ServerStory):
    def new_key(self, role, organization="", *flags):
        named = ("--organization", organization) if organization else ()
        done = self.belljar("key", "create", "--role", role, "--json", *named, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["key"]

    def new_tool(self, source=THREE, key=None):
        return self.api("POST", "/v1/tools/", {"source_code": source}, key=key)["id"]

    def events(self, **query):
        return self.api("GET", "/v1/audit?limit=1000&" + "&".join(f"{name}={value}" for name, value in query.items()))


class Organization(PolicyStory):
    def test_there_is_none_until_an_administrator_sets_one(self):
        key = self.new_key("admin", "fresh")
        self.assertEqual(self.api("GET", "/v1/network-policy", key=key)["policy"], "none")
        self.assertEqual(self.api("GET", "/v1/network-policy", key=key)["source"], "server")
        self.api("PUT", "/v1/network-policy", {"policy": {"preset": "packages"}}, key=key)
        self.assertEqual(self.api("GET", "/v1/network-policy", key=key)["policy"], {"preset": "packages"})
        self.assertEqual(self.api("GET", "/v1/network-policy")["source"], "server")  # another organization's
        self.api("DELETE", "/v1/network-policy", key=key, expect=204)
        self.assertEqual(self.api("GET", "/v1/network-policy", key=key)["source"], "server")
        self.api("DELETE", "/v1/network-policy", key=key, expect=404)

    def test_only_administrators_write_it(self):
        for role in ("member", "read-only"):
            key = self.new_key(role)
            self.api("PUT", "/v1/network-policy", {"policy": "open"}, key=key, expect=403)
            self.api("DELETE", "/v1/network-policy", key=key, expect=403)
            self.assertEqual(self.api("GET", "/v1/network-policy", key=key)["source"], "server")

    def test_what_is_no_policy_is_refused_with_a_sentence(self):
        for policy in BROKEN:
            with self.subTest(str(policy)):
                answer = self.api("PUT", "/v1/network-policy", {"policy": policy}, expect=422)
                self.assertIn("network policy of the organization", answer["detail"])

    def test_the_command_line_does_the_same_and_leaves_a_receipt(self):
        self.new_key("admin", "commanded")
        where = ("--organization", "commanded")
        done = self.belljar("network", "set", "allow:api.example.com:8443", *where)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(self.belljar("network", "show", "--json", *where).stdout)
        self.assertEqual(shown, {"policy": {"rules": [{"allow": "api.example.com", "ports": [8443]}]}, "source": "organization"})
        self.assertEqual(self.belljar("network", "set", '{"odd": 1}', *where).returncode, 2)
        self.assertEqual(self.belljar("network", "set", "open", "--organization", "nobody").returncode, 2)
        self.assertEqual(self.belljar("network", "clear", *where).returncode, 0)
        self.assertEqual(json.loads(self.belljar("network", "show", "--json", *where).stdout)["source"], "server")
        said = self.belljar("audit", "export").stdout.decode()
        self.assertIn("network_policy.put", said)
        self.assertIn("network_policy.remove", said)

    def test_the_servers_setting_is_a_policy_too(self):
        env = {"BELLJAR_NETWORK": "packages"}
        self.assertEqual(json.loads(self.belljar("network", "show", "--json", env=env).stdout)["policy"], "packages")
        listed = json.loads(self.belljar("config", "show", "--json", env=env).stdout)
        self.assertIn({"name": "network.policy", "value": "packages", "origin": "environment BELLJAR_NETWORK"}, listed)


class InnerLayers(PolicyStory):
    """Those that members write: they take away, and can't list private addresses."""

    def test_a_broken_policy_is_refused_where_it_is_written(self):
        tool = self.new_tool()
        for policy in (*BROKEN, PRIVATE):
            with self.subTest(str(policy)):
                said = self.api("PATCH", f"/v1/tools/{tool}", {"metadata_": {"network": policy}}, expect=422)
                self.assertIn("network policy of the tool", said["detail"])
                said = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}, "network": policy}, expect=422)
                self.assertIn("network policy of the call", said["detail"])
                said = self.api("POST", "/v1/sandbox-config/local", {"network": policy}, expect=422)
                self.assertIn("network policy of the sandbox configuration", said["detail"])

    def test_a_configuration_without_a_policy_is_stored_as_before(self):
        with_policy = self.api("POST", "/v1/sandbox-config/local", {"network": {"preset": "open"}, "credentials": []})
        self.assertEqual(with_policy["config"]["network"], {"preset": "open"})
        without = self.api("POST", "/v1/sandbox-config/local", {})
        self.assertEqual(set(without["config"]), {"sandbox_dir", "use_venv", "venv_name", "pip_requirements"})

    def test_who_asks_for_more_than_the_organization_allows_is_told(self):
        tool = self.new_tool()
        answer = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}, "network": "open"})
        self.assertEqual(answer["return"], 3)
        self.assertIn("organization's network policy allows nothing", answer["network"]["note"])
        answer = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}})
        self.assertIsNone(answer["network"])


class Credentials(PolicyStory):
    def make(self, name, /, expect=200, key=None, **change):
        body = {"name": name, "value": VALUE, "binding": BINDING, **change}
        return self.api("POST", "/v1/credentials", body, expect=expect, key=key)

    def test_a_value_never_leaves(self):
        self.make("github")
        self.make("github", expect=409)
        self.api("PUT", "/v1/credentials/github", {"binding": {**BINDING, "variable": "GITHUB_TOKEN"}})
        for role in ("read-only", "member", "admin"):
            status, _, text = self.server.request("GET", "/v1/credentials", key=self.new_key(role))
            self.assertEqual(status, 200)
            self.assertIn(b"api.example.com", text)
            self.assertNotIn(VALUE.encode(), text)
        shown = self.api("GET", "/v1/credentials/github")["binding"]
        self.assertEqual(shown["variable"], "GITHUB_TOKEN")
        self.assertGreater(len(shown["placeholder"]), 20)
        listed = self.belljar("credential", "list", "--json").stdout
        self.assertIn(b"github", listed)
        for place in (listed, self.belljar("audit", "export").stdout, self.log_text().encode()):
            self.assertNotIn(VALUE.encode(), place)
        for folder, _, files in os.walk(self.data):
            for name in files:
                if name.startswith("belljar.db"):
                    with open(os.path.join(folder, name), "rb") as file:
                        self.assertNotIn(VALUE.encode(), file.read(), name)
        self.api("DELETE", "/v1/credentials/github", expect=204)
        self.api("GET", "/v1/credentials/github", expect=404)

    def test_only_administrators_write(self):
        self.make("theirs")
        for role in ("member", "read-only"):
            key = self.new_key(role)
            self.make("mine", key=key, expect=403)
            self.api("PUT", "/v1/credentials/theirs", {"value": "x" * 20, "binding": BINDING}, key=key, expect=403)
            self.api("DELETE", "/v1/credentials/theirs", key=key, expect=403)

    def test_a_refusal_does_not_repeat_the_value(self):
        for change in ({"binding": {}}, {"binding": 5}, {"odd": 1}, {"name": "../x"}, {"name": 7}, {"value": VALUE + "\n"},
                       {"value": [VALUE]}, {"binding": {**BINDING, "hosts": ["10.0.0.1"]}}, {"binding": {**BINDING, "variable": "A=B"}}):
            with self.subTest(str(change)):
                said = self.make("odd", expect=422, **change)
                self.assertNotIn(VALUE, json.dumps(said))
        self.api("GET", "/v1/credentials/odd", expect=404)

    def test_a_call_that_names_what_is_not_there_fails_and_says_so(self):
        tool = self.new_tool()
        for where in ("call", "tool"):
            if where == "tool":
                self.api("PATCH", f"/v1/tools/{tool}", {"metadata_": {"credentials": ["nowhere"]}})
            body = {"args": {}, **({"credentials": ["nowhere"]} if where == "call" else {})}
            answer = self.api("POST", f"/v1/tools/{tool}/run", body)
            self.assertEqual(answer["status"], "error")
            self.assertIn('there is no credential "nowhere"', answer["error"]["message"])

    def test_another_organizations_is_none(self):
        self.make("secretly")
        key = self.new_key("admin", "others")
        tool = self.new_tool(key=key)
        answer = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}, "credentials": ["secretly"]}, key=key)
        self.assertIn("there is no credential", answer["error"]["message"])

    def test_the_code_finds_a_placeholder_and_not_the_value(self):
        self.make("maps", binding={**BINDING, "variable": "MAPS_KEY"})
        source = 'def look() -> str:\n    """L."""\n    import os\n    return str(dict(os.environ))\n'
        tool = self.new_tool(source)
        said = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}, "credentials": ["maps"]})["return"]
        self.assertIn(self.api("GET", "/v1/credentials/maps")["binding"]["placeholder"], said)
        self.assertNotIn(VALUE, said)

    def test_a_rotation_takes_them_along(self):
        self.make("rotated")
        done = self.belljar("secrets", "rotate", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(json.loads(done.stdout)["rewritten"], 1)

    def test_the_command_takes_values_from_a_file_or_the_environment_only(self):
        path = self.write("value.txt", VALUE + "\n")
        bound = ("--host", "api.example.com", "--header", "X-Key")
        done = self.belljar("credential", "add", "filed", "--from-file", path, *bound)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.belljar("credential", "add", "named", "--from-env", "TOKEN", *bound, env={"TOKEN": VALUE})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_one_sentence(self.belljar("credential", "add", "neither", *bound), 2, "--from-file")
        self.assert_one_sentence(self.belljar("credential", "add", "filed", "--from-file", path, *bound), 2, "already")
        self.assertEqual(self.belljar("credential", "rm", "filed").returncode, 0)
        self.assertNotIn(b"filed", self.belljar("credential", "list").stdout)


class FileCredentials(PolicyStory):
    @classmethod
    def prepare(cls):
        cls.directory = os.path.join(cls.scratch, "credentials")
        os.mkdir(cls.directory, 0o700)
        cls.env = {"BELLJAR_CREDENTIALS_DIRECTORY": cls.directory}

    def test_a_file_is_a_credential_if_only_its_owner_can_read_it(self):
        path = os.path.join(self.directory, "filed.json")
        with open(path, "w") as file:
            json.dump({**BINDING, "variable": "FILED", "placeholder": "placeholder-of-file", "value": VALUE}, file)
        tool = self.new_tool('def look() -> str:\n    """L."""\n    import os\n    return os.environ.get("FILED", "none")\n')
        os.chmod(path, 0o644)
        answer = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}, "credentials": ["filed"]})
        self.assertIn("chmod 600", answer["error"]["message"])
        os.chmod(path, 0o600)
        answer = self.api("POST", f"/v1/tools/{tool}/run", {"args": {}, "credentials": ["filed"]})
        self.assertEqual(answer["return"], "placeholder-of-file")


class KeyLimits(PolicyStory):
    def test_a_key_over_its_rate_is_told_and_others_go_on(self):
        slow = self.new_key("member", "", "--rate", "0.01")
        self.api("GET", "/v1/tools/", key=slow)
        status, headers, text = self.server.request("GET", "/v1/tools/", key=slow)
        self.assertEqual(status, 429, text)
        self.assertGreaterEqual(int(headers["Retry-After"]), 1)
        self.assertIn("0.01 requests a second", json.loads(text)["detail"])
        self.api("GET", "/v1/tools/")
        metrics = self.server.request("GET", "/metrics")[2].decode()
        self.assertIn('belljar_http_limited_total{limit="requests"} 1', metrics)

    def test_runs_at_a_time_are_bounded(self):
        key = self.new_key("member", "", "--runs", "1")
        tool = self.new_tool(HOLD)
        gate = threading.Barrier(3)

        def run(_):
            gate.wait()
            return self.server.request("POST", f"/v1/tools/{tool}/run", {"args": {}}, key=key)[0]

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            statuses = sorted(pool.map(run, range(3)))
        self.assertEqual(statuses, [200, 429, 429])
        self.assertEqual(self.server.request("POST", f"/v1/tools/{tool}/run", {"args": {}}, key=key)[0], 200)

    def test_limits_are_settings(self):
        listed = json.loads(self.belljar("config", "show", "--json", env={"BELLJAR_RATE_LIMIT": "7"}).stdout)
        self.assertIn({"name": "server.rate_limit", "value": "7", "origin": "environment BELLJAR_RATE_LIMIT"}, listed)
        self.assert_one_sentence(self.belljar("key", "create", "--rate", "-1"), 2, "number")


if __name__ == "__main__":
    unittest.main()
