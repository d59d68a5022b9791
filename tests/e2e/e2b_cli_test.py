"""E2B's own command line, unchanged, against Belljar."""

import json
import os
import subprocess
import unittest

from e2b_node_story import E2bNodeStory
from sdk import node_sdk, skip_without_node


@skip_without_node("@e2b/cli")
class E2bCommandLine(E2bNodeStory):
    def e2b(self, *words, expect=0):
        program = os.path.join(node_sdk("@e2b/cli"), "node_modules/.bin/e2b")
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, env=self.environment(),
                              stdin=subprocess.DEVNULL, cwd=self.scratch)
        self.assertEqual(done.returncode, expect, (words, done.stdout, done.stderr))
        return done.stdout

    def make(self, **fields):
        made = self.api("POST", "/v2/sandboxes", {"templateID": "base", **fields}, expect=201)["sandboxID"]
        self.addCleanup(lambda: self.server.request("DELETE", "/sandboxes/" + made))
        return made

    def test_sandboxes_are_listed_shown_and_killed(self):
        first, second = self.make(metadata={"of": "cli"}), self.make()
        listed = json.loads(self.e2b("sandbox", "list", "--format", "json"))
        self.assertEqual({one["sandboxId"] for one in listed}, {first, second})
        shown = self.e2b("sandbox", "list", "-m", "of=cli")
        self.assertTrue(first in shown and second not in shown, shown)
        self.assertIn(first, self.e2b("sandbox", "info", first))
        self.e2b("sandbox", "kill", first)
        self.assertEqual([one["sandboxID"] for one in self.api("GET", "/v2/sandboxes")], [second])

    def test_a_sandbox_is_paused_resumed_run_in_and_told_about(self):
        sandbox = self.make()
        self.e2b("sandbox", "pause", sandbox)
        self.assertEqual(self.api("GET", "/sandboxes/" + sandbox)["state"], "paused")
        self.e2b("sandbox", "resume", sandbox)
        self.assertEqual(self.api("GET", "/sandboxes/" + sandbox)["state"], "running")
        self.assertIn("from inside", self.e2b("sandbox", "exec", sandbox, "echo", "from inside"))
        self.e2b("sandbox", "exec", sandbox, "exit 7", expect=7)
        self.assertIn("started from template base", self.e2b("sandbox", "logs", sandbox))
        self.assertIn("Memory", self.e2b("sandbox", "metrics", sandbox))

    def test_templates_are_listed(self):
        listed = json.loads(self.e2b("template", "list", "--format", "json"))
        self.assertIsInstance(listed, list)


if __name__ == "__main__":
    unittest.main()
