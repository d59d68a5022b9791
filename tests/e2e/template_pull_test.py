"""Images pulled from a real registry on loopback: what they become, what is shared, what is refused."""

import os
import shutil
import unittest

import image_registry
from template_builds_test import TemplateStory


@unittest.skipIf(image_registry.PROGRAM is None, "docker-registry is not installed")
class Pulls(TemplateStory):
    @classmethod
    def prepare(cls):
        cls.registry = image_registry.Registry(cls.scratch)
        cls.env = {"BELLJAR_REGISTRIES": cls.registry.place}
        cls.root = image_registry.small_root({"etc/motd": b"from the image\n"})

    @classmethod
    def tearDownClass(cls):
        cls.registry.stop()
        super().tearDownClass()

    def image(self, name, tag="latest"):
        return f"{self.registry.place}/{name}:{tag}"

    def test_an_image_becomes_a_template_with_its_defaults(self):
        second = image_registry.small_root({"etc/motd": b"from the second layer\n", "etc/.wh.gone": b""})
        self.registry.push("small", "latest", [self.root, second],
                           {"Env": ["GREETING=hi", "PATH=/usr/bin:/bin"], "WorkingDir": "/etc", "User": "root"})
        done = self.belljar("template", "--server", self.server.url, "pull", "small", self.image("small"))
        self.assertEqual(done.returncode, 0, done.stderr)
        sandbox = self.create(template="small")
        self.assertEqual(self.output(sandbox, ["/bin/sh", "-c", "cat motd; echo $GREETING; id -u"]), "from the second layer\nhi\n0\n")
        _, lines, _ = self.build("small-again", from_image=self.image("small"))
        self.assertTrue(any("is here already" in line for line in lines), lines)
        self.assertEqual(len([name for name in os.listdir(os.path.join(self.data, "images")) if not name.startswith(".")]), 1)

    def test_of_an_index_the_image_for_this_machine_is_taken(self):
        ours = self.registry.push("many", "amd64", [self.root])
        other = self.registry.push("many", "arm64", [image_registry.small_root({"etc/motd": b"wrong\n"})], architecture="arm64")
        self.registry.push_index("many", "latest", [other, ours])
        self.build("many", from_image=self.image("many"))
        self.assertEqual(self.output(self.create(template="many"), ["/bin/sh", "-c", "cat /etc/motd"]), "from the image\n")
        _, _, end = self.build("arm", expect="error", from_image=self.image("many", "arm64"))
        self.assertEqual(end["reason"]["step"], "base")
        self.assertIn("arm64", end["reason"]["message"])

    def test_steps_go_on_from_an_image(self):
        self.registry.push("ground", "v1", [self.root])
        self.build("above", [self.step("RUN", "echo more > /etc/more", "root")], from_image=self.image("ground", "v1"))
        self.assertEqual(self.output(self.create(template="above"), ["/bin/sh", "-c", "cat /etc/motd /etc/more"]), "from the image\nmore\n")

    def test_what_is_not_there_or_may_not_be_reached_is_refused(self):
        for image, words in ((self.image("nothing"), "no such image"), ("127.0.0.1:1/small", "listed"), ("10.1.2.3/small", "not public"),
                             ("169.254.169.254/x", "not public"), ("no image", "named")):
            _, _, end = self.build("refused", expect="error", from_image=image)
            self.assertEqual(end["reason"]["step"], "base")
            self.assertIn(words, end["reason"]["message"])
        self.assertFalse([name for name in os.listdir(os.path.join(self.data, "images")) if name.startswith(".pull")]
                         if os.path.isdir(os.path.join(self.data, "images")) else [])

    def test_a_registry_whose_layers_changed_under_their_digest_is_found_out(self):
        described = self.registry.push("swapped", "latest", [image_registry.small_root({"etc/motd": b"swapped\n"})])
        store = os.path.join(self.scratch, "registry/docker/registry/v2/blobs/sha256")
        for folder, _, names in os.walk(store):
            path = os.path.join(folder, "data")
            if "data" in names and os.path.getsize(path) > 100_000:
                with open(path, "r+b") as file:
                    file.seek(50_000)
                    file.write(b"\0\0\0\0")
        self.assertTrue(described["digest"])
        shutil.rmtree(os.path.join(self.data, "images/.blobs"), ignore_errors=True)
        _, _, end = self.build("swapped", expect="error", from_image=self.image("swapped"))
        self.assertIn("digest", end["reason"]["message"])


if __name__ == "__main__":
    unittest.main()
