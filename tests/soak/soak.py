#!/usr/bin/python3
"""Random work on many sandboxes while the server is killed every minute; at the end the books must balance.

    ./dev soak [MINUTES]          or: soak.py BELLJAR [--minutes 30] [--sandboxes 200] [--kill-every 60] [--seed N]

What was acknowledged must be true afterwards, whatever was killed in between: a file that was written is there with what
was written, in every sandbox that is called running; a sandbox that was deleted is gone; one that ended says why. When
all is over there is no process, mount, loop device, control group, locked range of user ids or live row left, and the receipts verify."""

import argparse
import collections
import glob
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 60
LIVE = ("creating", "running", "paused", "stopping")
FAULTS = []


def fault(text):
    FAULTS.append(text)
    print("FAULT:", text, flush=True)


class Down(Exception):
    """The server was killed, or is not back yet."""


class Server:
    def __init__(self, belljar, scratch):
        self.belljar, self.scratch = belljar, scratch
        self.data = os.path.join(scratch, "data")
        os.makedirs(os.path.join(scratch, ".config/belljar"))
        with open(os.path.join(scratch, ".config/belljar/config.toml"), "w") as file:
            file.write("[sandboxes]\nmost_live = 0\n[server]\nrate_limit = 0\nruns_at_once = 0\n")
        self.environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": scratch}
        self.port, self.key, self.process = 0, "", None
        self.instances = set()
        self.starts = 0

    def start(self):
        log = open(os.path.join(self.scratch, "server.log"), "ab")
        listen = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen([self.belljar, "serve", "--listen", listen], env=self.environment, stdout=subprocess.PIPE, stderr=log)
        log.close()
        for line in self.process.stdout:
            found = re.search(r"listening on https?://\S+:(\d+)", line.decode())
            if found:
                self.port = int(found.group(1))
                break
        else:
            raise SystemExit("the server did not start: " + open(os.path.join(self.scratch, "server.log")).read()[-2000:])
        threading.Thread(target=lambda out=self.process.stdout: out.read(), daemon=True).start()
        with open(os.path.join(self.data, "admin.key")) as file:
            self.key = file.read().strip()
        self.starts += 1
        for path in glob.glob("/run/belljar/instances/*") + glob.glob(self.data + "/instances/*"):
            try:
                with open(path) as file:
                    if file.read().split("\n")[0] == self.data:
                        self.instances.add(os.path.basename(path))
            except OSError:
                pass

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)

    def ask(self, method, path, body=None, raw=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        try:
            connection.request(method, path, data, {"Authorization": "Bearer " + self.key, "Content-Type": kind})
            answer = connection.getresponse()
            text = answer.read()
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise Down(str(error)) from error
        finally:
            connection.close()
        return answer.status, text if raw else (json.loads(text) if text else None)


class Sandbox:
    """What we were told of one. `files`: by name, what may be in it (several, while a write was not answered)."""

    def __init__(self, name):
        self.id = name
        self.lock = threading.Lock()
        self.files = collections.defaultdict(set)
        self.paused = False
        self.gone = False
        self.deleting = False  # was asked for; whether it was heard is not known


class Soak:
    def __init__(self, server, most, seed):
        self.server, self.most, self.random = server, most, random.Random(seed)
        self.sandboxes = {}
        self.snapshots = []
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.over = threading.Event()
        self.up = threading.Event()
        self.killing = threading.Lock()

    # One operation each; the sandbox's lock is held.
    def command(self, one):
        word = os.urandom(4).hex()
        status, answer = self.server.ask("POST", f"/v1/sandboxes/{one.id}/commands", {"command": f"echo {word}; exit 3"})
        if status == 200 and (answer["stdout"].strip() != word or answer["exit_status"] != 3) and not answer.get("lost"):
            fault(f"{one.id}: a command answered {answer}")
        return status

    def write(self, one):
        name, data = f"f{self.random.randrange(4)}", os.urandom(self.random.choice((10, 5000, 300_000)))
        one.files[name].add(data)
        if not any(len(old) == 0 for old in one.files[name]):
            one.files[name].add(b"")  # cut short at its very beginning
        status, _ = self.server.ask("PUT", f"/v1/sandboxes/{one.id}/files?path={name}", data)
        if status == 200:
            one.files[name] = {data}
        return status

    def read(self, one):
        if not one.files:
            return self.write(one)
        name = self.random.choice(list(one.files))
        status, data = self.server.ask("GET", f"/v1/sandboxes/{one.id}/files?path={name}", raw=True)
        allowed = one.files[name]
        if status == 200 and not any(data == some or (len(allowed) > 1 and some.startswith(data)) for some in allowed):
            fault(f"{one.id}: {name} holds {len(data)} bytes {hashlib.sha256(data).hexdigest()[:8]}, not what was written")
        if status == 404 and len(allowed) == 1 and not one.deleting:
            fault(f"{one.id}: {name} was written and is not there")
        return status

    def pause(self, one):
        status, _ = self.server.ask("POST", f"/v1/sandboxes/{one.id}/pause")
        one.paused = one.paused or status == 200
        return status

    def resume(self, one):
        status, _ = self.server.ask("POST", f"/v1/sandboxes/{one.id}/resume")
        one.paused = one.paused and status != 200
        return status

    def timeout(self, one):
        return self.server.ask("POST", f"/v1/sandboxes/{one.id}/timeout", {"timeout": 7200})[0]

    def delete(self, one):
        one.deleting = True
        status, _ = self.server.ask("DELETE", f"/v1/sandboxes/{one.id}")
        one.gone = status in (204, 404)
        return status

    def fork(self, one):
        status, answer = self.server.ask("POST", f"/v1/sandboxes/{one.id}/fork", {})
        for child in answer if status == 200 else ():
            if "error" in child:
                self.counts["fork refused: " + child["error"]] += 1
                continue
            fork = Sandbox(child["id"])
            fork.files = collections.defaultdict(set, {name: set(some) for name, some in one.files.items()})
            with self.lock:
                self.sandboxes[fork.id] = fork
        return status

    def snapshot(self, one):
        return self.server.ask("POST", f"/v1/sandboxes/{one.id}/snapshots", {})[0]

    def rest(self, one):
        """Files alone: its processes end, and `resume` starts it again."""
        status, _ = self.server.ask("POST", f"/v1/sandboxes/{one.id}/pause", {"memory": False})
        one.paused = one.paused or status == 200
        return status

    def create(self):
        status, answer = self.server.ask("POST", "/v1/sandboxes", {"timeout": 7200, "limits": {"memory_bytes": 128 << 20, "disk_bytes": 32 << 20}})
        if status == 200:
            with self.lock:
                self.sandboxes[answer["id"]] = Sandbox(answer["id"])
        return status

    def settle(self, one, name, status):
        """What is not a success must be what the sandbox's state explains."""
        if one is None or status < 400:
            return
        state, row = self.server.ask("GET", f"/v1/sandboxes/{one.id}")
        if state == 404:
            if not one.gone and not one.deleting:
                fault(f"{one.id}: not deleted, and not there")
            one.gone = True
        elif state == 200 and row["state"] == "stopped" and row["kept"] and row["reason"] == "it was stopped":
            one.paused = True
        elif state == 200 and row["state"] in ("stopped", "error"):
            if not row["reason"]:
                fault(f"{one.id}: {row['state']} and nobody says why")
            self.counts["ended: " + row["reason"]] += 1
            one.gone = True
        elif state == 200:
            one.paused = row["state"] == "paused"
            if status >= 500 and status != 503:
                fault(f"{one.id}: {name} answered {status} in state {row['state']}")

    def choose(self):
        with self.lock:
            few = len(self.sandboxes) < self.most
            one = self.random.choice(list(self.sandboxes.values())) if self.sandboxes else None
        if one is None or (few and self.random.random() < 0.5):
            return None, "create"
        if one.paused:
            return one, self.random.choice(("resume", "resume", "delete"))
        some = ["command"] * 6 + ["write"] * 5 + ["read"] * 5 + ["pause"] * 2 + ["timeout", "delete"]
        return one, self.random.choice(some + ["snapshot", "rest"] + ["fork"] * few)

    def step(self):
        one, name = self.choose()
        if one is not None and not one.lock.acquire(blocking=False):
            return
        try:
            status = getattr(self, name)(one) if one is not None else self.create()
            self.counts[f"{name} {'ok' if status < 400 else status}"] += 1
            self.settle(one, name, status)
        finally:
            if one is not None:
                if one.gone:
                    with self.lock:
                        self.sandboxes.pop(one.id, None)
                one.lock.release()

    def work(self):
        while not self.over.is_set():
            if not self.up.wait(1):
                continue
            try:
                self.step()
            except Down:
                self.counts["cut off"] += 1
                time.sleep(0.05)
            except TimeoutError:
                if self.up.is_set():
                    fault("a request was not answered in time")

    def run(self, minutes, kill_every, workers):
        threads = [threading.Thread(target=self.work) for _ in range(workers)]
        self.up.set()
        for thread in threads:
            thread.start()
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            time.sleep(min(kill_every, max(0.0, end - time.monotonic())))
            if time.monotonic() < end:
                self.up.clear()
                began = time.monotonic()
                self.server.kill()
                self.server.start()
                self.up.set()
                print(f"killed and back after {time.monotonic() - began:.1f} s; {len(self.sandboxes)} sandboxes, {sum(self.counts.values())} operations", flush=True)
        self.over.set()
        for thread in threads:
            thread.join()

    def read_everything(self):
        """Every file of every sandbox that runs, once more."""
        for one in list(self.sandboxes.values()):
            status, row = self.server.ask("GET", f"/v1/sandboxes/{one.id}")
            if status == 200 and row["state"] == "running":
                for _ in range(len(one.files)):
                    self.read(one)


def groups_of(instances):
    found = []
    for top in glob.glob("/sys/fs/cgroup/belljar") + glob.glob("/sys/fs/cgroup/*/belljar") + glob.glob("/sys/fs/cgroup/**/belljar", recursive=True):
        for name in os.listdir(top):
            if any(name.startswith(instance + "-") for instance in instances):
                found.append(os.path.join(top, name))
    return sorted(set(found))


def members(group):
    try:
        with open(os.path.join(group, "cgroup.procs")) as file:
            return file.read().split()
    except OSError:
        return []


def check_books(server):
    for path in glob.glob("/run/belljar/instances/*"):
        if os.path.basename(path) in server.instances:
            fault(f"an instance is left: {path}")
    groups = groups_of(server.instances)
    busy = [group for group in groups if members(group)]
    if busy:
        fault(f"processes are left: {[(group, members(group)) for group in busy[:3]]}")
    if groups:
        fault(f"{len(groups)} control groups are left, e.g. {groups[0]}")
    with open("/proc/self/mountinfo") as file:
        mounts = [line for line in file if server.scratch in line]
    if mounts:
        fault(f"mounts are left: {mounts[:3]}")
    for path in glob.glob("/sys/block/loop*/loop/backing_file"):
        with open(path) as file:
            if server.scratch in file.read():
                fault(f"a loop device is left: {path}")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                ours = f"BELLJAR_DATA={server.data}".encode() in file.read()
            if ours and int(pid) != os.getpid():
                fault(f"process {pid} is left: {open(f'/proc/{pid}/cmdline').read()!r}")
        except OSError:
            pass
    check_ranges(server)
    check_rows(server)
    done = subprocess.run([server.belljar, "audit", "verify"], env=server.environment, capture_output=True)
    print(done.stdout.decode().strip())
    if done.returncode != 0:
        fault("the receipts do not verify: " + done.stderr.decode())


def check_ranges(server):
    """A range of user ids that somebody of ours still holds: its lock names a process, which must be alive."""
    try:
        inode = os.stat("/run/belljar/uids").st_ino
    except OSError:
        return
    with open("/proc/locks") as file:
        for line in file:
            fields = line.split()
            if len(fields) > 5 and fields[5].endswith(f":{inode}") and fields[4] not in ("-1", "0"):
                if not os.path.exists(f"/proc/{fields[4]}"):
                    fault(f"a range of user ids is held by nobody: {line.strip()}")


def check_rows(server):
    database = sqlite3.connect(f"file:{server.data}/belljar.db?mode=ro", uri=True)
    live = database.execute(f"SELECT id, state FROM sandboxes WHERE state IN {LIVE}").fetchall()
    if live:
        fault(f"{len(live)} rows are still live: {live[:3]}")
    waiting = database.execute("SELECT kind, state FROM sandbox_commands WHERE state IN ('waiting', 'claimed')").fetchall()
    if waiting:
        fault(f"{len(waiting)} commands are still in the queue: {waiting[:3]}")
    for (state, count) in database.execute("SELECT state, COUNT(*) FROM sandboxes GROUP BY state"):
        print(f"rows {state}: {count}")
    database.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("belljar")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--sandboxes", type=int, default=200)
    parser.add_argument("--kill-every", type=float, default=60)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=None)
    wanted = parser.parse_args()
    seed = wanted.seed if wanted.seed is not None else random.randrange(1 << 32)
    scratch = tempfile.mkdtemp(prefix="belljar-soak-")
    server = Server(os.path.abspath(wanted.belljar), scratch)
    server.start()
    print(f"seed {seed}; the server's log is {scratch}/server.log", flush=True)
    soak = Soak(server, wanted.sandboxes, seed)
    soak.run(wanted.minutes, wanted.kill_every, wanted.workers)
    soak.read_everything()
    for one in list(soak.sandboxes.values()):
        if soak.server.ask("DELETE", f"/v1/sandboxes/{one.id}")[0] not in (204, 404):
            fault(f"{one.id} could not be deleted")
    status = server.stop()
    if status != 0:
        fault(f"the server ended with status {status}")
    # What one that was killed left is removed by whoever starts next.
    subprocess.run([server.belljar, "exec", "--", "true"], env=server.environment, check=True, capture_output=True)
    for name, count in sorted(soak.counts.items()):
        print(f"{count:7}  {name}")
    check_books(server)
    if FAULTS:
        print(f"{len(FAULTS)} faults; seed {seed}; {scratch} is kept")
        return 1
    shutil.rmtree(scratch)
    print(f"the books balance after {sum(soak.counts.values())} operations and {server.starts - 1} kills")
    return 0


if __name__ == "__main__":
    sys.exit(main())
