"""What the stories about the gate share: a small internet, and Belljar's commands on a machine in it."""

import json
import os
import subprocess
import unittest

from network_world import World
from story import BELLJAR, PATIENCE_SECONDS, Story


@unittest.skipUnless(os.geteuid() == 0, "makes network namespaces: needs root")
class NetworkStory(Story):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.world = World(cls.scratch)

    @classmethod
    def tearDownClass(cls):
        cls.world.stop()
        super().tearDownClass()

    @classmethod
    def belljar(cls, *arguments, **more):
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": cls.data, "HOME": cls.scratch, **cls.everywhere,
                       **more.pop("env", {})}
        return subprocess.run([*cls.world.on_the_machine(), BELLJAR, *arguments], capture_output=True,
                              timeout=PATIENCE_SECONDS, env=environment, **more)

    def curl(self, policy, *arguments, flags=()):
        return self.belljar("exec", "--network", policy, *flags, "--", "curl", "-sS", "-m", "10", *arguments)

    def python(self, policy, script, *arguments, flags=()):
        return self.belljar("exec", "--network", policy, *flags, "--", "python3", "-c", script, *arguments)

    def policy(self, name, **fields):
        return self.write(name, json.dumps(fields))
