"""Nothing is left behind, whatever the end was."""

import os
import signal
import subprocess
import time
import unittest

from story import BELLJAR, Story, groups_of, instances, processes_in, processes_mentioning, until


class WhatIsLeft(Story):
    def launch(self, *arguments):
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch}
        return subprocess.Popen([BELLJAR, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_a_finished_command_leaves_no_instance_and_no_group(self):
        self.in_sandbox("true")
        self.assertEqual(instances(self.data), [])

    def test_an_interrupted_command_cleans_up(self):
        process = self.launch("exec", "--", "sh", "-c", "echo up; sleep 7654324")
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.communicate()
        until(lambda: processes_mentioning("7654324") == [])
        self.assertEqual(instances(self.data), [])

    def test_an_interrupt_while_the_interpreter_starts_ends_the_command(self):
        """It once waited for an interpreter that was only told to end."""
        tool = self.write("sleeper.py", "import time\ndef f():\n    time.sleep(50)\n")
        for n in range(10):
            process = self.launch("run", tool)
            time.sleep(0.03 + 0.02 * n)  # the moment is what the test varies
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)

    def test_after_kill_9_everything_inside_dies_and_the_next_start_removes_the_rest(self):
        process = self.launch("exec", "--", "sh", "-c", "echo up; sleep 7654325")
        process.stdout.readline()
        (instance,) = instances(self.data)
        process.kill()
        process.wait(30)
        process.communicate()
        until(lambda: processes_mentioning("7654325") == [] and not processes_in(groups_of(instance)))
        self.in_sandbox("true")
        self.assertEqual((instances(self.data), groups_of(instance)), ([], []))

    @unittest.skipUnless(os.geteuid() == 0, "without root each data directory knows its own instances only")
    def test_after_kill_9_a_start_with_another_data_directory_removes_the_rest(self):
        process = self.launch("exec", "--", "sh", "-c", "echo up; sleep 7654326")
        process.stdout.readline()
        (instance,) = instances(self.data)
        self.assertNotEqual(groups_of(instance), [])
        process.kill()
        process.wait(30)
        process.communicate()
        until(lambda: processes_mentioning("7654326") == [] and not processes_in(groups_of(instance)))
        self.belljar("exec", "--", "true", env={"BELLJAR_DATA": os.path.join(self.scratch, "other")})
        self.assertEqual((instances(self.data), groups_of(instance)), ([], []))

    def test_a_sandbox_that_could_not_be_made_leaves_nothing(self):
        done = self.in_sandbox("true", "--mount", "/no/such/place:/data")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(instances(self.data), [])


if __name__ == "__main__":
    unittest.main()
