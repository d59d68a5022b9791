"""Real programs behind the gate, unchanged: pip, npm, git, curl, Node's fetch and WebSocket, requests and urllib."""

import glob
import json
import os
import subprocess
import sys
import unittest

from network_story import NetworkStory

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = "https://api.allowed.example:8443"
PIP = (glob.glob("/usr/share/python-wheels/pip-*.whl") or [None])[0]
TRUST = {"PIP_CERT": "/ca/ca.pem", "SSL_CERT_FILE": "/ca/ca.pem", "REQUESTS_CA_BUNDLE": "/ca/ca.pem",
         "NODE_EXTRA_CA_CERTS": "/ca/ca.pem", "npm_config_cafile": "/ca/ca.pem", "GIT_SSL_CAINFO": "/ca/ca.pem"}


class Programs(NetworkStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make_repository()
        servers = cls.world.children[1].pid  # the process that keeps the servers' namespace
        beside = ("nsenter", f"--net=/proc/{servers}/ns/net")
        cls.world.start(*beside, sys.executable, os.path.join(HERE, "program_servers.py"), "8443", cls.scratch)
        cls.world.start(*beside, "node", os.path.join(HERE, "http2_server.mjs"), "9443", cls.scratch)
        cls.everywhere = {"PIP_INDEX_URL": SERVER + "/simple", "NPM_CONFIG_REGISTRY": SERVER + "/npm/",
                          "PIP_CERT": os.path.join(cls.scratch, "ca.pem")}

    @classmethod
    def make_repository(cls):
        def git(*arguments):
            identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
            subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)

        work, bare = os.path.join(cls.scratch, "work"), os.path.join(cls.scratch, "story.git")
        git("init", work)
        with open(os.path.join(work, "file.txt"), "w") as file:
            file.write("from the repository\n")
        git("-C", work, "add", ".")
        git("-C", work, "commit", "-m", "first")
        git("clone", "--bare", work, bare)

    def inside(self, policy, *command):
        flags = [flag for name, value in TRUST.items() for flag in ("--env", f"{name}={value}")]
        done = self.belljar("exec", "--json", "--network", policy, "--mount", self.scratch + ":/ca", *flags, "--", *command)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["exit_status"], 0, answer)
        self.assertEqual(answer["network"]["denied"], [], answer)
        return answer["stdout"]

    @unittest.skipUnless(PIP, "no pip wheel here (package python3-venv)")
    def test_pip_installs_with_the_preset_for_packages(self):
        script = f"python3 {PIP}/pip install -q --no-input --index-url {SERVER}/simple --target /tmp/p demo && " \
                 "PYTHONPATH=/tmp/p python3 -c 'import demo; print(demo.VALUE)'"
        self.assertEqual(self.inside("packages", "sh", "-c", script), "42\n")

    def test_npm_installs_with_the_preset_for_packages(self):
        script = f"cd /tmp && npm install --silent --no-audit --no-fund --registry {SERVER}/npm/ demo && node -p 'require(\"demo\")'"
        self.assertTrue(self.inside("packages", "sh", "-c", script).endswith("42\n"))

    def test_environments_are_built_from_the_same_indexes(self):
        for flag in ("--pip", "--npm"):
            done = self.belljar("env", "build", "--json", flag, "demo", env={"NODE_EXTRA_CA_CERTS": self.everywhere["PIP_CERT"]})
            self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_git_clones_over_https(self):
        script = f"git clone -q {SERVER}/git/story.git /tmp/story && cat /tmp/story/file.txt"
        self.assertEqual(self.inside("allow:api.allowed.example:8443", "sh", "-c", script), "from the repository\n")

    @unittest.skipUnless(os.path.exists("/usr/lib/git-core/git-daemon"), "no git daemon here")
    def test_git_clones_over_its_own_protocol(self):
        serve = 'echo up; exec /usr/lib/git-core/git-daemon --reuseaddr --export-all --base-path="$0"'
        beside = ("nsenter", f"--net=/proc/{self.world.children[1].pid}/ns/net")
        self.world.start(*beside, "sh", "-c", serve, self.scratch)
        # It says nothing when it listens; one that comes too early is refused.
        script = "for i in 1 2 3 4 5 6 7 8 9; do git clone -q git://api.allowed.example/story.git /tmp/story && break; " \
                 "sleep 0.3; done; cat /tmp/story/file.txt"
        done = self.belljar("exec", "--network", "allow:api.allowed.example:9418", "--", "sh", "-c", script)
        self.assertEqual(done.stdout, b"from the repository\n", done.stderr)

    def test_curl_speaks_http_1_and_http_2(self):
        self.assertIn("/one", self.inside("allow:*.allowed.example:8443", "curl", "-sS", SERVER + "/one"))
        said = self.inside("allow:*.allowed.example:9443", "curl", "-sS", "--http2", "-w", " %{http_version}",
                           "https://api.allowed.example:9443/two")
        self.assertEqual(said, "HTTP/2 /two 2")

    def test_node_fetches_and_opens_a_websocket(self):
        fetch = f"fetch('{SERVER}/three').then(r => r.json()).then(r => console.log(r.path))"
        self.assertEqual(self.inside("allow:api.allowed.example:8443", "node", "-e", fetch), "/three\n")
        talk = f"const s = new WebSocket('wss{SERVER[5:]}/talk'); s.onopen = () => s.send('hi'); " \
               "s.onmessage = m => { console.log(m.data); s.close(); process.exit(0); }"
        said = self.inside("allow:api.allowed.example:8443", "node", "--experimental-websocket", "-e", talk)
        self.assertEqual(said, "hihi\n")

    @unittest.skipUnless(PIP, "no pip wheel here (package python3-venv)")
    def test_requests_and_urllib(self):
        script = "import ssl, sys, urllib.request; sys.path.insert(0, sys.argv[2]); from pip._vendor import requests\n" \
                 "print(requests.get(sys.argv[1] + '/four').json()['path'])\n" \
                 "print(urllib.request.urlopen(sys.argv[1] + '/five').status)"
        self.assertEqual(self.inside("allow:api.allowed.example:8443", "python3", "-c", script, SERVER, PIP), "/four\n200\n")


if __name__ == "__main__":
    unittest.main()
