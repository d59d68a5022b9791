"""`belljar sandbox`: the same sandboxes from the command line."""

import hashlib
import json
import os
import pty
import subprocess
import unittest

from sandbox_story import SandboxStory
from server_story import Server
from story import BELLJAR, PATIENCE_SECONDS, Story


class CommandLine(SandboxStory):
    def sandbox(self, *arguments, **more):
        """Found by the data directory: no url is named."""
        return self.belljar("sandbox", *arguments, **more)

    def said(self, *arguments, **more):
        done = self.sandbox(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_the_life_of_a_sandbox(self):
        sandbox = self.said("create", "--timeout", "10m", "--env", "WHO=ada", "--metadata", "team=red", "--memory", "256M").strip()
        self.assertRegex(sandbox, "^sb[a-z2-7]{26}$")
        self.assertIn(sandbox, self.said("ls"))
        listed = json.loads(self.said("ls", "--json"))
        self.assertEqual([one["metadata"] for one in listed if one["id"] == sandbox], [{"team": "red"}])
        self.assertEqual(self.said("exec", sandbox, "--", "sh", "-c", "echo hello $WHO"), "hello ada\n")
        done = self.sandbox("exec", sandbox, "--", "sh", "-c", "echo oops >&2; exit 9")
        self.assertEqual((done.returncode, done.stderr), (9, b"oops\n"))
        self.assertEqual(self.said("exec", "-i", sandbox, "--", "cat", input=b"fed"), "fed")
        answer = json.loads(self.said("exec", "--json", sandbox, "--", "echo", "x"))
        self.assertEqual((answer["exit_status"], answer["stdout"]), (0, "x\n"))
        self.assertEqual(self.sandbox("exec", "--timeout", "1s", sandbox, "--", "sleep", "1000").returncode, 124)
        self.assertEqual(json.loads(self.said("pause", "--json", sandbox))["state"], "paused")
        self.assert_one_sentence(self.sandbox("exec", sandbox, "--", "true"), 2, "paused")
        self.said("resume", sandbox)
        self.assertIn("resumed", self.said("logs", sandbox))
        self.said("rm", sandbox)
        self.assertNotIn(sandbox, self.said("ls"))
        self.assert_one_sentence(self.sandbox("rm", sandbox), 2, "not found")

    def test_input_is_passed_on_as_it_comes_whatever_it_is(self):
        sandbox = self.said("create").strip()
        data = os.urandom(17 << 20)
        self.assertIn(hashlib.sha256(data).hexdigest(), self.said("exec", "-i", sandbox, "--", "sha256sum", input=data))
        command = [BELLJAR, "sandbox", "exec", "-i", sandbox, "--"]
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment}
        with subprocess.Popen([*command, "cat"], **pipes) as cat:
            for line in (b"one\n", b"two\n"):
                cat.stdin.write(line)
                cat.stdin.flush()
                self.assertEqual(cat.stdout.readline(), line)
            cat.stdin.close()
            self.assertEqual((cat.stdout.read(), cat.wait(PATIENCE_SECONDS)), (b"", 0))
        with subprocess.Popen([*command, "sh", "-c", "exit 7"], **pipes) as early:
            self.assertEqual(early.wait(PATIENCE_SECONDS), 7)

    def test_files_are_copied_in_and_out(self):
        sandbox = self.said("create").strip()
        data = os.urandom(3 << 20)
        source = self.write("source.bin", data)
        self.said("cp", source, f"{sandbox}:/home/user/sub/")
        self.assertEqual(self.said("exec", sandbox, "--", "stat", "-c", "%s", "sub/source.bin"), f"{len(data)}\n")
        target = os.path.join(self.scratch, "target.bin")
        self.said("cp", f"{sandbox}:sub/source.bin", target)
        with open(target, "rb") as file:
            self.assertEqual(file.read(), data)
        self.assertEqual(self.sandbox("cp", f"{sandbox}:sub/source.bin", "-").stdout, data)
        self.said("cp", "-", f"{sandbox}:piped", input=b"through a pipe")
        self.assertEqual(self.said("exec", sandbox, "--", "cat", "piped"), "through a pipe")
        self.assert_one_sentence(self.sandbox("cp", "a", "b"), 2, "ID:PATH")
        self.assert_one_sentence(self.sandbox("cp", f"{sandbox}:/nowhere", target), 2, "No such file")
        with open(target, "rb") as file:
            self.assertEqual(file.read(), data)  # what was there stays
        self.assertNotIn("target.bin.partial", os.listdir(self.scratch))
        os.mkdir(os.path.join(self.scratch, "place"))
        self.said("cp", f"{sandbox}:piped", os.path.join(self.scratch, "place"))
        with open(os.path.join(self.scratch, "place", "piped"), "rb") as file:
            self.assertEqual(file.read(), b"through a pipe")
        self.assert_one_sentence(self.sandbox("cp", os.path.join(self.scratch, "place"), f"{sandbox}:x"), 2, "is a directory")
        self.said("rm", sandbox)

    def test_a_shell_is_joined_to_the_terminal(self):
        sandbox = self.said("create").strip()
        master, slave = pty.openpty()
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch}
        shell = subprocess.Popen([BELLJAR, "sandbox", "shell", sandbox], stdin=slave, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        os.write(master, b"tty; echo mark''er; exit 6\n")
        seen = b""
        try:
            while piece := os.read(master, 65536):
                seen += piece
        except OSError:
            pass  # the other side is closed
        self.assertEqual(shell.wait(PATIENCE_SECONDS), 6)
        self.assertIn(b"marker", seen)
        self.assertIn(b"/dev/pts/", seen)
        os.close(master)
        self.said("rm", sandbox)

    def test_without_a_server_it_says_what_to_do(self):
        done = self.belljar("sandbox", "ls", env={"BELLJAR_SERVER": "http://127.0.0.1:1"})
        self.assert_one_sentence(done, 3, "belljar serve")
        done = self.belljar("--data", os.path.join(self.scratch, "none"), "sandbox", "ls")
        self.assert_one_sentence(done, 2, "BELLJAR_API_KEY")
        done = self.sandbox("ls", env={"BELLJAR_API_KEY": "bj_wrong"})
        self.assert_one_sentence(done, 3, "Unauthorized")


class FirstStart(Story):
    def test_makes_the_first_key_although_others_were_made_before(self):
        self.assertEqual(self.belljar("key", "create", "--name", "early").returncode, 0)
        server = Server(self.data, self.scratch)
        try:
            self.assertIn("a first key was made", server.said)
            self.assertEqual(self.belljar("sandbox", "ls").returncode, 0)
        finally:
            server.stop()


if __name__ == "__main__":
    unittest.main()
