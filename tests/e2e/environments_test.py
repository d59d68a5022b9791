"""Packages that tools require: installed once, in a sandbox, shared, listed, pruned."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from package_index import PackageIndex
from story import BELLJAR, Story

INSTALL_PATIENCE_SECONDS = 400
INDEX_SETTINGS = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT", "SSL_CERT_FILE", "HTTP_PROXY",
                  "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NPM_CONFIG_REGISTRY",
                  "npm_config_registry", "NODE_EXTRA_CA_CERTS"]


@unittest.skipIf(os.geteuid() != 0, "told with the whole seal: needs root")
class EnvironmentStory(Story):
    """`belljar` here passes the settings of the package index on, and nothing else of our environment."""

    index_settings = {name: os.environ[name] for name in INDEX_SETTINGS if name in os.environ}

    def environment(self, more=None):
        return {"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch, **self.index_settings,
                **(more or {})}

    def belljar(self, *arguments, **more):
        return subprocess.run([BELLJAR, *arguments], capture_output=True, timeout=INSTALL_PATIENCE_SECONDS,
                              env=self.environment(more.pop("env", {})), **more)

    def start(self, *arguments):
        return subprocess.Popen([BELLJAR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment())

    def build(self, *flags):
        done = self.belljar("env", "build", "--json", *flags)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)[0]

    def listed(self):
        return json.loads(self.belljar("env", "list", "--json").stdout)

    def on_disk(self):
        folder = os.path.join(self.data, "environments")
        return sorted(set(os.listdir(folder)) - {".locks"}) if os.path.isdir(folder) else []

    def prune_all(self):
        self.assertEqual(self.belljar("env", "prune", "--all").returncode, 0)


class RealIndexTest(EnvironmentStory):
    """With the index that is configured where the tests run; skipped, with the reason, where none can be reached."""

    def install(self, *flags):
        done = self.belljar("env", "build", *flags)
        said = done.stderr.decode()
        if done.returncode == 3 and re.search("connection|resolve|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|Retrying", said, re.I):
            self.skipTest("no package index can be reached: " + said.strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, said)
        return said

    def test_a_pure_python_package_and_its_console_script(self):
        self.install("--pip", "pyfiglet")
        source = ("def f():\n import pyfiglet, subprocess\n"
                  " out = subprocess.run(['pyfiglet', 'hi'], capture_output=True, text=True)\n"
                  " return [pyfiglet.__file__, out.returncode, len(out.stdout) > 10]\n")
        value = self.value(source, None, "--pip", "pyfiglet")
        self.assertTrue(value[0].startswith("/opt/packages/"), value)
        self.assertEqual(value[1:], [0, True])

    def test_packages_with_c_extensions_and_their_compiled_files(self):
        self.install("--pip", "pydantic>=2", "--pip", "numpy")
        source = ("def f():\n import numpy, pydantic, os\n"
                  " return [int(numpy.arange(4).sum()), pydantic.TypeAdapter(int).validate_python('7'),"
                  " os.path.exists(pydantic.__cached__)]\n")
        self.assertEqual(self.value(source, None, "--pip", "numpy", "--pip", "Pydantic>=2"), [6, 7, True])

    def test_an_npm_package_is_mounted(self):
        self.install("--npm", "left-pad@1.3.0")
        source = ("import { readFileSync } from 'node:fs';\nexport function f(): any {\n"
                  "  return JSON.parse(readFileSync('/opt/packages/node_modules/left-pad/package.json', 'utf8')).version;\n}\n")
        self.assertEqual(self.value(source, None, "--npm", 'left-pad@"1.3.0"', name="tool.ts"), "1.3.0")
        self.assertTrue([e for e in self.listed() if e["requirements"] == ["left-pad@1.3.0"]], self.listed())

    def test_a_package_that_does_not_exist_is_a_clear_error(self):
        self.install("--pip", "pyfiglet")
        for flag, name, word in (("--pip", "belljar-no-such-package==9.9", "No matching distribution"),
                                 ("--npm", "belljar-no-such-package@9.9.9", "404")):
            done = self.belljar("env", "build", flag, name)
            self.assertEqual(done.returncode, 3)
            self.assertIn("Failed to install", done.stderr.decode())
            self.assertIn(word, done.stderr.decode())


class LocalIndexTest(EnvironmentStory):
    """With an index of our own on loopback: what is asked of it is counted, and its packages misbehave."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.index = PackageIndex()
        cls.index_settings = {"PIP_INDEX_URL": cls.index.url}

    @classmethod
    def tearDownClass(cls):
        cls.index.close()
        super().tearDownClass()

    def setUp(self):
        self.prune_all()

    def build_fails(self, name, *words):
        done = self.belljar("env", "build", "--pip", name)
        said = done.stderr.decode()
        self.assertNotEqual(done.returncode, 0, said)
        for word in words:
            self.assertIn(word, said)
        self.assertEqual(self.on_disk(), [])
        self.assertNotIn(self.index.PASSWORD, said + done.stdout.decode())
        return said

    def test_the_second_call_starts_no_builder(self):
        self.index.add("plain")
        source = "def f():\n import plain\n return plain.VALUE\n"
        self.assertEqual(self.value(source, None, "--pip", "plain"), 42)
        downloads = self.index.downloads["plain"]
        self.assertEqual(self.value(source, None, "--pip", "Plain"), 42)
        self.assertFalse(self.build("--pip", "plain")["built"])
        self.assertEqual(self.index.downloads["plain"], downloads)
        self.assertIn(self.index.authorization, self.index.authorizations)

    def test_nothing_that_is_said_holds_the_password(self):
        self.index.add("chatty", "import sys\nprint(os.environ)\nprint(os.environ, file=sys.stderr)\nraise SystemExit(1)")
        self.build_fails("chatty", "Failed to install pip packages (tool requirements: chatty)")
        self.index.add("quiet")
        done = self.belljar("env", "build", "--pip", "quiet")
        self.assertNotIn(self.index.PASSWORD, (done.stdout + done.stderr).decode())
        for folder, _, files in os.walk(os.path.join(self.data, "environments")):
            for file in files:
                with open(os.path.join(folder, file), "rb") as opened:
                    self.assertNotIn(self.index.PASSWORD.encode(), opened.read(), file)

    def test_a_builder_has_the_whole_seal(self):
        self.index.add("sealed")
        self.build("--pip", "sealed")
        self.assertEqual(self.listed()[0]["builder_seal"], "")

    def test_four_at_once_build_once(self):
        self.index.add("popular")
        all_of_them = [self.start("env", "build", "--json", "--pip", "popular") for _ in range(4)]
        answers = [process.communicate(timeout=INSTALL_PATIENCE_SECONDS) for process in all_of_them]
        self.assertEqual([process.returncode for process in all_of_them], [0] * 4, answers)
        self.assertEqual(len({json.loads(out)[0]["path"] for out, _ in answers}), 1)
        self.assertEqual(self.index.downloads["popular"], 1)
        self.assertEqual(len(self.on_disk()), 1)

    def test_force_builds_a_new_generation_under_the_same_key(self):
        self.index.add("renewed")
        first = self.build("--pip", "renewed")
        second = self.build("--pip", "renewed", "--force")
        self.assertEqual(first["key"], second["key"])
        self.assertNotEqual(first["path"], second["path"])
        self.assertFalse(os.path.exists(first["path"]))
        self.assertEqual(self.index.downloads["renewed"], 2)

    def test_a_failure_is_remembered_for_a_moment_and_no_longer(self):
        self.index.add("flaky", "raise SystemExit('broken on purpose')")
        self.build_fails("flaky", "broken on purpose")
        asked = self.index.downloads["flaky"]
        self.build_fails("flaky", "broken on purpose")
        self.assertEqual(self.index.downloads["flaky"], asked)
        self.index.add("flaky")
        lock = os.path.join(self.data, "environments", ".locks")
        for name in os.listdir(lock):
            os.utime(os.path.join(lock, name), (0, 0))
        self.assertTrue(self.build("--pip", "flaky")["built"])

    def test_kill_9_while_building_leaves_nothing_behind_the_next_start(self):
        self.index.add("slow", f"import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{self.index.port}/block').read()")
        self.index.blocked.clear()
        self.index.go_on.clear()
        process = self.start("env", "build", "--pip", "slow")
        self.assertTrue(self.index.blocked.wait(INSTALL_PATIENCE_SECONDS))
        self.assertEqual(len(self.on_disk()), 1, "a staging directory")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.index.go_on.set()
        self.assertTrue(self.build("--pip", "slow")["built"])
        self.assertEqual([name for name in self.on_disk() if name.startswith(".")], [])

    def test_an_interrupted_build_leaves_nothing(self):
        self.index.add("slower", f"import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{self.index.port}/block').read()")
        self.index.blocked.clear()
        self.index.go_on.clear()
        process = self.start("env", "build", "--pip", "slower")
        self.assertTrue(self.index.blocked.wait(INSTALL_PATIENCE_SECONDS))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.index.go_on.set()
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.on_disk(), [])

    def test_what_a_live_call_mounts_is_not_pruned(self):
        self.index.add("mounted")
        path = self.write("long.py", "def f():\n import mounted, time\n time.sleep(60)\n")
        process = self.start("run", path, "--pip", "mounted")
        try:
            deadline = time.monotonic() + INSTALL_PATIENCE_SECONDS
            while not any(e["in_use"] for e in self.listed()):
                self.assertLess(time.monotonic(), deadline)
            done = json.loads(self.belljar("env", "prune", "--all", "--json").stdout)
            self.assertEqual((len(done["removed"]), len(done["in_use"])), (0, 1))
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.prune_all()
        self.assertEqual(self.on_disk(), [])

    def test_wrong_requirements_are_refused_before_anything_runs(self):
        for flag, text in (("--pip", "http://127.0.0.1/x"), ("--pip", "./x"), ("--pip", "a b"), ("--pip", "a;b"),
                           ("--npm", "user/repo"), ("--npm", "file:x")):
            self.assert_one_sentence(self.belljar("env", "build", flag, text), 2, "refused")
        self.assert_one_sentence(self.belljar("env", "build", "--pip=--pre"), 2, "refused")
        self.assert_one_sentence(self.belljar("env", "build"), 2, "--pip")
        self.assert_one_sentence(self.belljar("env", "prune"), 2, "--unused")

    # What a hostile package tries while it is built.

    def test_a_package_sees_nothing_of_the_host(self):
        secret = self.write("secret.txt", "the host's own")
        self.index.add("curious", f"""
            def attempt(name, what):
                try:
                    found[name] = repr(what())
                except Exception as error:
                    found[name] = type(error).__name__
            attempt("shadow", lambda: open("/etc/shadow").read())
            attempt("host file", lambda: open({secret!r}).read())
            attempt("data directory", lambda: os.listdir({self.data!r}))
            attempt("write usr", lambda: open("/usr/written-by-a-package", "w"))
            attempt("write etc", lambda: open("/etc/written-by-a-package", "w"))
            attempt("root", lambda: os.setuid(0))
            attempt("mount", lambda: os.unshare(0x20000) if hasattr(os, "unshare") else 1 / 0)
            found["uid"] = os.getuid()
            found["variables"] = sorted(os.environ)
            """)
        done = self.belljar("env", "build", "--pip", "curious", env={"SERVERS_SECRET": "x"})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        found = self.value("def f():\n import curious\n return curious.FOUND\n", None, "--pip", "curious")
        for name in ("shadow", "host file", "data directory", "write usr", "write etc", "root", "mount"):
            self.assertRegex(found[name], "^(FileNotFound|Permission|ZeroDivision)Error$|^OSError$", name)
        self.assertEqual(found["uid"], 1000)
        self.assertNotIn("SERVERS_SECRET", found["variables"])
        for folder in ("/usr", "/etc"):
            self.assertNotIn("written-by-a-package", os.listdir(folder))

    def test_a_symlink_to_the_password_file_is_refused(self):
        self.index.add("linker", "os.symlink('/etc/passwd', '/opt/packages/passwd')")
        self.build_fails("linker", "passwd is a symlink that leads out")

    def test_a_set_user_id_file_is_refused(self):
        self.index.add("setter", "open('/opt/packages/su', 'w').close()\nos.chmod('/opt/packages/su', 0o4755)")
        self.build_fails("setter", "set-user-id")

    def test_a_fifo_is_refused(self):
        self.index.add("piper", "os.mkfifo('/opt/packages/pipe')")
        self.build_fails("piper", "FIFO")

    def test_ten_gigabytes_are_refused(self):
        self.index.add("fat", "f = open('/opt/packages/fat', 'wb')\nos.ftruncate(f.fileno(), 10 << 30)")
        self.build_fails("fat")

    def test_a_process_left_behind_ends_with_the_builder(self):
        self.index.add("lingerer", """
            import subprocess
            nowhere = subprocess.DEVNULL  # or pip itself would wait for it
            subprocess.Popen(["sleep", "86399"], start_new_session=True, stdin=nowhere, stdout=nowhere, stderr=nowhere)
            """)
        self.build("--pip", "lingerer")
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        self.assertNotIn("sleep 86399", left)


if __name__ == "__main__":
    unittest.main()
