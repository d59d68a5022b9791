"""A sandbox's files outlive its processes: stopped and started, kept as snapshots, forked, rolled back. As a user of the
API meets it, and as one who means harm would try it."""

import json
import os
import subprocess
import unittest

from sandbox_story import SandboxStory
from server_story import Server
from story import kernel_replaces_directories

SEED = """set -e
echo one > note; mkdir -p deep/er; echo two > deep/er/two; ln -s note link; ln /home/user/note hard
mkfifo pipe; printf x > mode; chmod 4751 mode; touch -d '2001-02-03 04:05:06 UTC' deep/er/two
python3 - <<'P'
import os
os.setxattr('note', 'user.colour', b'blue')
with open('sparse', 'wb') as f: f.seek(256 << 20); f.write(b'end')
P
"""
LOOK = """cat note deep/er/two; readlink link; stat -c '%h %U' hard; stat -c '%F' pipe; stat -c '%a' mode
stat -c '%Y' deep/er/two; stat -c '%s' sparse; tail -c 3 sparse; echo
python3 -c "import os; print(os.getxattr('note', 'user.colour').decode())"
"""


class FilesStory(SandboxStory):
    def act(self, sandbox, word, body=None, expect=200, **more):
        return self.api("POST", f"/v1/sandboxes/{sandbox}/{word}", body, expect=expect, **more)

    def snapshot(self, sandbox, expect=200, **fields):
        made = self.act(sandbox, "snapshots", fields, expect=expect)
        if expect == 200:
            self.addCleanup(lambda: self.server.request("DELETE", f"/v1/snapshots/{made['id']}"))
        return made

    def fork(self, sandbox, **fields):
        made = self.act(sandbox, "fork", fields)
        for one in made:
            if "id" in one:
                self.addCleanup(lambda i=one["id"]: self.server.request("DELETE", f"/v1/sandboxes/{i}"))
        return made

    def new_key(self):
        """Of an organization of its own."""
        done = self.belljar("key", "create", "--organization", f"other-{os.urandom(4).hex()}", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["key"]

    def layers(self):
        place = os.path.join(self.data, "layers")
        return sorted(os.listdir(place)) if os.path.exists(place) else []

    def settle(self, what, wanted):
        """Removal follows an answer: it is waited for by asking the server something else meanwhile."""
        for _ in range(2000):
            if what() == wanted:
                return
            self.api("GET", "/v1/sandboxes?limit=1")
        self.assertEqual(what(), wanted)


class Files(FilesStory):
    @unittest.skipUnless(kernel_replaces_directories(), "tmpfs has no user attributes before Linux 6.6")
    def test_a_stopped_sandbox_comes_back_with_its_files_and_says_that_its_processes_are_gone(self):
        sandbox = self.create(env={"WHO": "ada"})
        self.output(sandbox, SEED)
        seen = self.output(sandbox, LOOK)
        self.assertIn("one\ntwo\nnote\n2 user\nfifo\n4751\n981173106\n268435459\nend\nblue\n", seen)
        self.run_in(sandbox, "sleep 1000", background=True)
        first_boot = self.output(sandbox, "cat /proc/sys/kernel/random/boot_id")
        stopped = self.act(sandbox, "stop")
        self.assertEqual((stopped["state"], stopped["kept"], stopped["reason"]), ("stopped", True, "it was stopped"))
        refused = self.run_in(sandbox, "true", expect=409)
        self.assertIn("start it first", json.dumps(refused))
        self.act(sandbox, "pause", expect=409)
        started = self.act(sandbox, "start")
        self.assertEqual((started["state"], started["resumed"]), ("running", "cold"))
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}/commands"), [])
        self.assertEqual(self.output(sandbox, LOOK), seen)
        self.assertEqual(self.output(sandbox, "echo $WHO"), "ada\n")
        self.assertEqual(self.output(sandbox, "pgrep -c sleep || true"), "0\n")
        self.assertNotEqual(self.output(sandbox, "cat /proc/sys/kernel/random/boot_id"), first_boot)
        self.act(sandbox, "start", expect=409)

    def test_every_boot_has_an_id_of_its_own_that_nobody_inside_can_change(self):
        boot = "/proc/sys/kernel/random/boot_id"
        one, other = self.create(), self.create()
        with open(boot) as file:
            host = file.read()
        ids = {host, self.output(one, f"cat {boot}"), self.output(other, f"cat {boot}")}
        self.assertEqual(len(ids), 3)
        self.assertRegex(self.output(one, f"cat {boot}"), r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$")
        self.assertNotEqual(self.run_in(one, f"echo x > {boot}", user="root")["exit_status"], 0)

    def test_what_was_deleted_or_replaced_stays_so(self):
        sandbox = self.create()
        self.output(sandbox, "rm /etc/passwd- /etc/issue 2>/dev/null; rm -r /etc/profile.d 2>/dev/null; "
                             "mkdir -p /etc/profile.d; echo mine > /etc/profile.d/only; rm /usr/bin/yes; echo new > /usr/bin/mine",
                    user="root")
        for made in (self.fork(sandbox)[0]["id"], self.create(template=self.snapshot(sandbox)["id"])):
            self.assertEqual(self.output(made, "ls /etc/profile.d; ls /usr/bin/yes 2>&1 || true; cat /usr/bin/mine"),
                             "only\nls: cannot access '/usr/bin/yes': No such file or directory\nnew\n")
            # And once more above that.
            self.output(made, "rm /usr/bin/mine; echo yes > /usr/bin/yes", user="root")
            self.act(made, "stop")
            self.act(made, "start")
            self.assertEqual(self.output(made, "cat /usr/bin/yes; ls /usr/bin/mine 2>&1 || true"),
                             "yes\nls: cannot access '/usr/bin/mine': No such file or directory\n")
        self.assertEqual(self.output(sandbox, "cat /usr/bin/mine"), "new\n")

    @unittest.skipUnless(kernel_replaces_directories(), "tmpfs has no user attributes before Linux 6.6")
    def test_a_fork_has_what_its_parent_has_and_changes_nothing_in_it(self):
        sandbox = self.create(env={"TOKEN": "t0p"}, metadata={"team": "red"}, limits={"processes": 50})
        self.output(sandbox, SEED)
        self.run_in(sandbox, "sleep 1000", background=True)
        forks = self.fork(sandbox, count=3, timeout=120)
        self.assertEqual(len({one["id"] for one in forks} | {sandbox}), 4)
        for one in forks:
            self.assertEqual((one["state"], one["timeout"], one["metadata"], one["limits"]["processes"]),
                             ("running", 120, {"team": "red"}, 50))
            self.assertEqual(self.output(one["id"], LOOK), self.output(sandbox, LOOK))
            self.assertEqual(self.output(one["id"], "echo $TOKEN; pgrep -c sleep || true"), "t0p\n0\n")
        self.output(forks[0]["id"], "echo changed > note; echo more >> hard; rm -r deep")
        for other in (sandbox, forks[1]["id"]):
            self.assertEqual(self.output(other, "cat note hard deep/er/two"), "one\none\ntwo\n")
        self.output(sandbox, "echo parent > note")
        self.assertEqual(self.output(forks[1]["id"], "cat note hard"), "one\none\n")
        self.assertEqual(self.output(sandbox, "pgrep -c sleep"), "1\n")

    def test_a_fork_that_does_not_fit_the_share_is_told_beside_those_that_do(self):
        other = self.new_key()
        sandbox = self.create(key=other)
        made = self.api("POST", f"/v1/sandboxes/{sandbox}/fork", {"count": 100}, key=other)
        errors = [one for one in made if "error" in one]
        for one in made:
            if "id" in one:
                self.api("DELETE", f"/v1/sandboxes/{one['id']}", expect=204, key=other)
        self.assertEqual(len(made), 100)
        self.assertLess(len(errors), 100)
        self.act(sandbox, "fork", {"count": 101}, expect=422, key=other)
        self.act(sandbox, "fork", {"count": 0}, expect=422, key=other)

    def test_a_snapshot_is_a_template_by_id_and_by_name(self):
        sandbox = self.create()
        self.output(sandbox, "echo ready > state; adduser --disabled-password --gecos '' ada >/dev/null 2>&1 || "
                             "echo 'ada:x:1234:1234::/home/user:/bin/sh' >> /etc/passwd", user="root")
        name = f"ready-{os.urandom(4).hex()}"
        made = self.snapshot(sandbox, name=name)
        self.assertEqual((made["name"], made["sandbox"]), (name, sandbox))
        self.assertGreater(made["size_bytes"], 0)
        self.output(sandbox, "echo later > /root/state; rm state", user="root")
        for template in (name, made["id"]):
            new = self.create(template=template)
            self.assertEqual(self.output(new, "cat state", user="root", cwd="/root"), "ready\n")
            self.assertEqual(self.output(new, "id -un", user="ada"), "ada\n")
        self.assertIn(made["id"], [one["id"] for one in self.api("GET", f"/v1/sandboxes/{sandbox}/snapshots")])
        self.api("GET", "/v1/sandboxes/sb" + "a" * 26 + "/snapshots", expect=404)
        self.assertEqual(self.api("GET", f"/v1/snapshots/{name}")["id"], made["id"])
        self.snapshot(sandbox, name="../etc", expect=422)
        self.snapshot(sandbox, name="base", expect=409)
        self.api("DELETE", f"/v1/snapshots/{name}", expect=204)
        self.api("GET", f"/v1/snapshots/{name}", expect=404)
        self.api("POST", "/v1/sandboxes", {"template": name}, expect=422)
        self.assertEqual(self.output(new, "cat /root/state", user="root"), "ready\n")

    def test_a_snapshot_of_a_stopped_sandbox_copies_nothing(self):
        sandbox = self.create()
        self.output(sandbox, "echo kept > note")
        self.act(sandbox, "stop")
        before = self.layers()
        made = self.snapshot(sandbox)
        forked = self.fork(sandbox)[0]["id"]
        self.assertEqual(self.layers(), before)
        self.assertEqual(self.output(forked, "cat note"), "kept\n")
        self.assertEqual(self.output(self.create(template=made["id"]), "cat note"), "kept\n")

    def test_rollback_brings_the_files_of_a_snapshot_back_under_the_same_id(self):
        sandbox = self.create()
        self.output(sandbox, "echo before > note")
        made = self.snapshot(sandbox)
        self.output(sandbox, "echo after > note; echo new > other")
        self.run_in(sandbox, "sleep 1000", background=True)
        row = self.act(sandbox, "rollback", {"snapshot": made["id"]})
        self.assertEqual((row["id"], row["state"]), (sandbox, "running"))
        self.assertEqual(self.output(sandbox, "cat note; ls other 2>/dev/null || true; pgrep -c sleep || true"), "before\n0\n")
        self.output(sandbox, "echo again > note")
        self.act(sandbox, "stop")
        self.act(sandbox, "rollback", {"snapshot": made["id"]})
        self.assertEqual(self.output(sandbox, "cat note"), "before\n")
        self.act(sandbox, "pause")
        self.act(sandbox, "rollback", {"snapshot": made["id"]})
        self.assertEqual(self.output(sandbox, "cat note"), "before\n")
        self.act(sandbox, "rollback", {"snapshot": "none"}, expect=404)
        self.assertEqual(self.output(sandbox, "cat note"), "before\n")

    def test_pause_without_memory_keeps_the_files_alone(self):
        sandbox = self.create()
        self.output(sandbox, "echo kept > note")
        boot = self.output(sandbox, "cat /proc/sys/kernel/random/boot_id")
        paused = self.act(sandbox, "pause", {"memory": False})
        self.assertEqual((paused["state"], paused["memory_after_bytes"]), ("stopped", 0))
        resumed = self.act(sandbox, "resume")
        self.assertEqual((resumed["state"], resumed["resumed"]), ("running", "cold"))
        self.assertEqual(self.output(sandbox, "cat note"), "kept\n")
        self.assertNotEqual(self.output(sandbox, "cat /proc/sys/kernel/random/boot_id"), boot)
        self.act(sandbox, "pause")
        self.assertEqual(self.act(sandbox, "resume")["resumed"], "warm")

    def test_at_its_timeout_a_sandbox_can_be_stopped_with_its_files(self):
        sandbox = self.create(timeout=600, on_timeout="stop")
        self.output(sandbox, "echo kept > note")
        self.api("POST", f"/v1/sandboxes/{sandbox}/timeout", {"timeout": 0})
        self.settle(lambda: self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "stopped")
        row = self.api("GET", f"/v1/sandboxes/{sandbox}")
        self.assertEqual((row["kept"], row["reason"]), (True, "its time was over"))
        self.assertIn(sandbox, [one["id"] for one in self.api("GET", "/v1/sandboxes?state=running&kept=true")])
        self.act(sandbox, "start")
        self.assertEqual(self.output(sandbox, "cat note"), "kept\n")
        killed = self.create(timeout=600)
        self.api("POST", f"/v1/sandboxes/{killed}/timeout", {"timeout": 0})
        self.settle(lambda: self.api("GET", f"/v1/sandboxes/{killed}")["state"], "stopped")
        self.act(killed, "start", expect=409)

    def test_a_request_with_the_same_key_is_the_same_request(self):
        sandbox = self.create()
        self.output(sandbox, "echo one > note")
        key = {"Idempotency-Key": os.urandom(8).hex()}
        first = self.act(sandbox, "snapshots", {}, headers=key)
        again = self.act(sandbox, "snapshots", {}, headers=key)
        self.assertEqual(first, again)
        self.act(sandbox, "fork", {}, headers=key, expect=409)
        self.api("POST", "/v1/sandboxes", {}, headers=key, expect=409)
        self.api("DELETE", f"/v1/snapshots/{first['id']}", expect=204)
        key = {"Idempotency-Key": os.urandom(8).hex()}
        forks = [[one["id"] for one in self.act(sandbox, "fork", {"count": 2}, headers=key)] for _ in range(2)]
        self.assertEqual(forks[0], forks[1])
        for one in forks[0]:
            self.api("DELETE", f"/v1/sandboxes/{one}", expect=204)

    def test_a_hundred_megabytes_are_all_there(self):
        sandbox = self.create()
        digest = "cat data/* | sha256sum; ls data | wc -l"
        self.output(sandbox, "mkdir data; for i in $(seq 50); do head -c 2097152 /dev/urandom > data/$i; done")
        forked = self.fork(sandbox)[0]["id"]
        self.assertEqual(self.output(forked, digest), self.output(sandbox, digest))
        self.act(forked, "stop")
        again = self.fork(forked)[0]["id"]
        self.assertEqual(self.output(again, digest), self.output(sandbox, digest))

    def test_a_fork_of_one_with_a_network_has_a_gate_of_its_own(self):
        self.belljar("network", "set", "open")
        sandbox = self.create(network={"rules": [{"allow": "nothing.invalid"}]})
        forked = self.fork(sandbox)[0]
        self.assertEqual(forked["network"], {"rules": [{"allow": "nothing.invalid"}]})
        probe = "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 15001), 5); print('gate')\""
        for one in (sandbox, forked["id"]):
            self.assertEqual(self.output(one, probe), "gate\n")
        self.act(forked["id"], "stop")
        self.act(forked["id"], "start")
        self.assertEqual(self.output(forked["id"], probe), "gate\n")


class Removal(FilesStory):
    def test_what_nobody_refers_to_is_removed(self):
        before = self.layers()
        sandbox = self.create()
        self.output(sandbox, "echo one > note")
        made = self.snapshot(sandbox)
        forked = self.fork(sandbox)[0]["id"]
        self.act(sandbox, "stop")
        self.assertEqual(len(self.layers()) - len(before), 3)
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)
        self.settle(lambda: len(self.layers()) - len(before), 2)
        self.assertEqual(self.output(forked, "cat note"), "one\n")
        self.api("DELETE", f"/v1/snapshots/{made['id']}", expect=204)
        self.settle(lambda: len(self.layers()) - len(before), 1)
        self.api("DELETE", f"/v1/sandboxes/{forked}", expect=204)
        self.settle(self.layers, before)


class Receipts(FilesStory):
    def test_every_act_leaves_a_receipt(self):
        sandbox = self.create()
        made = self.snapshot(sandbox)
        self.fork(sandbox)
        self.act(sandbox, "rollback", {"snapshot": made["id"]})
        self.act(sandbox, "stop")
        self.act(sandbox, "start")
        self.api("DELETE", f"/v1/snapshots/{made['id']}", expect=204)
        wanted = {"sandbox.snapshot", "sandbox.fork", "sandbox.rollback", "sandbox.stop", "sandbox.start", "snapshot.delete"}
        self.settle(lambda: wanted - {one["action"] for one in self.audit(limit=100)}, set())


class Strangers(FilesStory):
    def test_another_organizations_snapshots_and_sandboxes_do_not_exist(self):
        sandbox = self.create()
        made = self.snapshot(sandbox, name=f"mine-{os.urandom(4).hex()}")
        key = self.new_key()
        theirs = self.create(key=key)
        for word, body in (("snapshots", {}), ("fork", {}), ("rollback", {"snapshot": made["id"]}), ("stop", None), ("start", None)):
            self.act(sandbox, word, body, expect=404, key=key)
        for name in (made["id"], made["name"]):
            self.api("GET", f"/v1/snapshots/{name}", expect=404, key=key)
            self.api("DELETE", f"/v1/snapshots/{name}", expect=404, key=key)
            self.api("POST", "/v1/sandboxes", {"template": name}, expect=422, key=key)
            self.act(theirs, "rollback", {"snapshot": name}, expect=404, key=key)
        self.assertEqual(self.api("GET", "/v1/snapshots", key=key), [])
        self.assertEqual(self.api("GET", f"/v1/snapshots?sandbox={sandbox}", key=key), [])
        self.api("GET", f"/v1/snapshots/{made['id']}")


class Attacks(FilesStory):
    """Families 1, 2, 14 and 28: links, races, what is left behind, and other people's files."""

    def test_links_out_of_the_sandbox_bring_nothing_of_the_host_into_a_layer(self):
        marker = os.path.join(self.scratch, "host-secret")
        with open(marker, "w") as file:
            file.write("HOST SECRET")
        sandbox = self.create()
        self.output(sandbox, f"ln -s {marker} out; ln -s / root; ln -s ../../../../../../../../etc up; mkdir d; "
                             f"ln -s /proc/1/root d/proc; ln -s /dev/shm d/shm; mkdir -p a/b; mv a/b b; ln -s /etc a/b")
        forked = self.fork(sandbox)[0]["id"]
        self.assertEqual(self.output(forked, "readlink out root up d/proc d/shm a/b | wc -l; cat out 2>&1 || true").split()[0], "6")
        found = subprocess.run(["grep", "-rl", "HOST SECRET", os.path.join(self.data, "layers")], capture_output=True, text=True)
        self.assertEqual(found.stdout, "")

    def test_a_tree_that_moves_while_it_is_copied_is_copied_standing_still(self):
        sandbox = self.create()
        self.output(sandbox, "mkdir work; cd work; for i in $(seq 300); do echo 0 > $i; done")
        # A writer that always changes two files together, and a mover of directories and links.
        self.run_in(sandbox, "python3 -c \"\nimport os\nn = 0\nwhile True:\n n += 1\n"
                             " for f in ('left', 'right'):\n"
                             "  with open('new', 'w') as t: t.write(str(n))\n  os.rename('new', f)\n\"", background=True)
        self.run_in(sandbox, "while :; do mkdir -p x/y; rm -rf z; mv x z; ln -sfn /etc x; rm x; done", background=True)
        self.output(sandbox, "until [ -e left ] && [ -e right ]; do :; done")
        for _ in range(5):
            forked = self.fork(sandbox)[0]["id"]
            left, right = self.output(forked, "cat left; echo; cat right 2>/dev/null || cat left; echo").split()
            self.assertIn(int(left) - int(right), (0, 1))
            self.assertEqual(self.output(forked, "ls work | wc -l; pgrep -c python3 || true"), "300\n0\n")
            self.api("DELETE", f"/v1/sandboxes/{forked}", expect=204)
        self.assertEqual(self.output(sandbox, "pgrep -c python3"), "1\n")

    def test_trees_that_are_meant_to_hurt_are_copied_or_refused_and_the_sandbox_goes_on(self):
        sandbox = self.create()
        self.output(sandbox, "python3 -c \"\nimport os\nos.makedirs('links')\nopen('links/0', 'w').write('x' * 100000)\n"
                             "for i in range(1, 5000): os.link('links/0', f'links/{i}')\n\"")
        forked = self.fork(sandbox)[0]["id"]
        self.assertEqual(self.output(forked, "stat -c %h links/77; ls links | wc -l"), "5000\n5000\n")
        self.output(sandbox, "python3 -c \"\nimport os\nfor i in range(400):\n os.mkdir('d' * 200); os.chdir('d' * 200)\n\"")
        refused = self.act(sandbox, "fork", {}, expect=400)
        self.assertIn("too many directories deep", json.dumps(refused))
        self.act(sandbox, "stop", expect=400)
        self.assertEqual(self.output(sandbox, "echo alive"), "alive\n")
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "running")
        self.assertEqual([name for name in self.layers() if name.startswith(".")], [])

    def test_a_set_user_id_file_of_one_is_no_power_in_another(self):
        sandbox = self.create()
        self.output(sandbox, "cp /usr/bin/id /home/user/id; chmod 6755 /home/user/id", user="root")
        forked = self.fork(sandbox)[0]["id"]
        self.assertEqual(self.output(forked, "stat -c '%a %U' id; ./id -u"), "6755 root\n1000\n")

    def test_what_belongs_to_users_inside_belongs_to_them_in_the_fork_and_to_nobody_else(self):
        sandbox = self.create()
        self.output(sandbox, "echo secret > /root/secret; chmod 600 /root/secret; install -o 4242 -g 4343 /dev/null /tmp/owned", user="root")
        forked = self.fork(sandbox)[0]["id"]
        self.assertEqual(self.output(forked, "stat -c '%u %g %a' /root/secret /tmp/owned", user="root"), "0 0 600\n4242 4343 755\n")
        self.assertNotEqual(self.run_in(forked, "cat /root/secret")["exit_status"], 0)

    def test_nothing_of_one_fork_is_in_the_next(self):
        sandbox = self.create()
        self.output(sandbox, "echo parent > note")
        first = self.fork(sandbox)[0]["id"]
        self.output(first, "echo residue > /tmp/residue; echo residue > /dev/shm/residue; echo residue >> note")
        self.api("DELETE", f"/v1/sandboxes/{first}", expect=204)
        second = self.fork(sandbox)[0]["id"]
        self.assertEqual(self.output(second, "cat note; ls /tmp /dev/shm"), "parent\n/dev/shm:\n\n/tmp:\n")

    def test_shared_memory_is_not_a_file_that_is_kept(self):
        sandbox = self.create()
        self.output(sandbox, "echo secret > /dev/shm/x; echo file > /tmp/x")
        self.act(sandbox, "stop")
        self.act(sandbox, "start")
        self.assertEqual(self.output(sandbox, "ls /dev/shm; cat /tmp/x"), "file\n")


class Restarts(FilesStory):
    """The server is stopped, or killed, in between."""

    def again(self, how):
        server = type(self).server
        getattr(server, how)()
        type(self).server = Server(self.data, self.scratch, env={**self.everywhere, **self.env})

    def test_stopped_sandboxes_and_snapshots_outlive_the_server(self):
        for how in ("stop", "kill"):
            sandbox = self.create()
            self.output(sandbox, f"echo {how} > note")
            made = self.snapshot(sandbox)
            self.act(sandbox, "stop")
            self.again(how)
            row = self.api("GET", f"/v1/sandboxes/{sandbox}")
            self.assertEqual((row["state"], row["kept"]), ("stopped", True))
            self.assertEqual(self.act(sandbox, "start")["resumed"], "cold")
            self.assertEqual(self.output(sandbox, "cat note"), f"{how}\n")
            self.assertEqual(self.output(self.create(template=made["id"]), "cat note"), f"{how}\n")

    def test_what_was_half_made_or_belongs_to_nobody_is_removed_at_the_next_start(self):
        sandbox = self.create()
        self.output(sandbox, "echo kept > note")
        self.act(sandbox, "stop")
        known = self.layers()
        for name in (".new-lyaaaaaaaaaaaaaaaaaaaaaaaaaa", ".gone-lyaaaaaaaaaaaaaaaaaaaaaaaaaa", "lyaaaaaaaaaaaaaaaaaaaaaaaaaa"):
            os.makedirs(os.path.join(self.data, "layers", name, "0", "home"))
        self.again("kill")
        self.settle(self.layers, known)
        self.act(sandbox, "start")
        self.assertEqual(self.output(sandbox, "cat note"), "kept\n")


del SandboxStory, FilesStory

if __name__ == "__main__":
    unittest.main()
