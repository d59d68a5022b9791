"""Volumes: directories of an organization that outlive sandboxes, have a size, and are nobody else's."""

import json
import os
import unittest
import urllib.parse

from sandbox_story import SandboxStory

MIB = 1 << 20


class Volumes(SandboxStory):
    @classmethod
    def prepare(cls):
        os.makedirs(os.path.join(cls.scratch, ".config/belljar"))
        with open(os.path.join(cls.scratch, ".config/belljar/config.toml"), "w") as file:
            file.write('[sandboxes]\nmost_volumes = 12\nmost_volume_disk = "1G"\nvolume_size = "32M"\n')

    def volume(self, name, key=None, **fields):
        made = self.api("POST", "/v1/volumes", {"name": name, **fields}, key=key)
        self.addCleanup(lambda: self.server.request("DELETE", f"/v1/volumes/{made['id']}", None, key))
        return made["id"]

    def cli(self, *arguments):
        return self.belljar(*arguments, env={"BELLJAR_SERVER": self.server.url})

    @staticmethod
    def volume_files(volume, what="", **query):
        return f"/v1/volumes/{volume}/files{what}?" + urllib.parse.urlencode(query)

    def test_what_one_sandbox_writes_the_next_one_reads(self):
        self.volume("data")
        first = self.create(volumes=[{"name": "data", "path": "/data"}])
        self.assertEqual(self.output(first, "echo kept > /data/note; mkdir /data/d; id -u; stat -c '%u %a' /data/note"), "1000\n1000 644\n")
        self.output(first, "sudo sh -c 'echo root > /data/roots; stat -c %u /data/roots'")
        self.api("DELETE", f"/v1/sandboxes/{first}", expect=204)
        second = self.create(volumes=[{"name": "data", "path": "/home/user/deep/place"}])
        self.assertEqual(self.output(second, "cat deep/place/note; ls deep/place; stat -c %u deep/place/roots"), "kept\nd\nnote\nroots\n0\n")

    def test_two_sandboxes_see_each_others_changes_at_once_and_one_may_only_read(self):
        self.volume("shared")
        writer = self.create(volumes=[{"name": "shared", "path": "/shared"}])
        reader = self.create(volumes=[{"name": "shared", "path": "/shared", "read_only": True}])
        self.output(writer, "echo one > /shared/file")
        self.assertEqual(self.output(reader, "cat /shared/file"), "one\n")
        refused = self.run_in(reader, "sudo sh -c 'echo two > /shared/file'")
        self.assertIn("Read-only", refused["stderr"])
        remounted = self.run_in(reader, "sudo mount -o remount,rw /shared || sudo mount -o remount,bind,rw /shared")
        self.assertNotEqual(remounted["exit_status"], 0)

    def test_a_volume_is_never_larger_than_its_size_and_holds_no_devices_or_setuid_powers(self):
        self.volume("small", size_bytes=16 * MIB)
        sandbox = self.create(volumes=[{"name": "small", "path": "/v"}])
        self.assertEqual(self.output(sandbox, "ls -A /v"), "")
        full = self.run_in(sandbox, "head -c 64M /dev/zero > /v/large; df -m /v | tail -1 | awk '{print $2}'")
        self.assertIn("No space left", full["stderr"])
        self.assertLess(int(full["stdout"]), 17)
        for command in ("sudo mknod /v/null c 1 3", "sudo mknod /v/disk b 7 0"):
            self.assertNotEqual(self.run_in(sandbox, command)["exit_status"], 0)
        self.output(sandbox, "rm /v/large; sudo cp /usr/bin/id /v/id; sudo chmod 6755 /v/id")
        self.assertEqual(self.output(sandbox, "/v/id -u"), "1000\n")

    def test_a_volume_may_be_larger_than_the_disk_of_a_sandbox(self):
        self.volume("large", size_bytes=700 * MIB)
        sandbox = self.create(volumes=[{"name": "large", "path": "/v"}])
        self.assertGreater(int(self.output(sandbox, "df -m /v | tail -1 | awk '{print $2}'")), 600)

    def test_its_files_are_reached_without_a_sandbox_of_ones_own(self):
        volume = self.volume("files")
        status, _, text = self.server.request("PUT", self.volume_files(volume, path="a/b.txt"), b"hello",
                                              headers={"Content-Type": "application/octet-stream"})
        self.assertEqual((status, json.loads(text)["path"]), (200, "/a/b.txt"))
        self.assertEqual(self.server.request("GET", self.volume_files(volume, path="/a/b.txt"))[2], b"hello")
        self.assertEqual(self.server.request("GET", self.volume_files(volume, path="/a/b.txt"), headers={"Range": "bytes=1-2"})[2], b"el")
        self.api("POST", self.volume_files(volume, "/directory", path="/c/d"))
        listed = self.api("GET", self.volume_files(volume, "/list", path="/"))
        self.assertEqual([one["name"] for one in listed["entries"]], ["a", "c"])
        sandbox = self.create(volumes=[{"name": "files", "path": "/files"}])
        self.assertEqual(self.output(sandbox, "cat /files/a/b.txt; stat -c %U /files/a/b.txt"), "hello" + "user\n")
        self.api("DELETE", self.volume_files(volume, path="/a"), expect=409)
        self.api("DELETE", self.volume_files(volume, path="/a", recursive="true"), expect=204)
        self.assertEqual(self.output(sandbox, "ls /files"), "c\n")

    def test_links_and_paths_that_lead_out_of_a_volume_reach_nothing_of_the_host(self):
        canary = os.path.join(self.scratch, "canary")
        with open(canary, "w") as file:
            file.write("of the host")
        volume = self.volume("links")
        sandbox = self.create(volumes=[{"name": "links", "path": "/links"}])
        self.output(sandbox, f"ln -s {canary} /links/host; ln -s / /links/root; ln -s ../../../../..{canary} /links/up; ln -s /proc/1/root /links/proc")
        for path in ("host", "up", f"root{canary}", f"proc{canary}", "root/proc/1/environ", "root/proc/self/environ"):
            status, _, data = self.server.request("GET", self.volume_files(volume, path=path))
            self.assertIn(status, (400, 403, 404), path)
            self.assertNotIn(b"of the host", data)
        for path in ("../etc/passwd", "a/../../etc/passwd", "..", "a\0b", "x" * 5000):
            status, _, _ = self.server.request("GET", self.volume_files(volume, path=path))
            self.assertIn(status, (400, 404, 422), path)
        status, _, _ = self.server.request("PUT", self.volume_files(volume, path="host"), b"overwritten",
                                           headers={"Content-Type": "application/octet-stream"})
        with open(canary) as file:
            self.assertEqual(file.read(), "of the host")

    def test_where_a_volume_can_be_mounted(self):
        self.volume("places")
        for path in ("relative", "/", "/a/../b", "/proc", "/proc/sys", "/dev", "/sys", "/etc", "/usr/lib", "/opt/belljar", "/a/", "//a", "/" + "x" * 300, ""):
            self.api("POST", "/v1/sandboxes", {"volumes": [{"name": "places", "path": path}]}, expect=422)
        twice = [{"name": "places", "path": "/a"}, {"name": "places", "path": "/a/b"}]
        self.api("POST", "/v1/sandboxes", {"volumes": twice}, expect=422)
        self.api("POST", "/v1/sandboxes", {"volumes": [{"name": "nobody", "path": "/a"}]}, expect=422)
        self.api("POST", "/v1/sandboxes", {"volumes": "places"}, expect=422)

    def test_a_volume_in_use_is_not_removed_and_one_that_is_removed_is_gone(self):
        volume = self.volume("used")
        sandbox = self.create(volumes=[{"name": "used", "path": "/used"}])
        self.output(sandbox, "echo secret > /used/file")
        refused = self.api("DELETE", f"/v1/volumes/{volume}", expect=409)
        self.assertIn("in use by 1 sandbox", json.dumps(refused))
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)
        self.api("DELETE", f"/v1/volumes/{volume}", expect=204)
        self.api("GET", f"/v1/volumes/{volume}", expect=404)
        self.assertEqual(os.listdir(os.path.join(self.data, "volumes")).count(volume), 0)
        again = self.create(volumes=[{"name": "used", "path": "/used"}]) if self.volume("used") else None
        self.assertEqual(self.output(again, "ls -A /used"), "")  # nothing of the first is in the second

    def test_names_sizes_and_shares_are_checked(self):
        for name in ("", ".hidden", "a/b", "a b", "x" * 200, "\u00e4"):
            self.api("POST", "/v1/volumes", {"name": name}, expect=422)
        for size in (0, 1, -5, 1 << 50, "1G"):
            self.api("POST", "/v1/volumes", {"name": "size", "size_bytes": size}, expect=422)
        self.volume("one")
        self.api("POST", "/v1/volumes", {"name": "one"}, expect=409)
        too_large = self.api("POST", "/v1/volumes", {"name": "huge", "size_bytes": 2 << 30}, expect=422)
        self.assertIn("alone asks for more", json.dumps(too_large))
        too_much = self.api("POST", "/v1/volumes", {"name": "rest", "size_bytes": 1 << 30}, expect=429)
        self.assertIn("would be beyond it", json.dumps(too_much))

    def test_another_organizations_volume_does_not_exist(self):
        volume = self.volume("mine")
        made = self.belljar("key", "create", "--organization", "others", "--role", "admin", "--json")
        other = json.loads(made.stdout)["key"]
        for method, path, body in (("GET", f"/v1/volumes/{volume}", None), ("DELETE", f"/v1/volumes/{volume}", None),
                                   ("GET", self.volume_files(volume, "/list", path="/"), None), ("GET", self.volume_files(volume, path="x"), None),
                                   ("GET", self.volume_files(volume, "/stat", path="/"), None), ("PUT", self.volume_files(volume, path="x"), b"x"),
                                   ("POST", self.volume_files(volume, "/directory", path="x"), None),
                                   ("DELETE", self.volume_files(volume, path="x"), None)):
            status, _, _ = self.server.request(method, path, body, other)
            self.assertEqual(status, 404, (method, path))
            status, _, _ = self.server.request(method, path, body, "none")
            self.assertEqual(status, 401, (method, path))
        self.assertEqual(self.api("GET", "/v1/volumes", key=other), [])
        self.api("POST", "/v1/sandboxes", {"volumes": [{"name": "mine", "path": "/a"}]}, key=other, expect=422)
        self.volume("mine", key=other)  # a name is an organization's own

    def test_receipts_tell_of_volumes(self):
        volume = self.volume("told")
        self.server.request("PUT", self.volume_files(volume, path="x"), b"1", headers={"Content-Type": "application/octet-stream"})
        self.api("DELETE", f"/v1/volumes/{volume}", expect=204)
        actions = [one["action"] for one in self.audit(subject=volume)]
        for action in ("volume.create", "volume.write_file", "volume.delete"):
            self.assertIn(action, actions)

    def test_the_command_line(self):
        made = self.cli("volume", "create", "cli", "--size", "20M")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("cli", self.cli("volume", "ls").stdout.decode())
        sandbox = self.cli("sandbox", "create", "--volume", "cli:/cli:ro").stdout.decode().strip()
        self.assertEqual(self.cli("sandbox", "exec", sandbox, "--", "ls", "/cli").returncode, 0)
        self.assertNotEqual(self.cli("volume", "rm", "cli").returncode, 0)
        self.cli("sandbox", "rm", sandbox)
        self.assertEqual(self.cli("volume", "rm", "cli").returncode, 0)
        self.assertNotEqual(self.cli("volume", "rm", "cli").returncode, 0)


if __name__ == "__main__":
    unittest.main()
