"""E2B's official JavaScript SDK, unchanged, against Belljar; e2b_story.mjs holds what it does."""

import json
import os
import subprocess
import unittest

from sdk import node_sdk, skip_without_node
from server_story import ServerStory


@skip_without_node("e2b")
class E2bJavaScript(ServerStory):
    def test_every_check_of_the_story_holds(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "e2b_story.mjs")
        environment = {"PATH": os.environ["PATH"], "E2B_API_KEY": self.server.key, "E2B_API_URL": self.server.url,
                       "E2B_SANDBOX_URL": self.server.url}
        done = subprocess.run(["node", script, node_sdk("e2b")], capture_output=True, text=True, timeout=300, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, outcome in json.loads(done.stdout).items():
            with self.subTest(name):
                self.assertEqual(outcome, "ok")


if __name__ == "__main__":
    unittest.main()
