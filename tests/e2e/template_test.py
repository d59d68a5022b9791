"""Templates from archives: good ones run, bad ones get one sentence and leave nothing."""

import gzip
import hashlib
import io
import json
import os
import tarfile
import unittest

from story import Story

# A static program is the least a root needs: ours, that prints and exits, needs no library. The host's busybox or any
# shell would do; the tests take the host's own /bin/sh with its libraries.
NEEDED = ["/bin/sh", "/usr/bin/cat"]


def libraries(program):
    import subprocess
    out = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return [word for line in out.splitlines() for word in line.split() if word.startswith("/")]


def root_archive(path):
    with tarfile.open(path, "w:gz") as tar:
        wanted = set(NEEDED)
        for program in NEEDED:
            wanted.update(libraries(program))
        for file in sorted(wanted):
            tar.add(os.path.realpath(file), arcname=file.lstrip("/"), recursive=False)
        info = tarfile.TarInfo("etc/motd")
        info.size = 6
        tar.addfile(info, io.BytesIO(b"hello\n"))


def image_archive(path, layer_path, config):
    """A docker-archive of one layer."""
    with open(layer_path, "rb") as file:
        layer = gzip.decompress(file.read())
    config["rootfs"] = {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}
    manifest = [{"Config": "config.json", "RepoTags": ["x:1"], "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as tar:
        for name, data in (("layer.tar", layer), ("config.json", json.dumps(config).encode()),
                           ("manifest.json", json.dumps(manifest).encode())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


class Templates(Story):
    def test_an_imported_root_runs_and_can_be_removed(self):
        path = os.path.join(self.scratch, "root.tar.gz")
        root_archive(path)
        done = self.belljar("template", "import", "tiny", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"tiny", self.belljar("template", "list").stdout)
        done = self.belljar("exec", "--template", "tiny", "--", "sh", "-c", "cat /etc/motd; echo $HOME")
        self.assertEqual(done.stdout, b"hello\n/home/user\n", done.stderr)
        done = self.belljar("exec", "--template", "tiny", "--", "sh", "-c", "PATH=/usr/bin:/bin; sudo sh -c 'echo $HOME'")
        self.assertEqual(done.stdout, b"/root\n", done.stderr)
        self.assertEqual(self.belljar("template", "rm", "tiny").returncode, 0)
        self.assertNotIn(b"tiny", self.belljar("template", "list").stdout)

    def test_a_command_starts_where_the_image_says(self):
        # It started at home, though docs/templates.md says that the image's directory becomes the default.
        layer, image = os.path.join(self.scratch, "layer.tar.gz"), os.path.join(self.scratch, "image.tar")
        root_archive(layer)
        for name, directory, start in (("placed", "/etc", "/etc"), ("misplaced", "/not/there", "/home/user")):
            image_archive(image, layer, {"architecture": "amd64", "os": "linux", "config": {"WorkingDir": directory}})
            done = self.belljar("template", "import", name, image)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.belljar("exec", "--template", name, "--", "sh", "-c", "echo $PWD")
            self.assertEqual(done.stdout.decode().strip(), start, done.stderr)
        done = self.belljar("exec", "--template", "placed", "--workdir", "/usr", "--", "sh", "-c", "echo $PWD")
        self.assertEqual(done.stdout, b"/usr\n", done.stderr)

    def test_a_damaged_archive_is_refused_and_leaves_nothing(self):
        whole = os.path.join(self.scratch, "whole.tar.gz")
        root_archive(whole)
        with open(whole, "rb") as file:
            path = self.write("cut.tar.gz", file.read()[:5000])
        done = self.belljar("template", "import", "cut", path)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("damaged", done.stderr.decode())
        self.assertNotIn(b"cut", self.belljar("template", "list").stdout)
        folder = os.path.join(self.data, "templates")
        self.assertEqual([name for name in os.listdir(folder) if "import" in name], [])

    def test_what_is_no_archive_is_refused(self):
        done = self.belljar("template", "import", "junk", self.write("junk", bytes(1000)))
        self.assertNotEqual(done.returncode, 0)

    def test_a_bad_name_is_refused(self):
        self.assertEqual(self.belljar("template", "import", "../x", "/dev/null").returncode, 2)


if __name__ == "__main__":
    unittest.main()
