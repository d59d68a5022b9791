"""Who may limit what with cgroup v2: a user in a systemd scope that was given to it, one without, a server there that is
killed, root in a container. Needs systemd, its manager for the user `ada`, and root to become her."""

import json
import os
import pwd
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from server_story import Server
from story import BELLJAR, PATIENCE_SECONDS, Story

AS_ADA = ["setpriv", "--reuid", "ada", "--regid", "ada", "--init-groups", "--"]
SCOPE = [*AS_ADA, "systemd-run", "--quiet", "--user", "--scope", "-p", "Delegate=yes", "--"]
CONTAINER = "/sys/fs/cgroup/belljar-test-container"


class AdasStory(Story):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chown(cls.scratch, pwd.getpwnam("ada").pw_uid, -1)
        cls.env = {"PATH": os.environ["PATH"], "BELLJAR_DATA": cls.data, "HOME": cls.scratch,
                   "XDG_RUNTIME_DIR": f"/run/user/{pwd.getpwnam('ada').pw_uid}"}

    def run_as(self, around, *command):
        return subprocess.run([*around, *command], capture_output=True, timeout=PATIENCE_SECONDS, env=self.env)

    def answer(self, around, *command):
        done = self.run_as(around, *command)
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.fail(f"exit {done.returncode}, no JSON: {done.stdout!r} {done.stderr!r}")

    def cgroup_checks(self, around):
        checks = self.answer(around, BELLJAR, "doctor", "--json")["checks"]
        return {check["name"]: check for check in checks if check["group"] == "cgroups"}


class Scope(AdasStory):
    def test_its_controllers_are_in_force_and_the_one_that_is_missing_says_whose_it_is(self):
        answer = self.answer(SCOPE, BELLJAR, "exec", "--json", "--", "cat", "/proc/self/cgroup")
        self.assertEqual(answer["stdout"], "0::/\n", answer)
        states = {name: answer["seal"][name]["state"] for name in ("memory", "cpu", "pids", "cgroupns")}
        self.assertEqual(states, dict.fromkeys(states, "on"))
        io = answer["seal"]["io"]
        self.assertTrue(io["state"] == "on" or "was not given this controller" in io["detail"], io)

    def test_memory_and_processes_of_commands_and_calls_are_limited(self):
        greedy = "x = bytearray(b'x') * (300 << 20)"
        answer = self.answer(SCOPE, BELLJAR, "exec", "--json", "--memory", "64M", "--", "python3", "-c", greedy)
        self.assertEqual(answer["limits_hit"], ["memory"], answer)
        forks = "for i in 1 2 3 4 5 6 7 8; do sleep 5 & done"
        answer = self.answer(SCOPE, BELLJAR, "exec", "--json", "--processes", "5", "--", "sh", "-c", forks)
        self.assertEqual(answer["limits_hit"], ["processes"], answer)
        tool = self.write("tool.py", "def tool():\n    return len(bytearray(b'x') * (300 << 20))\n")
        answer = self.answer(SCOPE, BELLJAR, "run", tool, "--json", "--memory", "64M")
        self.assertIn("memory", answer["limits_hit"], answer)

    def test_nobody_elses_process_is_moved(self):
        inside = f"{BELLJAR} doctor --json; cat /proc/self/cgroup >&2"
        done = self.run_as(SCOPE, "sh", "-c", inside)
        memory = next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "memory")
        self.assertFalse(memory["ok"])
        self.assertIn("other processes are in /sys/fs/cgroup/", memory["detail"])
        self.assertRegex(done.stderr.decode(), r"\.scope\n$")

    def test_a_server_that_is_killed_is_followed_by_one_in_another_scope(self):
        first = Server(self.data, self.scratch, env=self.env, around=SCOPE)
        sandbox = json.loads(first.request("POST", "/v1/sandboxes", {"limits": {"processes": 7}})[2])["id"]
        first.kill()
        second = Server(self.data, self.scratch, env=self.env, around=SCOPE)
        try:
            forks = {"command": "for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done"}
            status, _, body = second.request("POST", f"/v1/sandboxes/{sandbox}/commands", forks)
            self.assertEqual(status, 200, body)
            self.assertIn("Cannot fork", json.loads(body)["stderr"])
            self.assertEqual(second.request("POST", f"/v1/sandboxes/{sandbox}/pause")[0], 200)
            self.assertEqual(second.request("POST", f"/v1/sandboxes/{sandbox}/resume")[0], 200)
            self.assertEqual(second.request("DELETE", f"/v1/sandboxes/{sandbox}")[0] // 100, 2)
        finally:
            second.stop()


class Session(AdasStory):
    def test_without_a_group_of_her_own_it_says_how_to_get_one(self):
        for name, check in self.cgroup_checks(AS_ADA).items():
            self.assertFalse(check["ok"], name)
            self.assertIn("Permission denied", check["detail"])
            self.assertIn("systemd-run --user --scope -p Delegate=yes", check["detail"])


class PlainInit(AdasStory):
    """Without systemd, everybody's processes are in the machine's root group, and root's Belljar has made its own there."""

    def test_roots_groups_are_no_users(self):
        self.assertEqual(self.run_as([], BELLJAR, "--data", self.scratch + "/roots", "exec", "--", "true").returncode, 0)
        enter = f"echo $$ > /sys/fs/cgroup/cgroup.procs; exec {' '.join(AS_ADA)} {BELLJAR} exec --json -- true"
        answer = self.answer(["sh", "-c"], enter)
        self.assertEqual(answer["status"], "ok", answer)
        self.assertIn("write(/sys/fs/cgroup/belljar): Permission denied", answer["seal"]["memory"]["detail"])


class Container(AdasStory):
    """A cgroup namespace whose root has processes in it, as a container without an init system has."""

    def setUp(self):
        os.mkdir(CONTAINER)

    def tearDown(self):
        for name in ("belljar", "belljar-server", ""):
            path = os.path.join(CONTAINER, name)
            if os.path.isdir(path):
                os.rmdir(path)

    def test_root_has_all_controllers(self):
        enter = (f"echo $$ > {CONTAINER}/cgroup.procs; exec unshare --cgroup --mount sh -c "
                 f"'umount /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup; {BELLJAR} exec --json --memory 64M -- true'")
        shutil.rmtree(self.data, ignore_errors=True)
        answer = self.answer(["sh", "-c"], enter)
        self.assertTrue(answer["seal"]["full"], answer["seal"])


if __name__ == "__main__":
    unittest.main()
