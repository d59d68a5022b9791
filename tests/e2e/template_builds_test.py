"""Templates built from steps in the running server: what steps do, what is remembered, who may see what."""

import contextlib
import hashlib
import io
import json
import os
import sqlite3
import tarfile
import unittest

import image_registry
from package_index import PackageIndex
from sandbox_story import SandboxStory


def archive(files, links=None):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            if text is None:
                info.type = tarfile.DIRTYPE
                info.mode = 0o755
            else:
                info.size = len(text)
                info.mode = 0o640
            tar.addfile(info, io.BytesIO(text or b""))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type = tarfile.SYMTYPE
            info.linkname = target
            tar.addfile(info)
    return data.getvalue()


class TemplateStory(SandboxStory):
    def step(self, kind, *arguments, **more):
        return {"type": kind, "args": list(arguments), **more}

    def upload(self, files, key=None, **more):
        data = archive(files, **more)
        name = hashlib.sha256(data).hexdigest()
        status, _, text = self.server.request("PUT", f"/v1/templates/files/{name}", data, key)
        self.assertEqual(status, 200, text)
        return name

    def logs(self, template, build):
        connection, events = self.events("GET", f"/v1/templates/{template}/builds/{build}/logs")
        said = list(events)
        connection.close()
        return [data for name, data in said if name == "log"], [data for name, data in said if name == "end"][0]

    def build(self, name, steps=(), expect="ready", **fields):
        """(id, log lines, end) of a build that was waited for."""
        made = self.api("POST", "/v1/templates", {"name": name, "steps": list(steps), **fields})
        logs, end = self.logs(made["id"], made["build"]["id"])
        lines = [entry["message"] for entry in logs]
        self.assertEqual(end["status"], expect, (end, lines))
        return made["id"], lines, end


class Builds(TemplateStory):
    def test_steps_do_what_a_dockerfile_says(self):
        files = self.upload({"app": None, "app/main.py": b"print('hi')\n", "app/sub": None, "app/sub/x": b"x"})
        one = self.upload({"a.txt": b"one"})
        many = self.upload({"a.txt": b"one", "b.txt": b"two"})
        self.build("steps", [
            self.step("ENV", "GREETING", "hello"),
            self.step("ENV", "MORE", "${GREETING:-no} $HOME_OF_NOBODY."),
            self.step("WORKDIR", "/srv/app"),
            self.step("COPY", "app", ".", files=files),
            self.step("COPY", "a.txt", "/data/", files=one),
            self.step("COPY", "a.txt", "/plain", "root:root", "600", files=one),
            self.step("COPY", "*.txt", "/many/", files=many),
            self.step("RUN", "id -un > who; pwd > where; echo $GREETING > /tmp/greeting; ls -n /srv/app/main.py"),
            self.step("RUN", "id -un > /root-was-here", "root"),
            self.step("USER", "ada"),
            self.step("RUN", "id -un > ~/who; cd; pwd"),
        ])
        sandbox = self.create(template="steps")
        self.assertEqual(self.output(sandbox, "id -un; pwd; echo $GREETING; echo $MORE"), "ada\n/srv/app\nhello\nhello .\n")
        self.assertEqual(self.output(sandbox, "cat who where main.py sub/x /tmp/greeting", user="user"), "user\n/srv/app\nprint('hi')\nxhello\n")
        self.assertEqual(self.output(sandbox, "cat /root-was-here ~/who; echo ~"), "root\nada\n/home/ada\n")
        self.assertEqual(self.output(sandbox, "stat -c '%U %a' /srv/app /srv/app/main.py /data/a.txt"), "user 755\nuser 640\nuser 640\n")
        self.assertEqual(self.output(sandbox, "stat -c '%U %a' /plain", user="root"), "root 600\n")
        self.assertEqual(self.output(sandbox, "ls /many"), "a.txt\nb.txt\n")

    def test_a_path_of_the_template_is_that_of_steps_and_of_login_shells(self):
        _, lines, _ = self.build("pathed", [self.step("ENV", "PATH", "/opt/tool/bin:$PATH"), self.step("RUN", "echo PATH is $PATH")])
        self.assertTrue([line for line in lines if line.startswith("PATH is /opt/tool/bin:")], lines)
        said = self.output(self.create(template="pathed"), ["/bin/bash", "-l", "-c", "echo $PATH"])
        self.assertTrue(said.startswith("/opt/tool/bin:"), said)

    def test_a_step_makes_a_user_as_dockerfiles_do(self):
        self.build("maker", [self.step("RUN", "groupadd -r club && useradd -m -g club app", "root"), self.step("USER", "app"), self.step("RUN", "id -gn > ~/group")])
        self.assertEqual(self.output(self.create(template="maker"), "id -un; cat ~/group"), "app\nclub\n")

    def test_the_log_has_whole_lines_however_they_were_written(self):
        said = 'printf "Downloading "; sleep 0.3; printf "half "; sleep 0.3; echo done; printf "tail"'
        _, lines, _ = self.build("chatty", [self.step("RUN", said)])
        self.assertIn("Downloading half done", lines)
        self.assertIn("tail", lines)
        _, lines, _ = self.build("dying", [self.step("RUN", "printf lastwords; exit 1")], "error")
        self.assertIn("lastwords", lines)

    def test_a_working_directory_that_an_image_lacks_is_made(self):
        root = image_registry.small_root()
        layer = hashlib.sha256(root).hexdigest()
        config = json.dumps({"os": "linux", "architecture": "amd64", "config": {"User": "root", "WorkingDir": "/srv/app/here"},
                             "rootfs": {"type": "layers", "diff_ids": ["sha256:" + layer]}}).encode()
        manifest = json.dumps([{"Config": "config.json", "RepoTags": ["lacking:latest"], "Layers": ["layer.tar"]}]).encode()
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as tar:
            for name, content in (("manifest.json", manifest), ("config.json", config), ("layer.tar", root)):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        done = self.belljar("template", "import", "lacking", self.write("lacking.tar", data.getvalue()))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.output(self.create(template="lacking"), ["/bin/sh", "-c", "pwd; echo > here"]), "/srv/app/here\n")
        self.assertEqual(self.output(self.create(template="lacking", user="1234"), ["/bin/sh", "-c", "pwd"]), "/srv/app/here\n")
        self.build("placed", [self.step("RUN", "pwd > where; id -un >> where")], from_template="lacking")
        self.assertEqual(self.output(self.create(template="placed"), ["/bin/sh", "-c", "pwd; cat where"]), "/srv/app/here\n/srv/app/here\nroot\n")

    def test_what_was_done_before_is_remembered_by_its_contents(self):
        steps = [self.step("RUN", "date +%s%N > /tmp/first"), self.step("RUN", "cat /tmp/first > /tmp/second")]
        self.build("again", steps)
        first = self.output(self.create(template="again"), "cat /tmp/first /tmp/second")
        _, lines, _ = self.build("again-too", steps)
        self.assertEqual(len([line for line in lines if line.startswith("CACHED")]), 2, lines)
        self.assertEqual(self.output(self.create(template="again-too"), "cat /tmp/first /tmp/second"), first)
        _, lines, _ = self.build("again", [*steps[:1], self.step("RUN", "true")])
        self.assertEqual(len([line for line in lines if line.startswith("CACHED")]), 1, lines)
        _, lines, _ = self.build("again", steps, force=True)
        self.assertFalse([line for line in lines if line.startswith("CACHED")], lines)
        self.assertNotEqual(self.output(self.create(template="again"), "cat /tmp/first /tmp/second"), first)

    def test_a_step_that_fails_is_named_and_leaves_no_template(self):
        _, lines, end = self.build("broken", [self.step("RUN", "true"), self.step("RUN", "echo why >&2; exit 3")], "error")
        self.assertEqual(end["reason"]["step"], "2")
        self.assertIn("exit status 3", end["reason"]["message"])
        self.assertIn("why", lines)
        self.api("POST", "/v1/sandboxes", {"template": "broken"}, expect=409)
        _, _, end = self.build("nobody", [self.step("RUN", "whoami", "root123")], "error")
        self.assertEqual(end["reason"]["message"], "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'")

    def test_a_template_is_the_beginning_of_another(self):
        self.build("lower", [self.step("RUN", "echo lower > /tmp/file"), self.step("ENV", "A", "1")])
        self.build("upper", [self.step("RUN", "echo upper >> /tmp/file; rm -f /etc/hostname", "root"), self.step("ENV", "B", "$A-2")], from_template="lower")
        sandbox = self.create(template="upper")
        self.assertEqual(self.output(sandbox, "cat /tmp/file; echo $A $B; ls /etc/hostname 2>&1 | wc -l"), "lower\nupper\n1 1-2\n1\n")
        self.assertEqual(self.output(self.create(template="lower"), "cat /tmp/file"), "lower\n")

    def test_a_start_command_runs_in_each_sandbox_and_its_readiness_is_waited_for(self):
        self.build("served", start_command="sleep 0.3; touch /tmp/ready; exec sleep 1000", ready_command="[ -f /tmp/ready ]")
        sandbox = self.create(template="served")
        self.assertEqual(self.output(sandbox, "ls /tmp/ready; pgrep -x sleep | wc -l"), "/tmp/ready\n1\n")
        _, _, end = self.build("never", [self.step("RUN", "exit 1")], "error", start_command="true")
        self.assertEqual(end["reason"]["step"], "1")

    def test_hostile_archives_stay_in_their_sandbox(self):
        marker = os.path.join(self.scratch, "escaped")
        hostile = archive({"x": b"1"}, {"link": "/etc", "up": "../../../../.."})
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as tar:
            for name in (f"../../../../../..{marker}", f"/{marker}", "ok"):
                info = tarfile.TarInfo(name)
                info.size = 1
                tar.addfile(info, io.BytesIO(b"!"))
        for raw, source in ((data.getvalue(), "ok"), (hostile, "link"), (b"no archive at all", "x")):
            name = hashlib.sha256(raw).hexdigest()
            self.server.request("PUT", f"/v1/templates/files/{name}", raw)
            made = self.api("POST", "/v1/templates", {"name": "hostile", "steps": [self.step("COPY", source, "/tmp/in/", files=name)]})
            self.logs(made["id"], made["build"]["id"])
            self.assertFalse(os.path.exists(marker))
        self.assertTrue(os.path.isdir("/etc") and not os.path.islink("/etc"))

    def test_a_build_can_be_stopped_and_nothing_stays(self):
        made = self.api("POST", "/v1/templates", {"name": "slow", "steps": [self.step("RUN", "sleep 1000")]})
        connection, events = self.events("GET", f"/v1/templates/{made['id']}/builds/{made['build']['id']}/logs")
        for name, data in events:
            if name == "log" and data["message"].startswith("RUN"):
                break
        self.api("DELETE", f"/v1/templates/{made['id']}/builds/{made['build']['id']}", expect=204)
        end = [data for name, data in events if name == "end"][0]
        connection.close()
        self.assertEqual((end["status"], end["reason"]["message"]), ("error", "the build was cancelled"))

    def test_sandboxes_get_what_their_template_says_unless_they_say_more(self):
        self.build("sized", cpus=0.5, memory_bytes=200 << 20)
        limits = self.api("GET", "/v1/sandboxes/" + self.create(template="sized"))["limits"]
        self.assertEqual((limits["cpus"], limits["memory_bytes"]), (0.5, 200 << 20))
        limits = self.api("GET", "/v1/sandboxes/" + self.create(template="sized", limits={"cpus": 1}))["limits"]
        self.assertEqual(limits["cpus"], 1)

    def test_tags_mean_builds(self):
        template, _, first = self.build("tagged:v1", [self.step("RUN", "echo 1 > /tmp/v")])
        self.build("tagged:v2", [self.step("RUN", "echo 2 > /tmp/v")], tags=["default"])
        self.assertEqual(self.output(self.create(template="tagged"), "cat /tmp/v"), "2\n")
        self.assertEqual(self.output(self.create(template="tagged:v1"), "cat /tmp/v"), "1\n")
        self.assertEqual(self.api("POST", "/v1/templates/tagged:v1/tags", {"tags": ["stable"]})["build_id"], first["id"])
        self.assertEqual(self.output(self.create(template=f"{template}:stable"), "cat /tmp/v"), "1\n")
        self.api("DELETE", "/v1/templates/tagged/tags/stable", expect=204)
        self.api("POST", "/v1/sandboxes", {"template": "tagged:stable"}, expect=422)

    def test_another_organizations_template_does_not_exist_on_any_route(self):
        template, _, end = self.build("secret", [self.step("RUN", "echo mine > /tmp/mine")])
        done = self.belljar("key", "create", "--organization", "others", "--name", "other")
        self.assertEqual(done.returncode, 0, done.stderr)
        other = done.stdout.decode().split()[-1]
        build = f"/v1/templates/{template}/builds/{end['id']}"
        for method, path, body in (("GET", f"/v1/templates/{template}", None), ("DELETE", f"/v1/templates/{template}", None),
                                   ("PATCH", f"/v1/templates/{template}", {"public": True}), ("GET", build, None),
                                   ("DELETE", build, None), ("GET", build + "/logs", None),
                                   ("POST", f"/v1/templates/{template}/tags", {"tags": ["x"]}),
                                   ("DELETE", f"/v1/templates/{template}/tags/default", None),
                                   ("GET", f"/v1/templates/{template}/export", None),
                                   ("GET", f"/v1/templates/{template}/network", None),
                                   ("PUT", f"/v1/templates/{template}/network", {"policy": "open"}),
                                   ("DELETE", f"/v1/templates/{template}/network", None),
                                   ("GET", f"/templates/{template}", None), ("DELETE", f"/templates/{template}", None),
                                   ("GET", f"/templates/{template}/tags", None),
                                   ("GET", f"/templates/{template}/files/{'0' * 64}", None),
                                   ("PATCH", f"/v2/templates/{template}", {"public": True}),
                                   ("GET", f"/templates/{template}/builds/{end['id']}/status", None),
                                   ("GET", f"/templates/{template}/builds/{end['id']}/logs", None),
                                   ("POST", f"/v2/templates/{template}/builds/{end['id']}", {"steps": []}),
                                   ("POST", "/templates/tags", {"target": template, "tags": ["x"]}),
                                   ("DELETE", "/templates/tags", {"name": template, "tags": ["default"]}),
                                   ("GET", "/templates/aliases/secret", None)):
            status, _, text = self.server.request(method, path, body, other)
            self.assertEqual(status, 404, (method, path, text))
        for name in ("secret", template):
            self.api("POST", "/v1/sandboxes", {"template": name}, expect=422, key=other)
        self.assertNotIn(template, str(self.api("GET", "/v1/templates", key=other)))
        self.api("PATCH", f"/v1/templates/{template}", {"public": True})
        sandbox = self.create(template=template, key=other)
        self.assertEqual(self.run_in(sandbox, "cat /tmp/mine", key=other)["stdout"], "mine\n")
        status, _, _ = self.server.request("DELETE", f"/v1/templates/{template}", None, other)
        self.assertEqual(status, 404)

    def test_a_template_is_exported_and_imported_again(self):
        root = self.write("root.tar", image_registry.small_root({"etc/motd": b"small\n"}))
        done = self.belljar("template", "import", "tiny", root)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.build("packed", [self.step("RUN", "echo kept > /opt/kept", "root"), self.step("ENV", "A", "b")], from_template="tiny")
        connection, events = self.events("GET", "/v1/templates/packed/export")
        said = list(events)
        connection.close()
        self.assertEqual([name for name, _ in said if name != "progress"], ["end"], said)  # nothing of the machine's to tell of
        archive = f"/v1/templates/packed/exports/{said[-1][1]['export_id']}"
        status, _, data = self.server.request("GET", archive)
        self.assertEqual((status, len(data)), (200, said[-1][1]["size_bytes"]))
        self.assertIn("manifest.json", tarfile.open(fileobj=io.BytesIO(data)).getnames())
        other = json.loads(self.belljar("key", "create", "--organization", "curious", "--json").stdout)["key"]
        self.assertEqual(self.server.request("GET", archive, None, other)[0], 404)
        path = os.path.join(self.scratch, "packed.tar")
        done = self.belljar("template", "--server", self.server.url, "export", "packed", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.belljar("template", "import", "unpacked", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.output(self.create(template="unpacked"), ["/bin/sh", "-c", "cat /etc/motd /opt/kept; echo $A"]), "small\nkept\nb\n")

    def test_the_command_builds_a_directory_shows_lists_and_removes(self):
        folder = os.path.join(self.scratch, "context")
        os.makedirs(os.path.join(folder, "src"))
        for name, text in (("Belljarfile", "FROM base\nWORKDIR /app\nCOPY src .\nRUN cat main > copied\nCMD sleep 1000\n"), ("src/main", "text\n")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        template = ("template", "--server", self.server.url)
        done = self.belljar(*template, "build", "fromdir", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"[3] RUN cat main", done.stderr)
        self.assertIn(b"fromdir", self.belljar(*template, "list").stdout)
        self.assertIn(b'"ready"', self.belljar(*template, "show", "fromdir").stdout)
        self.assertEqual(self.output(self.create(template="fromdir"), "cat copied"), "text\n")
        for name, text in ((".dockerignore", "# not these\n*.log\n**/secret\n!src/deep/secret\n"), ("src/a.log", ""), ("top.log", ""),
                           ("src/secret", ""), ("src/deep/secret", ""), ("src/deep/x.log", "")):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        with open(os.path.join(folder, "Belljarfile"), "w") as file:
            file.write("FROM base\nCOPY . /all\nCOPY src/ /src\n")
        done = self.belljar(*template, "build", "fromdir", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        copied = self.output(self.create(template="fromdir"), "cd /all && find . -type f | sort && stat -c %a . && cd /src && find . -type f | sort")
        self.assertEqual(copied.split(), ["./.dockerignore", "./Belljarfile", "./src/a.log", "./src/deep/secret", "./src/deep/x.log", "./src/main",
                                          "755", "./a.log", "./deep/secret", "./deep/x.log", "./main"])
        with open(os.path.join(folder, "Belljarfile"), "w") as file:
            file.write("FROM base\nCOPY *.log /all\n")
        self.assert_one_sentence(self.belljar(*template, "build", "fromdir", folder), 2, "leaves out all of top.log")
        with open(os.path.join(folder, "Belljarfile"), "w") as file:
            file.write("FROM base\nCOPY src/main /\n")
        done = self.belljar(*template, "build", "fromdir", folder, "--network", "allow:api.example.com:8443")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(self.belljar(*template, "network", "fromdir").stdout)
        self.assertEqual(shown["policy"], {"rules": [{"allow": "api.example.com", "ports": [8443]}]})
        self.assertEqual(json.loads(self.belljar(*template, "network", "fromdir", "packages").stdout)["policy"], "packages")
        self.assertEqual(self.belljar(*template, "network", "fromdir", '{"odd": 1}').returncode, 2)
        self.assertEqual(self.belljar(*template, "network", "fromdir", "--clear").returncode, 0)
        self.assertIsNone(json.loads(self.belljar(*template, "network", "fromdir").stdout)["policy"])
        self.assertEqual(self.belljar(*template, "rm", "fromdir").returncode, 0)
        self.assertNotIn(b"fromdir", self.belljar(*template, "list").stdout)
        actions = [event["action"] for event in self.audit(limit=200)]
        for action in ("template.build", "template.delete"):
            self.assertIn(action, actions)


class Packages(TemplateStory):
    @classmethod
    def prepare(cls):
        cls.index = PackageIndex()
        cls.index.add("tinytool")
        cls.env = {"PIP_INDEX_URL": f"http://127.0.0.1:{cls.index.port}/simple"}

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.index.close()

    def test_a_build_installs_from_the_index_of_the_machine_and_reaches_nothing_else(self):
        self.build("packages", [
            self.step("RUN", "python3 -m venv ~/env && ~/env/bin/pip install --no-input --quiet tinytool"),
            self.step("RUN", "curl -sS -m 5 http://127.0.0.1:1/ 2>/dev/null || curl -sS -m 5 http://example.org/ && exit 1; true")])
        self.assertEqual(self.output(self.create(template="packages"), "~/env/bin/python -c 'import tinytool; print(1)'"), "1\n")


class SecretIndex(TemplateStory):
    env = {"PIP_INDEX_URL": "http://reader:pa55word@127.0.0.1:1/simple"}

    def test_a_step_does_not_see_what_is_secret_about_the_index(self):
        _, lines, _ = self.build("curious", [self.step("RUN", "env; cat /etc/pip.conf ~/.pip/pip.conf ~/.npmrc 2>/dev/null; true")])
        self.assertFalse([line for line in lines if "pa55word" in line], lines)


class DeadServers(TemplateStory):
    def test_a_build_whose_server_died_is_told_to_have_failed(self):
        from server_story import Server
        made = self.api("POST", "/v1/templates", {"name": "cut", "steps": [self.step("RUN", "sleep 1000")]})
        self.server.kill()
        type(self).server = Server(self.data, self.scratch)
        build = self.api("GET", f"/v1/templates/cut/builds/{made['build']['id']}")
        self.assertEqual(build["status"], "error")
        self.assertIn("server ended", build["reason"]["message"])

    def test_steps_that_nothing_was_built_on_for_long_are_forgotten_with_what_they_wrote(self):
        from server_story import Server
        self.build("short-lived", [self.step("RUN", "echo much > /tmp/much")])
        self.api("DELETE", "/v1/templates/short-lived", expect=204)
        (layer,) = os.listdir(os.path.join(self.data, "layers"))
        self.server.kill()
        with contextlib.closing(sqlite3.connect(os.path.join(self.data, "belljar.db"))) as database, database:
            database.execute("UPDATE template_step_cache SET used_at = used_at - 8 * 24 * 3600 * 1000000")
        type(self).server = Server(self.data, self.scratch)
        self.assertNotIn(layer, os.listdir(os.path.join(self.data, "layers")))


if __name__ == "__main__":
    unittest.main()
