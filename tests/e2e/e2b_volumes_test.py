"""E2B's volumes with its official SDKs: JavaScript's (e2b_volumes_story.mjs) and both of Python's clients."""

import asyncio
import io
import sys
import unittest
from unittest import mock

from e2b_node_story import E2bNodeStory
from sdk import python_sdk, skip_without, skip_without_node
from server_story import ServerStory


@skip_without_node("e2b")
class E2bVolumesJavaScript(E2bNodeStory):
    def test_volumes(self):
        self.tell("e2b_volumes_story.mjs")


@skip_without("e2b")
class E2bVolumesPython(ServerStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.path.insert(0, python_sdk("e2b"))
        import e2b
        cls.e2b = e2b
        cls.options = {"api_key": cls.server.key, "api_url": cls.server.url}
        cls.variables = mock.patch.dict("os.environ", {"E2B_VOLUME_API_URL": cls.server.url})
        cls.variables.start()

    @classmethod
    def tearDownClass(cls):
        cls.variables.stop()
        super().tearDownClass()

    def volume(self, name):
        volume = self.e2b.Volume.create(name, **self.options)
        self.addCleanup(lambda: self.e2b.Volume.destroy(volume.volume_id, **self.options))
        return volume

    def test_its_life(self):
        volume = self.volume("py-life")
        self.assertIn(volume.volume_id, [one.volume_id for one in self.e2b.Volume.list(**self.options)])
        info = self.e2b.Volume.get_info(volume.volume_id, **self.options)
        self.assertEqual((info.name, info.token), ("py-life", volume.token))
        self.assertEqual(self.e2b.Volume.connect(volume.volume_id, **self.options).name, "py-life")
        with self.assertRaises(self.e2b.VolumeException):
            self.e2b.Volume.create("py-life", **self.options)
        self.assertTrue(self.e2b.Volume.destroy(volume.volume_id, **self.options))
        self.assertFalse(self.e2b.Volume.destroy(volume.volume_id, **self.options))
        with self.assertRaises(self.e2b.NotFoundException):
            self.e2b.Volume.get_info(volume.volume_id, **self.options)

    def test_its_files(self):
        volume = self.volume("py-files")
        written = volume.write_file("/a.txt", "content")
        self.assertEqual((written.name, written.path, written.type.value, written.size), ("a.txt", "/a.txt", "file", 7))
        self.assertEqual(volume.read_file("/a.txt"), "content")
        self.assertEqual(volume.read_file("/a.txt", format="bytes"), b"content")
        volume.write_file("/large", io.BytesIO(b"x" * 3_000_000))
        self.assertEqual(sum(len(piece) for piece in volume.read_file("/large", format="stream")), 3_000_000)
        with self.assertRaises(self.e2b.VolumeException):
            volume.write_file("/a.txt", "again")
        volume.write_file("/a.txt", "again", force=True)
        self.assertEqual(volume.read_file("/a.txt"), "again")
        volume.make_dir("/d/e", force=True)
        self.assertEqual([one.path for one in volume.list("/", depth=2)], ["/a.txt", "/d", "/d/e", "/large"])
        changed = volume.update_metadata("/a.txt", uid=5, gid=6, mode=0o600)
        self.assertEqual((changed.uid, changed.gid, changed.mode), (5, 6, 0o600))
        self.assertTrue(volume.exists("/d/e"))
        volume.remove("/d")
        self.assertFalse(volume.exists("/d"))
        for call in (volume.read_file, volume.list, volume.get_info, volume.remove):
            with self.assertRaises(self.e2b.NotFoundException):
                call("/d")

    def test_the_asynchronous_client(self):
        async def story():
            volume = await self.e2b.AsyncVolume.create("py-async", **self.options)
            try:
                await volume.write_file("/a", b"bytes")
                streamed = b"".join([piece async for piece in await volume.read_file("/a", format="stream")])
                return await volume.read_file("/a"), streamed, [one.name for one in await volume.list("/")]
            finally:
                await self.e2b.AsyncVolume.destroy(volume.volume_id, **self.options)

        self.assertEqual(asyncio.run(story()), ("bytes", b"bytes", ["a"]))


if __name__ == "__main__":
    unittest.main()
