"""Sandboxes that live, on a network: what they ask for within what their organization allows, and receipts of it."""

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


if __name__ == "__main__":
    unittest.main()
