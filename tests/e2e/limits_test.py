"""Each limit has its own clear error, and what it stops is gone."""

import time
import unittest

from story import Story, processes_mentioning


class Limits(Story):
    def limited(self, source, limit, *flags, status=1):
        got, answer = self.run_tool(source, None, *flags)
        self.assertEqual(got, status, answer)
        self.assertIn(limit, answer["limits_hit"])
        return answer

    def test_wall_time(self):
        answer = self.limited("import time\ndef tool():\n    time.sleep(1000)\n", "wall time", "--timeout", "300ms", status=124)
        self.assertEqual(answer["status"], "timeout")
        self.assertIn("300 ms", answer["error"]["message"])

    def test_wall_time_also_for_children_that_left_the_process_group(self):
        source = "import subprocess, time\ndef tool():\n" \
                 "    subprocess.Popen(['setsid', 'sh', '-c', 'sleep 7654321'])\n    time.sleep(1000)\n"
        self.limited(source, "wall time", "--timeout", "500ms", status=124)
        self.assertEqual(processes_mentioning("7654321"), [])

    def test_wall_time_although_a_descriptor_that_lingers_was_sent_to_us(self):
        # The engine closed it, waited for its peer in that, and forgot the time.
        # Who is last to close it waits, and that may be the tool itself: several, each in a thread of its own.
        source = """import array, os, socket, struct, threading, time
channel = socket.socket(fileno=os.dup(3))
def full_connection(listener):
    client = socket.create_connection(listener.getsockname())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
    client.setblocking(False)
    try:
        while client.send(bytes(65536)): pass
    except BlockingIOError:
        return client
def give(client):
    rights = array.array("i", [client.fileno()])
    try:
        channel.sendmsg([b"\\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    except PermissionError:
        pass
    client.close()
def tool():
    listener = socket.create_server(("127.0.0.1", 0))
    clients = [full_connection(listener) for _ in range(4)]
    for client in clients:
        threading.Thread(target=give, args=[client]).start()
    time.sleep(1000)
"""
        began = time.monotonic()
        self.limited(source, "wall time", "--timeout", "1s", status=124)
        self.assertLess(time.monotonic() - began, 30)

    def test_a_daemon_does_not_outlive_its_call(self):
        source = "import subprocess\ndef tool():\n" \
                 "    subprocess.Popen(['setsid', 'sleep', '7654322'])\n    return 1\n"
        self.assertEqual(self.value(source), 1)
        self.assertEqual(processes_mentioning("7654322"), [])

    def test_processor_time_of_all_processes_together(self):
        answer = self.limited("def tool():\n    while True: pass\n", "cpu", "--cpu-time", "300ms")
        self.assertIn("300 ms", answer["error"]["message"])

    def test_processor_time_is_named_whoever_ends_it_first(self):
        # At a whole second the kernel's own limit could be meant, which says nothing.
        answer = self.limited("def tool():\n    while True: pass\n", "cpu", "--cpu-time", "1s")
        self.assertEqual(answer["error"]["name"], "CpuLimit")
        done = self.in_sandbox("while :; do :; done", "--cpu-time", "1s")
        self.assert_one_sentence(done, 137, "CPU time limit of 1 s (--cpu-time)")

    def test_people_are_told_which_limit_it_was(self):
        for source, flags, sentence in (
                ("def tool():\n    return [open('/dev/null') for _ in range(500)]\n", ("--open-files", "128"),
                 "the call reached its limit of 128 open files (--open-files)"),
                ("def tool():\n    open('/tmp/x', 'wb').write(bytes(20 << 20))\n", ("--disk", "16M"),
                 "the call reached its disk limit of 16 MiB (--disk)")):
            done = self.belljar("run", self.write("tool.py", source), *flags)
            self.assertEqual(done.returncode, 1)
            self.assertIn(sentence, done.stderr.decode())

    def test_memory(self):
        answer = self.limited("def tool():\n    return len(bytearray(900_000_000))\n", "memory", "--memory", "128M")
        self.assertIn("128 MiB", answer["error"]["message"])

    def test_processes(self):
        source = "import os, time\ndef tool():\n    for _ in range(1000):\n" \
                 "        if os.fork() == 0: time.sleep(100)\n"
        self.limited(source, "processes", "--processes", "20")

    def test_too_few_processes_for_node_are_refused_at_once(self):
        # It waited for a thread that it could not make until its wall time was over.
        tool = self.write("tool.ts", "export function tool(): number { return 1 }\n")
        done = self.belljar("run", tool, "--processes", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("allow 8 at least (--processes)", done.stderr.decode())
        self.assertEqual(self.belljar("run", tool, "--processes", "8").stdout, b"1\n")

    def test_open_files(self):
        self.limited("def tool():\n    return len([open('/dev/null') for _ in range(500)])\n", "open files", "--open-files", "128")

    def test_a_command_that_fills_its_disk_is_told_so(self):
        done = self.in_sandbox("head -c 100M /dev/zero > /tmp/x", "--disk", "8M")
        self.assertIn("disk limit of 8 MiB (--disk)", done.stderr.decode())

    def test_a_warden_whose_descriptors_were_taken_ends_with_its_sandbox(self):
        code = "import os, resource, time; resource.prlimit(1, resource.RLIMIT_NOFILE, (4, 4)); " \
               "os.system('(true &)'); time.sleep(7654324)"
        done = self.in_sandbox(f'sudo python3 -c "{code}"', "--timeout", "100s")
        self.assertNotIn(done.returncode, (0, 124), done.stderr)
        self.assertEqual(processes_mentioning("7654324"), [])

    def test_disk(self):
        source = "def tool():\n    with open('/tmp/x', 'wb') as f:\n        for _ in range(1000): f.write(bytes(1 << 20))\n"
        self.assertIn("No space left", self.limited(source, "disk", "--disk", "16M")["error"]["message"])

    def test_disk_counts_every_place_that_can_be_written(self):
        source = "def tool():\n    for p in ('/tmp/a', '/home/user/b', '/dev/shm/c'):\n" \
                 "        with open(p, 'wb') as f:\n            f.write(bytes(8 << 20))\n"
        self.limited(source, "disk", "--disk", "16M")

    def test_output_is_cut_with_a_note(self):
        status, answer = self.run_tool("def tool():\n    print('x' * 5_000_000)\n    return 1\n", None, "--output", "1M")
        self.assertEqual((status, answer["return"], len(answer["stdout"])), (0, 1, 1 << 20))
        self.assertIn("output", answer["limits_hit"])
        self.assertGreater(answer["stdout_dropped"], 3_000_000)

    def test_a_return_value_has_a_limit_too(self):
        status, answer = self.run_tool("def tool():\n    return 'x' * 50_000_000\n")
        self.assertEqual((status, answer["error"]["name"]), (1, "ReturnTooLarge"))

    def test_limits_come_from_the_environment_and_a_file_as_well(self):
        path = self.write("tool.py", "import time\ndef tool():\n    time.sleep(1000)\n")
        self.assertEqual(self.belljar("run", path, env={"BELLJAR_TIMEOUT": "200ms"}).returncode, 124)
        config = self.write("config.toml", '[limits]\ntimeout = "200ms"\n')
        self.assertEqual(self.belljar("--config", config, "run", path).returncode, 124)
        wrong = self.write("wrong.toml", "[limits]\ntimeuot = 3\n")
        self.assert_one_sentence(self.belljar("--config", wrong, "run", path), 2, "timeuot")


if __name__ == "__main__":
    unittest.main()
