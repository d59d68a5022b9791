"""What the end-to-end tests share: the command as a user has it, a data directory of their own, a look at what is left."""

import json
import mmap
import os
import shutil
import subprocess
import tempfile
import time
import unittest

BELLJAR = os.environ.get("BELLJAR", os.path.join(os.path.dirname(__file__), "../../build/belljar"))
with open(BELLJAR, "rb") as program, mmap.mmap(program.fileno(), 0, access=mmap.ACCESS_READ) as code:
    SANITIZED = any(code.find(name) >= 0 for name in (b"__asan_init", b"__tsan_init"))
PATIENCE_SECONDS = 480 if SANITIZED else 120
without_sanitizer = unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own and keeps what is freed")


def until(condition, what="it"):
    """The kernel's clean-up, and other processes, have no event to wait for."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.02)


class Story(unittest.TestCase):
    """Each class has a data directory of its own, so that checkouts and test classes can run side by side."""

    everywhere = {}  # variables of every command and server of the class

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp(prefix="belljar-test-")
        os.chmod(cls.scratch, 0o755)
        cls.data = os.path.join(cls.scratch, "data")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.scratch)

    def write(self, name, text):
        path = os.path.join(self.scratch, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(path, 0o644)
        return path

    @classmethod
    def belljar(cls, *arguments, to=subprocess.PIPE, **more):
        command = [BELLJAR, *arguments]
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": cls.data, "HOME": cls.scratch, **cls.everywhere,
                       **more.pop("env", {})}
        return subprocess.run(command, stdout=to, stderr=to, timeout=PATIENCE_SECONDS, env=environment, **more)

    def run_tool(self, source, args=None, *flags, name="tool.py"):
        """(exit status, the JSON answer) of `belljar run`."""
        path = self.write(name, source)
        done = self.belljar("run", path, "--args", json.dumps(args or {}), "--json", *flags)
        try:
            return done.returncode, json.loads(done.stdout)
        except ValueError:
            self.fail(f"exit {done.returncode}, no JSON: {done.stdout!r} {done.stderr!r}")

    def value(self, source, args=None, *flags, **more):
        status, answer = self.run_tool(source, args, *flags, **more)
        self.assertEqual((status, answer["status"]), (0, "ok"), answer)
        return answer["return"]

    def in_sandbox(self, script, *flags):
        return self.belljar("exec", *flags, "--", "sh", "-c", script)

    def assert_one_sentence(self, done, status, *words):
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, text)
        self.assertEqual(len(text.strip().splitlines()), 1, text)
        for word in words:
            self.assertIn(word, text)


def kernel_replaces_directories():
    """False before Linux 6.6: see `replaced folders` in belljar doctor."""
    file = os.memfd_create("probe")
    try:
        os.setxattr(file, "user.belljar", b"y")
        return True
    except OSError:
        return False
    finally:
        os.close(file)


def instances(data):
    """The instances, alive or killed, that have this data directory; as root they are known machine-wide."""
    folder = "/run/belljar/instances" if os.geteuid() == 0 else os.path.join(data, "instances")
    found = []
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        try:
            with open(os.path.join(folder, name)) as file:
                found += [name] if file.read() == data + "\n" else []
        except FileNotFoundError:
            pass  # another's, which ended just now
    return found


def groups_of(instance):
    found = []
    for folder, folders, _ in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(folder, name) for name in folders if name.startswith(instance + "-")]
    return found


def processes_in(groups):
    found = []
    for group in groups:
        try:
            with open(os.path.join(group, "cgroup.procs")) as file:
                found += file.read().split()
        except OSError:  # any Belljar that starts on the machine removes those of a dead one
            pass
    return found


def processes_mentioning(text):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found
