"""E2B's official Python SDK, unchanged, against Belljar: both its clients, the blocking one and the asynchronous one."""

import asyncio
import sys
import unittest
import urllib.request

from sdk import python_sdk, skip_without
from server_story import ServerStory


@skip_without("e2b")
class E2bPython(ServerStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.path.insert(0, python_sdk("e2b"))
        import e2b
        cls.e2b = e2b
        cls.options = {"api_key": cls.server.key, "api_url": cls.server.url, "sandbox_url": cls.server.url}

    def create(self, **fields):
        box = self.e2b.Sandbox.create(**fields, **self.options)
        self.addCleanup(box.kill)
        return box

    def test_commands_files_and_their_failures(self):
        box = self.create(metadata={"k 1": "v&1"}, envs={"CREATED": "yes"})
        done = box.commands.run("echo $CREATED; whoami; echo wrong >&2")
        self.assertEqual((done.stdout, done.stderr, done.exit_code), ("yes\nuser\n", "wrong\n", 0))
        with self.assertRaises(self.e2b.CommandExitException) as failed:
            box.commands.run("exit 3")
        self.assertEqual((failed.exception.exit_code, failed.exception.error), (3, "exit status 3"))
        with self.assertRaises(self.e2b.TimeoutException):
            box.commands.run("sleep 30", timeout=0.5)
        with self.assertRaises(self.e2b.AuthenticationException):
            box.commands.run("true", user="nobody-here")
        self.assertEqual(box.files.write("dir/a.txt", "content").path, "/home/user/dir/a.txt")
        self.assertEqual(box.files.read("dir/a.txt"), "content")
        self.assertEqual(bytes(box.files.read("dir/a.txt", format="bytes")), b"content")
        self.assertEqual([entry.name for entry in box.files.list("dir")], ["a.txt"])
        info = box.files.get_info("dir/a.txt")
        self.assertEqual((info.size, info.permissions, info.owner), (7, "-rw-r--r--", "user"))
        self.assertTrue(box.files.make_dir("made"))
        self.assertFalse(box.files.make_dir("made"))
        self.assertEqual(box.files.rename("dir/a.txt", "made/b.txt").path, "/home/user/made/b.txt")
        box.files.remove("made")
        self.assertFalse(box.files.exists("made"))
        with self.assertRaises(self.e2b.NotFoundException):
            box.files.read("made/b.txt")

    def test_a_user_who_was_added_inside_is_known(self):
        box = self.create()
        box.commands.run("useradd -m added", user="root")
        self.assertEqual(box.commands.run("whoami; pwd", user="added").stdout, "added\n/home/added\n")
        self.assertEqual(box.files.write("his.txt", "1", user="added").path, "/home/added/his.txt")
        self.assertEqual(box.files.get_info("his.txt", user="added").owner, "added")
        self.assertEqual(box.files.read("his.txt", user="added"), "1")
        self.assertTrue(box.files.make_dir("his", user="added"))
        box.commands.run("userdel added", user="root")
        with self.assertRaises(self.e2b.AuthenticationException):
            box.commands.run("true", user="added")
        with self.assertRaises(self.e2b.AuthenticationException):
            box.files.list("/", user="added")

    def test_a_link_is_told_to_be_one(self):
        box = self.create()
        box.commands.run("mkdir l; echo x > l/real; ln -s real l/link")
        self.assertEqual([entry.type.value for entry in box.files.list("l")], ["symlink", "file"])
        link = box.files.get_info("l/link")
        self.assertEqual((link.type.value, link.symlink_target), ("symlink", "/home/user/l/real"))

    def test_background_commands_are_fed_listed_and_killed(self):
        box = self.create()
        cat = box.commands.run("cat", background=True, stdin=True, timeout=0)
        box.commands.send_stdin(cat.pid, "to the cat\n")
        self.assertIn(cat.pid, [process.pid for process in box.commands.list()])
        box.commands.close_stdin(cat.pid)
        self.assertEqual(cat.wait().stdout, "to the cat\n")
        sleeper = box.commands.run("sleep 100", background=True)
        self.assertTrue(sleeper.kill())
        self.assertFalse(box.commands.kill(999999))

    def test_a_watched_directory_keeps_its_events_until_they_are_fetched(self):
        box = self.create()
        box.files.make_dir("watched")
        handle = box.files.watch_dir("watched")
        box.files.write("watched/new.txt", "1")
        seen = []
        while not any(event.name == "new.txt" for event in seen):
            seen += handle.get_new_events()
        handle.stop()
        with self.assertRaises(self.e2b.NotFoundException):
            box.files.watch_dir("nothing-here")

    def test_its_life(self):
        box = self.create(metadata={"of": "life"})
        info = box.get_info()
        self.assertEqual((info.sandbox_id, info.metadata), (box.sandbox_id, {"of": "life"}))
        box.set_timeout(600)
        self.assertGreater(box.get_info().end_at, info.end_at)
        self.assertGreater(len(box.get_metrics()), 0)
        listed = self.e2b.Sandbox.list(query=self.e2b.SandboxQuery(metadata={"of": "life"}), **self.options).next_items()
        self.assertEqual([one.sandbox_id for one in listed], [box.sandbox_id])
        box.files.write("kept", "kept")
        box.pause()
        self.assertFalse(box.is_running())
        again = self.e2b.Sandbox.connect(box.sandbox_id, **self.options)
        self.assertEqual(again.files.read("kept"), "kept")
        self.assertTrue(box.is_running())
        self.assertTrue(box.kill())
        self.assertFalse(box.kill())
        with self.assertRaises(self.e2b.NotFoundException):
            self.e2b.Sandbox.connect(box.sandbox_id, **self.options)

    def test_signed_links(self):
        box = self.create()
        box.files.write("signed.txt", "signed!")
        with urllib.request.urlopen(box.download_url("signed.txt", use_signature_expiration=60)) as answer:
            self.assertEqual(answer.read(), b"signed!")

    def test_the_asynchronous_client(self):
        async def story():
            box = await self.e2b.AsyncSandbox.create(**self.options)
            try:
                done = await box.commands.run("echo hi")
                await box.files.write("a", "b")
                events = []
                handle = await box.files.watch_dir(".", on_event=events.append)
                await box.files.write("c", "d")
                while not any(event.name == "c" for event in events):
                    await asyncio.sleep(0.02)
                await handle.stop()
                terminal = []
                pty = await box.pty.create(self.e2b.PtySize(rows=24, cols=80), on_data=lambda data: terminal.append(bytes(data)))
                await box.pty.send_stdin(pty.pid, b"echo $((40+2)); exit\n")
                await pty.wait()
                return done.stdout, await box.files.read("a"), b"".join(terminal)
            finally:
                await box.kill()

        output, text, terminal = asyncio.run(story())
        self.assertEqual((output, text), ("hi\n", "b"))
        self.assertIn(b"42", terminal)


if __name__ == "__main__":
    unittest.main()
