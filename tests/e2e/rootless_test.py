"""Without root: the same commands, a seal that says what is missing, and a refusal where all of it was asked for."""

import json
import os
import shutil
import subprocess
import unittest

from story import BELLJAR, PATIENCE_SECONDS, Story

NOBODY_IN_PARTICULAR = 54321


@unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
class Rootless(Story):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.binary = os.path.join(cls.scratch, "belljar")
        shutil.copy(BELLJAR, cls.binary)
        os.chown(cls.scratch, NOBODY_IN_PARTICULAR, NOBODY_IN_PARTICULAR)

    def belljar(self, *arguments, **more):
        environment = {"PATH": "/usr/bin:/bin", "BELLJAR_DATA": self.data, "HOME": self.scratch}
        return subprocess.run([self.binary, *arguments], capture_output=True, timeout=PATIENCE_SECONDS, env=environment,
                              user=NOBODY_IN_PARTICULAR, group=NOBODY_IN_PARTICULAR, extra_groups=[], **more)

    def setUp(self):
        done = self.belljar("exec", "--", "true")
        if done.returncode == 3 and b"user namespaces" in done.stderr:
            self.skipTest("unprivileged user namespaces are not allowed here")

    def test_a_tool_runs_and_the_seal_names_what_is_missing(self):
        status, answer = self.run_tool("import os\ndef tool(): return os.getuid()\n")
        self.assertEqual((status, answer["status"]), (0, "ok"), answer)
        seal = answer["seal"]
        self.assertEqual((seal["seccomp"]["state"], seal["landlock"]["state"], seal["pidns"]["state"]), ("on", "on", "on"))
        self.assertEqual(seal["idmap"]["state"], "unavailable")
        self.assertTrue(seal["idmap"]["detail"])

    def test_root_of_a_container_only_is_without_root(self):
        # It took itself for root of the machine, with user ids to give, and no sandbox could be made.
        script = "import ctypes, os, sys\n" \
                 "if ctypes.CDLL(None).unshare(0x10000000) != 0: sys.exit(99)\n" \
                 "open('/proc/self/setgroups', 'w').write('deny')\n" \
                 f"for map in 'uid_map', 'gid_map': open('/proc/self/' + map, 'w').write('0 {NOBODY_IN_PARTICULAR} 1')\n" \
                 "os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run(["python3", "-c", script, self.binary, "exec", "--", "sh", "-c", "id -u; touch ~/mine && echo home"],
                              capture_output=True, timeout=PATIENCE_SECONDS, user=NOBODY_IN_PARTICULAR, extra_groups=[],
                              group=NOBODY_IN_PARTICULAR, env={"PATH": "/usr/bin:/bin", "BELLJAR_DATA": self.data, "HOME": self.scratch})
        if done.returncode == 99:
            self.skipTest("unprivileged user namespaces are not allowed here")
        self.assertEqual(done.stdout.decode().split(), ["1000", "home"], done.stderr)

    def test_a_command_runs_as_user(self):
        done = self.belljar("exec", "--", "sh", "-c", "id -un; cat /etc/shadow")
        self.assertEqual(done.stdout.decode().strip(), "user", done.stderr)

    def test_a_full_seal_is_refused_rather_than_weakened(self):
        done = self.belljar("exec", "--require-seal", "full", "--", "true")
        self.assertEqual(done.returncode, 3)
        self.assertIn("idmap", done.stderr.decode())

    def test_limits_that_need_no_cgroup_hold(self):
        done = self.belljar("exec", "--disk", "8M", "--", "sh", "-c", "head -c 20000000 /dev/zero > /tmp/x; stat -c %s /tmp/x")
        self.assertLessEqual(int(done.stdout), 8 << 20)
        status, answer = self.run_tool("def tool():\n    return len(bytearray(900_000_000))\n", None, "--memory", "128M")
        self.assertEqual(status, 1, answer)

    def test_doctor_says_how_to_get_more(self):
        answer = json.loads(self.belljar("doctor", "--json").stdout)
        self.assertIn("idmap", json.dumps(answer))


if __name__ == "__main__":
    unittest.main()
