"""Images pulled from a real registry on loopback: what they become, what is shared, what is refused."""

import os
import shutil
import unittest

import image_registry
from story import until
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
        before = set(self.images())
        second = image_registry.small_root({"etc/motd": b"from the second layer\n", "etc/.wh.gone": b""})
        self.registry.push("small", "latest", [self.root, second],
                           {"Env": ["GREETING=hi", "PATH=/usr/bin:/bin"], "WorkingDir": "/etc", "User": "root"})
        done = self.belljar("template", "--server", self.server.url, "pull", "small", self.image("small"))
        self.assertEqual(done.returncode, 0, done.stderr)
        sandbox = self.create(template="small")
        self.assertEqual(self.output(sandbox, ["/bin/sh", "-c", "cat motd; echo $GREETING; id -u"]), "from the second layer\nhi\n0\n")
        _, lines, _ = self.build("small-again", from_image=self.image("small"))
        self.assertTrue(any("is here already" in line for line in lines), lines)
        self.assertEqual(len(set(self.images()) - before), 1)

    def images(self):
        folder = os.path.join(self.data, "images")
        return sorted(name for name in os.listdir(folder) if not name.startswith(".")) if os.path.isdir(folder) else []

    def test_a_sandbox_is_made_of_an_image_that_is_pulled_once(self):
        digest = self.registry.push("direct", "v1", [image_registry.small_root({"etc/motd": b"direct\n"})], {"Env": ["A=b"]})
        created = self.belljar("sandbox", "create", "--server", self.server.url, "--image", self.image("direct", "v1"))
        self.assertEqual(created.returncode, 0, created.stderr)
        self.assertIn(b"unpacking", created.stderr)
        sandbox = created.stdout.decode().strip()
        self.assertEqual(self.output(sandbox, ["/bin/sh", "-c", "cat /etc/motd; echo $A"]), "direct\nb\n")
        before = self.images()
        again = self.create(image=self.image("direct", "v1"))
        self.assertEqual(self.output(again, ["/bin/sh", "-c", "cat /etc/motd"]), "direct\n")
        self.assertEqual(self.images(), before)
        pulls = [event for event in self.api("GET", "/v1/audit?limit=1000") if event["action"] == "template.pull"]
        self.assertEqual(len(pulls), 1, pulls)

    def test_a_tag_that_moves_is_followed(self):
        self.registry.push("moving", "latest", [image_registry.small_root({"etc/motd": b"old\n"})])
        old = self.create(image=self.image("moving"))
        self.registry.push("moving", "latest", [image_registry.small_root({"etc/motd": b"new\n"})])
        new = self.create(image=self.image("moving"))
        for sandbox, text in ((old, "old\n"), (new, "new\n")):
            self.assertEqual(self.output(sandbox, ["/bin/sh", "-c", "cat /etc/motd"]), text)

    def test_a_sandbox_of_what_is_no_image_is_refused_with_the_reason(self):
        for fields, words in (({"image": self.image("nowhere")}, "no such image"), ({"image": "10.1.2.3/x"}, "not public"),
                              ({"image": "no image"}, "named"), ({"image": self.image("small"), "template": "base"}, "not of both")):
            status, _, text = self.server.request("POST", "/v1/sandboxes", fields)
            self.assertEqual(status, 422, text)
            self.assertIn(words, text.decode())
        done = self.belljar("sandbox", "create", "--server", self.server.url, "--image", self.image("nowhere"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no such image", done.stderr)

    def test_an_image_goes_when_nobody_uses_it_any_more(self):
        self.registry.push("passing", "latest", [image_registry.small_root({"etc/motd": b"passing\n"})])
        before = set(self.images())
        self.build("passing", from_image=self.image("passing"))
        (image,) = set(self.images()) - before
        sandbox = self.create(template="passing")
        self.api("DELETE", "/v1/templates/passing", expect=204)
        self.registry.push("other", "latest", [image_registry.small_root({"etc/motd": b"other\n"})])
        self.build("other", from_image=self.image("other"))
        self.api("DELETE", "/v1/templates/other", expect=204)
        until(lambda: len(set(self.images()) - before) == 1)  # the other one is gone
        self.assertIn(image, self.images())  # a sandbox lives on it
        self.assertEqual(self.output(sandbox, ["/bin/sh", "-c", "cat /etc/motd"]), "passing\n")
        self.api("DELETE", f"/v1/sandboxes/{sandbox}", expect=204)
        self.build("last", [], from_image=self.image("passing"))  # and is there for whoever comes before it is looked for
        self.api("DELETE", "/v1/templates/last", expect=204)
        until(lambda: image not in self.images())

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
