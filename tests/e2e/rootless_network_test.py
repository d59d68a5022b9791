"""The gate without root: the same policies hold for an ordinary user's sandboxes, calls and package builds."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from network_story import NetworkStory
from rootless_test import NOBODY_IN_PARTICULAR
from story import BELLJAR, PATIENCE_SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
FETCH = "def tool(url: str):\n    import urllib.request\n    return urllib.request.urlopen(url, timeout=10).status\n"


class RootlessNetwork(NetworkStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.binary = os.path.join(cls.scratch, "belljar")
        shutil.copy(BELLJAR, cls.binary)
        os.chown(cls.scratch, NOBODY_IN_PARTICULAR, NOBODY_IN_PARTICULAR)

    @classmethod
    def belljar(cls, *arguments, **more):
        environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "BELLJAR_DATA": cls.data, "HOME": cls.scratch, **more.pop("env", {})}
        somebody = ("setpriv", f"--reuid={NOBODY_IN_PARTICULAR}", f"--regid={NOBODY_IN_PARTICULAR}", "--clear-groups")
        return subprocess.run([*cls.world.on_the_machine(), *somebody, cls.binary, *arguments], capture_output=True,
                              timeout=PATIENCE_SECONDS, env=environment, **more)

    def setUp(self):
        done = self.belljar("exec", "--network", "open", "--", "true")
        said = done.stderr.decode()
        if done.returncode == 3 and ("user namespaces" in said or "netlink" in said):
            self.skipTest("this kernel gives an ordinary user no gate: " + said.strip())

    def test_what_is_allowed_is_reached_and_the_rest_is_not(self):
        done = self.curl("allow:allowed.example", "http://allowed.example/")
        self.assertIn(b'"server": "world"', done.stdout, done.stderr)
        done = self.curl("allow:allowed.example", "http://other.example/")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("network: other.example: no rule allows other.example", done.stderr.decode())
        for place in ("10.200.0.2", "169.254.169.254", "93.184.216.35", "127.0.0.1:8080"):
            done = self.curl("allow:allowed.example", f"http://{place}/")
            self.assertEqual((done.returncode, done.stdout), (7, b""), place)

    def test_a_call_has_its_network(self):
        status, answer = self.run_tool(FETCH, {"url": "http://allowed.example/"}, "--network", "allow:allowed.example")
        self.assertEqual((status, answer["return"]), (0, 200), answer)
        self.assertEqual(answer["network"]["reached"][0]["host"], "allowed.example")
        status, answer = self.run_tool(FETCH, {"url": "http://other.example/"}, "--network", "allow:allowed.example")
        self.assertEqual((status, answer["network"]["denied"][0]["host"]), (1, "other.example"), answer)

    def test_the_rules_are_not_the_sandboxs_to_change(self):
        script = """
import socket
for family, kind, protocol in ((socket.AF_NETLINK, socket.SOCK_RAW, 12), (socket.AF_INET, socket.SOCK_RAW, 255)):
    try: socket.socket(family, kind, protocol); print("MADE")
    except OSError: print("no")
try: open("/proc/sys/net/ipv6/conf/all/disable_ipv6", "w").write("1"); print("WRITTEN")
except OSError: print("no")
"""
        self.assertEqual(self.python("allow:allowed.example", script).stdout.decode().split(), ["no"] * 3)

    def test_packages_are_installed_from_the_index_and_reach_nothing_else(self):
        folder = os.path.join(self.scratch, "packages")
        os.mkdir(folder)
        with open(os.path.join(folder, "probe.py"), "w") as file:
            file.write("import socket\ntry:\n  socket.create_connection(('127.0.0.1', 8080), 5); found['got'] = True\n"
                       "except OSError: found['got'] = False\n")
        machine = ("nsenter", f"--net=/proc/{self.world.machine}/ns/net")
        self.world.start(*machine, sys.executable, os.path.join(HERE, "package_index.py"), "3141", folder)
        path = self.write("probe_tool.py", "def f():\n import probe\n return [probe.VALUE, probe.FOUND]\n")
        done = self.belljar("run", path, "--pip", "probe", "--json", env={"PIP_INDEX_URL": "http://127.0.0.1:3141/simple"})
        self.assertEqual(done.returncode, 0, done.stderr.decode() + done.stdout.decode())
        self.assertEqual(json.loads(done.stdout)["return"], [42, {"got": False}])


if __name__ == "__main__":
    unittest.main()
