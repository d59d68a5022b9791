"""A real PostgreSQL of the test's own, from the distribution's package: in a temporary directory, on a socket only, stopped
with the test. The same as src/store/store_test_support.h has for unit tests."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

USER = "belljar"
PATIENCE_SECONDS = 60


def programs():
    """The folder of the newest installed version, or nothing."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    return os.path.dirname(max(found, key=lambda path: int(path.split("/")[4]))) if found else None


def why_not():
    """Why there can be no PostgreSQL here; empty if there can."""
    if programs() is None:
        return "there is no PostgreSQL in /usr/lib/postgresql"
    if os.geteuid() == 0 and not any(user.pw_name == "postgres" for user in pwd.getpwall()):
        return "there is no user postgres to run PostgreSQL as"
    return ""


class Postgres:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="belljar-postgres-")
        self.data = os.path.join(self.folder, "data")
        self.user = "postgres" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
        if self.user:
            shutil.chown(self.folder, self.user, self.user)
        self.databases = 0
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def command(self, name, *arguments):
        as_whom = {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        return {"args": [os.path.join(programs(), name), *arguments], "cwd": self.folder, "stderr": subprocess.STDOUT, **as_whom}

    def run(self, name, *arguments):
        done = subprocess.run(**self.command(name, *arguments), stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise AssertionError(f"{name}: {done.stdout.decode()}")

    def start(self):
        self.run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        self.process = subprocess.Popen(**self.command("postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=",
                                                       "-c", "fsync=off"), stdout=self.log)
        end = time.monotonic() + PATIENCE_SECONDS
        ready = [os.path.join(programs(), "pg_isready"), "-q", "-h", self.folder]
        while subprocess.run(ready).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < end, "PostgreSQL did not start"
            time.sleep(0.05)  # it tells nobody when it is ready

    def new_database(self):
        """The URL of an empty database."""
        self.databases += 1
        name = f"test_{self.databases}"
        self.run("createdb", "-h", self.folder, "-U", USER, name)
        return f"postgresql:///{name}?host={self.folder}&user={USER}"

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGQUIT)  # at once: nobody needs what it holds
            self.process.wait(PATIENCE_SECONDS)
        self.log.close()
        shutil.rmtree(self.folder)
