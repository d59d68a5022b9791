"""Sandboxes that live, on a network: what they ask for within what their organization allows, and receipts of it."""

import json
import os
import subprocess
import unittest

from service_network_test import CallNetworkStory


class SandboxNetwork(CallNetworkStory):
    def create(self, **fields):
        sandbox = self.ask("POST", "/v1/sandboxes", fields)["id"]
        self.addCleanup(lambda: self.ask("DELETE", f"/v1/sandboxes/{sandbox}"))
        return sandbox

    def reaches(self, sandbox, host):
        command = ["curl", "-sS", "-m", "10", f"http://{host}/"]
        return '"server": "world"' in self.ask("POST", f"/v1/sandboxes/{sandbox}/commands", {"command": command})["stdout"]

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


class GitRepositories(SandboxNetwork):
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
