"""What a package's code can reach while it is installed: the index, though it lies on this very machine, and nothing else.
With the control: the same places are reached once they are configured as indexes."""

import json
import os
import sys
import unittest

from network_story import NetworkStory

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = [("127.0.0.1", 8080), ("10.200.0.1", 80), ("10.200.0.2", 80), ("169.254.169.254", 80), ("93.184.216.34", 80),
          ("other.example", 80), ("metadata.example", 80), ("private.example", 80)]
PROBE = f"""
import socket
for host, port in {PLACES!r}:
    try:
        s = socket.create_connection((host, port), timeout=5)
        s.sendall(f"GET / HTTP/1.0\\r\\nHost: {{host}}\\r\\n\\r\\n".encode())
        found[f"{{host}}:{{port}}"] = "GOT" if s.recv(10) else "nothing"
    except OSError as error:
        found[f"{{host}}:{{port}}"] = type(error).__name__
"""
INDEX = "http://127.0.0.1:3141/simple"


class BuildersNetwork(NetworkStory):
    everywhere = {"PIP_INDEX_URL": INDEX}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = os.path.join(cls.scratch, "packages")
        os.mkdir(folder)
        for name, at_build in (("probe", PROBE), ("failing", PROBE + "\nraise SystemExit('failed on purpose')"), ("plain", "")):
            with open(os.path.join(folder, name + ".py"), "w") as file:
                file.write(at_build)
        machine = ("nsenter", f"--net=/proc/{cls.world.machine}/ns/net")
        cls.world.start(*machine, sys.executable, os.path.join(HERE, "package_index.py"), "3141", folder)

    def found_by_probe(self, **settings):
        source = "def f():\n import probe\n return probe.FOUND\n"
        path = self.write("tool.py", source)
        done = self.belljar("run", path, "--pip", "probe", "--json", env=settings)
        self.assertEqual(done.returncode, 0, done.stderr.decode() + done.stdout.decode())
        return json.loads(done.stdout)["return"]

    def test_an_index_on_this_machine_is_reached_and_its_neighbours_are_not(self):
        found = self.found_by_probe()
        self.assertEqual(set(found), {f"{host}:{port}" for host, port in PLACES})
        self.assertNotIn("GOT", found.values(), found)

    def test_the_same_places_are_reached_when_they_are_configured(self):
        listed = " ".join(f"http://{host}:{port}/" for host, port in PLACES)
        found = self.found_by_probe(PIP_EXTRA_INDEX_URL=listed)
        self.assertEqual(set(found.values()), {"GOT"}, found)

    def test_an_index_by_the_name_localhost_is_reached(self):
        done = self.belljar("env", "build", "--pip", "plain", env={"PIP_INDEX_URL": "http://localhost:3141/simple"})
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_what_was_refused_is_told_with_the_failure(self):
        done = self.belljar("env", "build", "--pip", "failing")
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 3, said)
        for words in ("failed on purpose", "network: other.example: no rule allows other.example",
                      "network: 10.200.0.2:80: 10.200.0.2 is a private address", "network: 169.254.169.254:80",
                      "network: 93.184.216.34:80: no rule allows 93.184.216.34"):
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
