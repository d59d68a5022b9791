"""Stories that are told by E2B's JavaScript SDK: what a *_story.mjs file says, each of its checks a test of its own."""

import json
import os
import subprocess

from sdk import node_sdk
from server_story import ServerStory


class E2bNodeStory(ServerStory):
    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": self.scratch, "E2B_API_KEY": self.server.key, "E2B_API_URL": self.server.url,
                "E2B_SANDBOX_URL": self.server.url, "E2B_VOLUME_API_URL": self.server.url, **more}

    def tell(self, story, around=(), **more):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), story)
        done = subprocess.run([*around, "node", script, node_sdk("e2b")], capture_output=True, text=True, timeout=300,
                              env=self.environment(**more))
        self.assertEqual(done.returncode, 0, done.stderr)
        outcomes = json.loads(done.stdout)
        self.assertTrue(outcomes)
        for name, outcome in outcomes.items():
            with self.subTest(name):
                self.assertEqual(outcome, "ok")
