"""Sandboxes that live, on a network: what they ask for within what their organization allows, and receipts of it."""

import json
import os
import subprocess
import unittest

from service_network_test import CallNetworkStory, network_of
from story import until


class SandboxNetworkStory(CallNetworkStory):
    def create(self, **fields):
        sandbox = self.ask("POST", "/v1/sandboxes", fields)["id"]
        self.addCleanup(lambda: self.ask("DELETE", f"/v1/sandboxes/{sandbox}"))
        return sandbox

    def reaches(self, sandbox, host):
        command = ["curl", "-sS", "-m", "10", f"http://{host}/"]
        return '"server": "world"' in self.ask("POST", f"/v1/sandboxes/{sandbox}/commands", {"command": command})["stdout"]


class SandboxNetwork(SandboxNetworkStory):
    def test_a_sandbox_reaches_what_it_asked_for_and_its_organization_allows(self):
        self.allow_organization("allowed.example", "other.example")
        sandbox = self.create(network={"rules": [{"allow": "allowed.example"}]})
        self.assertTrue(self.reaches(sandbox, "allowed.example"))
        self.assertFalse(self.reaches(sandbox, "other.example"))
        self.assertTrue(self.reaches(self.create(network="open"), "other.example"))  # so that the line above can fail

    def test_asking_for_everything_opens_nothing_that_the_organization_closed(self):
        self.allow_organization("allowed.example")
        sandbox = self.create(network="open")
        self.assertTrue(self.reaches(sandbox, "allowed.example"))
        self.assertFalse(self.reaches(sandbox, "other.example"))

    def test_without_asking_or_without_an_organizations_policy_nothing_is_reached(self):
        self.assertFalse(self.reaches(self.create(network="open"), "allowed.example"))
        self.ask("PUT", "/v1/network-policy", {"policy": "open"})
        self.assertFalse(self.reaches(self.create(), "allowed.example"))

    def test_what_happens_at_its_gate_is_in_the_receipts(self):
        self.allow_organization("allowed.example")
        sandbox = self.ask("POST", "/v1/sandboxes", {"network": "open"})["id"]
        self.reaches(sandbox, "allowed.example")
        self.reaches(sandbox, "other.example")
        self.ask("DELETE", f"/v1/sandboxes/{sandbox}")
        events = self.ask("GET", f"/v1/audit?call_id={sandbox}")
        hosts = {(event["kind"], event["detail"].get("host"), event["outcome"]) for event in events}
        self.assertTrue([one for one in hosts if one[0] == "policy_decision" and one[1] == "other.example"], events)
        self.assertTrue([one for one in hosts if one[1] == "allowed.example"], events)
        allowed = [event["detail"]["decision"]["layer"] for event in events if event["outcome"] == "allowed"]
        self.assertEqual(allowed, ["sandbox"])  # the innermost
        ended = [event["detail"] for event in events if event["action"] == "network.end"]
        self.assertEqual([one["host"] for one in ended], ["allowed.example"])
        self.assertGreater(ended[0]["bytes_received"], ended[0]["bytes_sent"])


class TemplatePolicies(SandboxNetworkStory):
    """A template's own policy goes with its files: nothing that is made of them reaches more."""

    NARROW = {"rules": [{"allow": "allowed.example"}]}

    def setUp(self):
        super().setUp()
        self.allow_organization("allowed.example", "other.example")

    def build(self, name, text="FROM base\nENV A=1", expect="ready", **fields):
        made = self.ask("POST", "/v1/templates", {"name": name, "dockerfile": text, **fields})
        self.addCleanup(lambda: self.ask("DELETE", f"/v1/templates/{made['id']}", expect=(204, 404)))
        path = f"/v1/templates/{name}/builds/{made['build']['id']}"
        until(lambda: self.ask("GET", path)["status"] == expect)
        return made

    def assert_narrow(self, sandbox):
        self.assertTrue(self.reaches(sandbox, "allowed.example"))
        self.assertFalse(self.reaches(sandbox, "other.example"))

    def test_a_sandbox_that_asks_for_everything_stays_within_its_template(self):
        self.build("narrow", network=self.NARROW)
        self.build("plain")
        self.assert_narrow(self.create(template="narrow", network="open"))
        self.assertTrue(self.reaches(self.create(template="plain", network="open"), "other.example"))
        self.assertFalse(self.reaches(self.create(template="narrow"), "allowed.example"))  # it takes away, it does not ask
        self.ask("PUT", "/v1/network-policy", {"policy": {"rules": [{"allow": "other.example"}]}})
        self.assertFalse(self.reaches(self.create(template="narrow", network="open"), "allowed.example"))

    def test_no_way_around_it_through_snapshots_forks_changes_or_what_is_built_on_it(self):
        self.build("narrow", network=self.NARROW)
        sandbox = self.create(template="narrow", network="open")
        self.ask("PUT", f"/v1/sandboxes/{sandbox}/network", {"network": "open"})
        self.assert_narrow(sandbox)
        fork = self.ask("POST", f"/v1/sandboxes/{sandbox}/fork", {"count": 1})[0]["id"]
        self.addCleanup(lambda: self.ask("DELETE", f"/v1/sandboxes/{fork}"))
        self.assert_narrow(fork)
        snapshot = self.ask("POST", f"/v1/sandboxes/{sandbox}/snapshots", {"name": "of-narrow"})
        self.addCleanup(lambda: self.ask("DELETE", f"/v1/snapshots/{snapshot['id']}"))
        self.assert_narrow(self.create(template="of-narrow", network="open"))
        self.build("above", "FROM narrow\nENV B=2", network="open")
        self.assert_narrow(self.create(template="above", network="open"))
        self.assertEqual(self.ask("GET", "/v1/templates/above/network")["inherited"], [self.NARROW])
        self.ask("POST", f"/v1/sandboxes/{sandbox}/stop")
        self.ask("POST", f"/v1/sandboxes/{sandbox}/start")
        self.assert_narrow(sandbox)

    def test_steps_of_a_build_stay_within_what_it_begins_with(self):
        self.build("narrow", network=self.NARROW)
        look = "RUN curl -sf -m 10 http://%s/ > /tmp/said"
        self.build("reaching", "FROM narrow\n" + look % "allowed.example")
        self.build("closed", "FROM narrow\n" + look % "other.example", expect="error")

    def test_it_is_set_shown_and_cleared(self):
        self.build("changing", "FROM base\nENV A=1\nNETWORK none")
        path = "/v1/templates/changing/network"
        self.assertEqual(self.ask("GET", path)["policy"], "none")
        self.assertEqual(self.ask("GET", "/v1/templates/changing")["network"], "none")
        before = self.create(template="changing", network="open")
        self.assertEqual(self.ask("PUT", path, {"policy": self.NARROW})["policy"], self.NARROW)
        self.build("changing")  # a build that says nothing leaves it as it is
        self.assert_narrow(self.create(template="changing", network="open"))
        self.ask("DELETE", path, expect=(204,))
        self.assertIsNone(self.ask("GET", path)["policy"])
        self.assertTrue(self.reaches(self.create(template="changing", network="open"), "other.example"))
        self.assertFalse(self.reaches(before, "allowed.example"))  # made when it was closed
        actions = [event["action"] for event in self.ask("GET", "/v1/audit?limit=1000")]
        self.assertIn("template.network", actions)

    def test_what_is_no_policy_is_refused_where_it_is_written(self):
        self.build("sound")
        for policy in ({"rules": [{"allow": "*"}]}, "all", 5, {"private_addresses": ["10.0.0.5:80"]}):
            for method, path, body in (("PUT", "/v1/templates/sound/network", {"policy": policy}),
                                       ("POST", "/v1/templates", {"name": "sound", "network": policy})):
                self.assertIn("policy of the template", json.dumps(self.ask(method, path, body, expect=(422,))))
        self.ask("PUT", "/v1/templates/base/network", {"policy": "none"}, expect=(404,))
        self.ask("PUT", "/v1/templates/missing/network", {"policy": "none"}, expect=(404,))


class Changes(SandboxNetworkStory):
    """What a running sandbox may reach, changed."""

    def setUp(self):
        super().setUp()
        self.allow_organization("allowed.example", "other.example")
        self.sandbox = self.create(network={"rules": [{"allow": "allowed.example"}]})

    def change(self, policy, **more):
        return self.ask("PUT", f"/v1/sandboxes/{self.sandbox}/network", {"network": policy}, **more)

    def test_it_holds_at_once_and_not_beyond_the_organizations(self):
        self.assertFalse(self.reaches(self.sandbox, "other.example"))
        changed = self.change({"rules": [{"allow": "other.example"}]})
        self.assertEqual(changed["network"], {"rules": [{"allow": "other.example"}]})
        self.assertTrue(self.reaches(self.sandbox, "other.example"))
        self.assertFalse(self.reaches(self.sandbox, "allowed.example"))
        self.allow_organization("allowed.example")
        self.change("open")
        self.assertTrue(self.reaches(self.sandbox, "allowed.example"))
        self.assertFalse(self.reaches(self.sandbox, "other.example"))
        self.change(None)
        self.assertFalse(self.reaches(self.sandbox, "allowed.example"))
        receipts = [event["action"] for event in self.ask("GET", "/v1/audit?limit=1000")]
        self.assertGreaterEqual(receipts.count("sandbox.network"), 3)

    def test_one_that_was_made_without_a_network_can_get_one_and_lose_it(self):
        self.sandbox = self.create()
        self.assertFalse(self.reaches(self.sandbox, "allowed.example"))
        self.change("open")
        self.assertTrue(self.reaches(self.sandbox, "allowed.example"))
        self.change("none")
        self.assertFalse(self.reaches(self.sandbox, "allowed.example"))
        denied = [event["detail"]["host"] for event in self.ask("GET", f"/v1/audit?call_id={self.sandbox}&action=network.resolve")]
        self.assertEqual(denied, ["allowed.example"] * 4)  # before it had one and after, for both kinds of addresses

    def test_its_organizations_policy_reaches_it_whoever_changes_that(self):
        self.assertTrue(self.reaches(self.sandbox, "allowed.example"))
        with network_of(self.world.machine):
            self.assertEqual(self.belljar("network", "set", "none").returncode, 0)  # another process than the server
        until(lambda: not self.reaches(self.sandbox, "allowed.example"))
        self.allow_organization("allowed.example")
        until(lambda: self.reaches(self.sandbox, "allowed.example"))

    def test_the_command_does_the_same(self):
        with network_of(self.world.machine):
            done = self.belljar("sandbox", "network", self.sandbox, "allow:other.example", "--server", self.server.url)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_one_sentence(self.belljar("sandbox", "network", self.sandbox, '{"odd": 1}', "--server", self.server.url), 2, "policy")
        self.assertTrue(self.reaches(self.sandbox, "other.example"))

    def test_what_is_wrong_is_refused_and_changes_nothing(self):
        for policy in ({"rules": [{"allow": "*"}]}, "all", 5, {"private_addresses": ["10.0.0.5:80"]}):
            self.assertIn("policy of the sandbox", json.dumps(self.change(policy, expect=(422,))))
        self.ask("PUT", f"/v1/sandboxes/{self.sandbox}/network", {}, expect=(422,))
        self.ask("PUT", f"/v1/sandboxes/{self.sandbox}/network", {"network": "open", "more": 1}, expect=(422,))
        self.assertTrue(self.reaches(self.sandbox, "allowed.example"))

    def test_it_is_its_owners_alone(self):
        with network_of(self.world.machine):
            made = json.loads(self.belljar("key", "create", "--role", "admin", "--organization", "others", "--json").stdout)
            path = f"/v1/sandboxes/{self.sandbox}/network"
            self.assertEqual(self.server.request("PUT", path, {"network": "open"}, key=made["key"])[0], 404)
            read_only = json.loads(self.belljar("key", "create", "--role", "read-only", "--json").stdout)
            self.assertEqual(self.server.request("PUT", path, {"network": "open"}, key=read_only["key"])[0], 403)
        self.assertFalse(self.reaches(self.sandbox, "other.example"))


class GitRepositories(SandboxNetworkStory):
    """A repository that is cloned into a new sandbox, by its own git and through its gate."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        work = os.path.join(cls.scratch, "work")
        bare = os.path.join(cls.scratch, "served", "project.git")
        git = lambda *words, at=work: subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=at, check=True, capture_output=True)
        os.makedirs(work)
        git("init", "-b", "main")
        for branch, text in (("main", "from main"), ("other", "from other")):
            if branch != "main":
                git("checkout", "-b", branch)
            with open(os.path.join(work, "note"), "w") as file:
                file.write(text)
            git("add", "note")
            git("commit", "-m", branch)
        git("checkout", "main")
        git("clone", "--bare", work, bare)
        git("update-server-info", at=bare)
        serve = ("import functools, http.server, sys\n"
                 "handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])\n"
                 "server = http.server.ThreadingHTTPServer(('93.184.216.34', 8099), handler)\n"
                 "print('up', flush=True)\n"
                 "server.serve_forever()\n")
        cls.world.start("nsenter", f"--net=/proc/{cls.world.servers}/ns/net", "python3", "-c", serve, os.path.join(cls.scratch, "served"))

    URL = "http://allowed.example:8099/project.git"
    NETWORK = {"rules": [{"allow": "allowed.example", "ports": [8099]}]}

    def setUp(self):
        super().setUp()
        self.ask("PUT", "/v1/network-policy", {"policy": self.NETWORK})

    def shell(self, sandbox, command):
        return self.ask("POST", f"/v1/sandboxes/{sandbox}/commands", {"command": command})["stdout"]

    def test_a_repository_is_there_when_the_sandbox_is(self):
        sandbox = self.create(git_url=self.URL, network=self.NETWORK)
        self.assertEqual(self.shell(sandbox, "cat project/note; stat -c %U project"), "from mainuser\n")
        self.assertIn("the repository was cloned", [line["message"] for line in self.ask("GET", f"/v1/sandboxes/{sandbox}/logs")])
        other = self.create(git_url=self.URL, git_branch="other", git_path="a/b", network=self.NETWORK)
        self.assertEqual(self.shell(other, "cat a/b/note"), "from other")

    def test_what_cannot_be_cloned_is_told_and_no_sandbox_stays(self):
        def refused(**fields):
            answer = self.ask("POST", "/v1/sandboxes", fields, expect=(400, 422))
            return json.dumps(answer)

        self.assertIn("could not be cloned", refused(git_url=self.URL))  # nothing may be reached without a policy
        self.assertIn("nowhere", refused(git_url=self.URL, git_branch="nowhere", network=self.NETWORK))
        self.assertIn("could not be cloned", refused(git_url="http://allowed.example:8099/none.git", network=self.NETWORK))
        states = [one["state"] for one in self.ask("GET", "/v1/sandboxes?state=running,creating")]
        self.assertEqual(states, [])

    def test_addresses_that_are_not_plain_are_refused(self):
        for url in ("file:///etc", "ext::sh -c id", "--upload-pack=id", "ssh://a/b", "https://user:secret@allowed.example/a"):
            self.ask("POST", "/v1/sandboxes", {"git_url": url, "network": self.NETWORK}, expect=(422,))


if __name__ == "__main__":
    unittest.main()
