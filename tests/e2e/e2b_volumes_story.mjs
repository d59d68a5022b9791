// E2B's official JavaScript SDK against Belljar: volumes, their files, and volumes in sandboxes.
import assert from "node:assert/strict";
import { check, e2b, tell } from "./e2b_checks.mjs";

const { Sandbox, Volume, VolumeError, VolumeNotFoundError, VolumePathNotFoundError } = e2b;
const text = (bytes) => Buffer.from(bytes).toString();

check("volumes are made, listed, connected to and destroyed", async () => {
  const volume = await Volume.create("story-life");
  assert(volume.volumeId && volume.token && volume.name === "story-life");
  assert((await Volume.list()).some((one) => one.volumeId === volume.volumeId && one.name === "story-life"));
  const info = await Volume.getInfo(volume.volumeId);
  assert.deepEqual([info.volumeId, info.name, info.token], [volume.volumeId, "story-life", volume.token]);
  const again = await Volume.connect(volume.volumeId);
  await again.writeFile("/a", "1");
  assert.equal(await volume.readFile("/a"), "1");
  await assert.rejects(Volume.create("story-life"), VolumeError);
  await assert.rejects(Volume.create("no name"), VolumeError);
  assert.equal(await Volume.destroy(volume.volumeId), true);
  assert.equal(await Volume.destroy(volume.volumeId), false);
  await assert.rejects(Volume.getInfo(volume.volumeId), VolumeNotFoundError);
  await assert.rejects(volume.readFile("/a"), VolumePathNotFoundError);
});
check("files are written and read in every form", async (volume) => {
  const stat = await volume.writeFile("/forms.txt", "text ä");
  assert.deepEqual([stat.name, stat.path, stat.type, stat.size], ["forms.txt", "/forms.txt", "file", 7]);
  assert(stat.atime instanceof Date && stat.mtime instanceof Date && stat.ctime instanceof Date);
  assert(Math.abs(stat.mtime - Date.now()) < 3600000);
  assert.equal(await volume.readFile("/forms.txt"), "text ä");
  assert.equal(text(await volume.readFile("forms.txt", { format: "bytes" })), "text ä");
  assert.equal(await (await volume.readFile("/forms.txt", { format: "blob" })).text(), "text ä");
  const big = Buffer.alloc(3 << 20, 7);
  await volume.writeFile("/big", new Blob([big]).stream());
  let size = 0;
  for await (const piece of await volume.readFile("/big", { format: "stream" })) size += piece.length;
  assert.equal(size, big.length);
  await volume.writeFile("/buffer", new Uint8Array([1, 2, 3]).buffer);
  assert.deepEqual([...(await volume.readFile("/buffer", { format: "bytes" }))], [1, 2, 3]);
  await volume.writeFile("/empty", "");
  assert.equal(await volume.readFile("/empty"), "");
  assert.equal((await volume.readFile("/empty", { format: "bytes" })).length, 0);
});
check("what is there is replaced only by force, which makes directories, too", async (volume) => {
  await volume.writeFile("/once", "first");
  await assert.rejects(volume.writeFile("/once", "second"), VolumeError);
  assert.equal(await volume.readFile("/once"), "first");
  await volume.writeFile("/once", "2", { force: true });
  assert.equal(await volume.readFile("/once"), "2");
  await assert.rejects(volume.writeFile("/not/there", "x"), VolumePathNotFoundError);
  await volume.writeFile("/not/there", "x", { force: true });
  assert.equal((await volume.getInfo("/not")).type, "directory");
});
check("directories are made and listed, as deep as is asked", async (volume) => {
  const made = await volume.makeDir("/d");
  assert.deepEqual([made.name, made.path, made.type], ["d", "/d", "directory"]);
  await assert.rejects(volume.makeDir("/d"), VolumeError);
  assert.equal((await volume.makeDir("/d", { force: true })).type, "directory");
  await assert.rejects(volume.makeDir("/d/e/f"), VolumePathNotFoundError);
  await volume.makeDir("/d/e/f", { force: true, mode: 0o700 });
  assert.equal((await volume.getInfo("/d/e/f")).mode, 0o700);
  await volume.writeFile("/d/e/file", "x");
  assert.deepEqual((await volume.list("/d")).map((one) => one.path), ["/d/e"]);
  assert.deepEqual((await volume.list("/d", { depth: 3 })).map((one) => one.path), ["/d/e", "/d/e/f", "/d/e/file"]);
  assert.deepEqual(await volume.list("/d/e/f"), []);
  await assert.rejects(volume.list("/nowhere"), VolumePathNotFoundError);
  await assert.rejects(volume.list("/d/e/file"), VolumeError);
  await assert.rejects(volume.list("/", { depth: 1000 }), VolumeError);
});
check("owners and modes are given and changed", async (volume) => {
  const made = await volume.writeFile("/owned", "x", { uid: 1234, gid: 4321, mode: 0o640 });
  assert.deepEqual([made.uid, made.gid, made.mode], [1234, 4321, 0o640]);
  const changed = await volume.updateMetadata("/owned", { mode: 0o600 });
  assert.deepEqual([changed.uid, changed.gid, changed.mode], [1234, 4321, 0o600]);
  const given = await volume.updateMetadata("/owned", { uid: 0, gid: 0 });
  assert.deepEqual([given.uid, given.gid, given.mode], [0, 0, 0o600]);
  await assert.rejects(volume.updateMetadata("/nowhere", { mode: 0o600 }), VolumePathNotFoundError);
  await assert.rejects(volume.updateMetadata("/owned", { uid: 70000 }), VolumeError);
});
check("what is there can be asked, and removed with all that is in it", async (volume) => {
  await volume.writeFile("/gone/a/b", "x", { force: true });
  assert.equal(await volume.exists("/gone/a/b"), true);
  await volume.remove("/gone");
  assert.equal(await volume.exists("/gone"), false);
  await assert.rejects(volume.remove("/gone"), VolumePathNotFoundError);
  await assert.rejects(volume.remove("/"), VolumeError);
  await assert.rejects(volume.getInfo("/gone"), VolumePathNotFoundError);
  assert.deepEqual([(await volume.getInfo("/")).type, (await volume.getInfo("/")).path], ["directory", "/"]);
});
check("a sandbox has the volume where it was mounted, and both see what the other does", async (volume) => {
  await volume.writeFile("/from-outside", "hello");
  const box = await Sandbox.create({ volumeMounts: { "/mnt/by-object": volume } });
  try {
    assert.deepEqual((await box.getInfo()).volumeMounts, [{ name: volume.name, path: "/mnt/by-object" }]);
    assert.equal((await box.commands.run("cat /mnt/by-object/from-outside")).stdout, "hello");
    await box.commands.run("cd /mnt/by-object && echo -n inside > from-inside && echo -n more >> from-outside && ln -s from-inside link");
    assert.equal(await volume.readFile("/from-inside"), "inside");
    assert.equal(await volume.readFile("/from-outside"), "hellomore");
    const link = await volume.getInfo("/link");
    assert.deepEqual([link.type, link.target], ["symlink", "from-inside"]);
    assert.equal(await volume.readFile("/link"), "inside");
    await assert.rejects(Volume.destroy(volume.volumeId), /in use/);
    assert.equal(await box.files.read("/mnt/by-object/from-inside"), "inside");
  } finally { await box.kill(); }
  const other = await Sandbox.create({ volumeMounts: { "/data": volume.name } });
  try {
    assert.equal(await other.files.read("/data/from-inside"), "inside");
  } finally { await other.kill(); }
  await assert.rejects(Sandbox.create({ volumeMounts: { "/data": "no-such-volume" } }));
});

const volume = await Volume.create("story-files");
await tell(volume);
await Volume.destroy(volume.volumeId);
process.exit(0);
