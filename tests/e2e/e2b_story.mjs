// E2B's official JavaScript SDK against Belljar: commands, terminals, files and lives of sandboxes.
import assert from "node:assert/strict";
import { check, e2b, tell, until } from "./e2b_checks.mjs";

const { Sandbox, NotFoundError, SandboxNotFoundError, CommandExitError, TimeoutError, AuthenticationError, FileType,
  FilesystemEventType } = e2b;
const text = (bytes) => Buffer.from(bytes).toString();

check("a command gives its output and its end", async (box) => {
  const done = await box.commands.run("echo hello; echo wrong >&2");
  assert.deepEqual([done.stdout, done.stderr, done.exitCode], ["hello\n", "wrong\n", 0]);
});
check("a command that fails is an error with its output", async (box) => {
  await assert.rejects(box.commands.run("echo before; exit 3"), (error) => {
    assert(error instanceof CommandExitError);
    assert.deepEqual([error.exitCode, error.stdout, error.error], [3, "before\n", "exit status 3"]);
    return true;
  });
});
check("a command's variables, directory and user", async (box) => {
  const done = await box.commands.run("echo $A $CREATED $E2B_SANDBOX $E2B_SANDBOX_ID; pwd; whoami; echo $HOME $LOGNAME",
    { envs: { A: "1" }, cwd: "/tmp" });
  assert.equal(done.stdout, `1 yes true ${box.sandboxId}\n/tmp\nuser\n/home/user user\n`);
  assert.equal((await box.commands.run("echo [$A]; whoami", { user: "root" })).stdout, "[]\nroot\n");
});
check("a directory that is not there is a wrong argument", async (box) => {
  await assert.rejects(box.commands.run("true", { cwd: "/no/such" }), /cwd '\/no\/such' does not exist/);
});
check("a user who is not there is nobody", async (box) => {
  await assert.rejects(box.commands.run("true", { user: "nobody-here" }), /invalid username: 'nobody-here'/);
});
check("a command is killed when its time is over", async (box) => {
  await assert.rejects(box.commands.run("sleep 30", { timeoutMs: 500 }), TimeoutError);
});
check("a command in the background is fed, listed, connected to and killed", async (box) => {
  const cat = await box.commands.run("cat", { background: true, stdin: true });
  await box.commands.sendStdin(cat.pid, "to the cat\n");
  await until(() => cat.stdout === "to the cat\n");
  assert((await box.commands.list()).some((one) => one.pid === cat.pid && one.cmd === "/bin/bash"));
  await box.commands.closeStdin(cat.pid);
  assert.equal((await cat.wait()).exitCode, 0);
  const sleeper = await box.commands.run("sleep 100", { background: true });
  const again = await box.commands.connect(sleeper.pid);
  assert.equal(again.pid, sleeper.pid);
  assert.equal(await sleeper.kill(), true);
  const gone = await box.commands.run(`kill -0 ${sleeper.pid}`).catch((error) => error);
  assert.equal(gone.exitCode, 1);
  await assert.rejects(again.wait(), (error) => error.exitCode === -1 || /signal: killed/.test(error.message));
  assert.equal(await box.commands.kill(999999), false);
});
check("a process is listed as it was asked for", async (box) => {
  const sleeper = await box.commands.run("sleep 100", { background: true, envs: { Q: "1" }, cwd: "/tmp" });
  const listed = (await box.commands.list()).find((one) => one.pid === sleeper.pid);
  assert.deepEqual([listed.args, listed.envs, listed.cwd], [["-l", "-c", "sleep 100"], { Q: "1" }, "/tmp"]);
  await sleeper.kill();
});
check("a command's streams have names", async (box) => {
  for (const user of ["user", "root"]) {
    const done = await box.commands.run("echo out > /dev/stdout; echo wrong > /dev/stderr", { user });
    assert.deepEqual([done.stdout, done.stderr], ["out\n", "wrong\n"]);
  }
});
check("a command that nobody feeds reads nothing, and knows it", async (box) => {
  assert.equal((await box.commands.run("cat; readlink /proc/self/fd/0; cat /dev/stdin")).stdout, "/dev/null\n");
  const other = await Sandbox.create();
  await other.commands.run("rm /dev/null && mkfifo /dev/null", { user: "root" }).catch(() => {});
  assert.equal((await other.commands.run("cat; echo ended", { timeoutMs: 10000 })).stdout, "ended\n");
  await other.kill();
});
check("pip installs for everybody, as the system is the sandbox's own", async (box) => {
  assert.match(await box.files.read("/etc/pip.conf"), /break-system-packages = true/);
});
check("output comes as it is written, in order, whole", async (box) => {
  let out = "";
  const done = await box.commands.run("for i in $(seq 20000); do echo line-$i; done", { onStdout: (piece) => { out += piece; } });
  assert.equal(out, done.stdout);
  assert.equal(out.split("\n").length, 20001);
});
check("what a command has others write is its output, and a server that it leaves behind can go on", async (box) => {
  const done = await box.commands.run("exec > >(sed s/in/out/) 2> >(tee log >&2); echo in; echo wrong >&2");
  assert.deepEqual([done.stdout, done.stderr], ["out\n", "wrong\n"]);
  await box.commands.run("while sleep 0.1; do echo still here; echo $((++i)) > ticks; done &");
  await until(async () => +(await box.commands.run("cat ticks || true")).stdout > 5);
});
check("a hundred commands at once", async () => {
  const box = await Sandbox.create();
  const done = await Promise.all(Array.from({ length: 100 }, (_, i) => box.commands.run(`sleep 1; echo ${i}`)));
  assert.deepEqual(done.map((one) => one.stdout), done.map((_, i) => `${i}\n`));
  const quick = await Promise.all(Array.from({ length: 300 }, (_, i) => box.commands.run(`echo ${i}`)));
  assert.deepEqual(quick.map((one) => one.stdout), quick.map((_, i) => `${i}\n`));
  await box.kill();
});
check("a terminal takes input and sizes", async (box) => {
  let out = "";
  const terminal = await box.pty.create({ cols: 80, rows: 24, onData: (data) => { out += text(data); }, timeoutMs: 0 });
  await box.pty.resize(terminal.pid, { cols: 111, rows: 33 });
  await box.pty.sendInput(terminal.pid, new TextEncoder().encode("echo $((40+2)); stty size; exit 5\n"));
  const end = await terminal.wait().catch((error) => error);
  assert.equal(end.exitCode, 5);
  assert.match(out, /42[^]*33 111/);
});
check("files are written, read, listed, moved, removed", async (box) => {
  const written = await box.files.write("dir/a.txt", "content ä");
  assert.deepEqual([written.name, written.path, written.type], ["a.txt", "/home/user/dir/a.txt", "file"]);
  assert.equal(await box.files.read("dir/a.txt"), "content ä");
  assert.equal(text(await box.files.read("dir/a.txt", { format: "bytes" })), "content ä");
  assert.equal(await box.files.exists("dir/a.txt"), true);
  assert.equal(await box.files.exists("dir/b.txt"), false);
  const list = await box.files.list("dir");
  assert.deepEqual(list.map((one) => [one.name, one.type, one.path]), [["a.txt", FileType.FILE, "/home/user/dir/a.txt"]]);
  const info = await box.files.getInfo("dir/a.txt");
  assert.deepEqual([info.size, info.mode, info.permissions, info.owner, info.group], [10, 0o644, "-rw-r--r--", "user", "user"]);
  assert(info.modifiedTime instanceof Date);
  assert.equal(await box.files.makeDir("dir/deep/er"), true);
  assert.equal(await box.files.makeDir("dir/deep/er"), false);
  const moved = await box.files.rename("dir/a.txt", "dir/deep/new.txt");
  assert.equal(moved.path, "/home/user/dir/deep/new.txt");
  assert.deepEqual((await box.files.list("dir", { depth: 3 })).map((one) => one.path),
    ["/home/user/dir/deep", "/home/user/dir/deep/er", "/home/user/dir/deep/new.txt"]);
  await box.files.remove("dir");
  assert.equal(await box.files.exists("dir"), false);
  await box.files.remove("dir");
  await assert.rejects(box.files.read("dir/a.txt"), NotFoundError);
  await assert.rejects(box.files.list("dir"), NotFoundError);
  await assert.rejects(box.files.rename("none", "other"), NotFoundError);
});
check("a listing is whole, or refused", async (box) => {
  await box.commands.run("mkdir many; cd many; seq 10000 | xargs touch; setfattr -n user.e2b.a -v b 7; ln -s 8 link; rm 9");
  const listed = await box.files.list("many");
  assert.equal(new Set(listed.map((one) => one.name)).size, 10000);
  assert.deepEqual(listed.find((one) => one.name === "7").metadata, { a: "b" });
  assert.equal(listed.find((one) => one.name === "link").symlinkTarget, "/home/user/many/8");
  await box.commands.run("touch many/9");
  await assert.rejects(box.files.list("many"), /more than 10000 entries/);
  await box.files.remove("many");
});
check("many files at once, streams, gzip", async (box) => {
  const many = await box.files.write([{ path: "/tmp/1.txt", data: "one" }, { path: "two.txt", data: new Blob(["two"]).stream() }]);
  assert.deepEqual(many.map((one) => one.path), ["/tmp/1.txt", "/home/user/two.txt"]);
  assert.equal(await box.files.read("two.txt"), "two");
  await box.files.write("packed.txt", "x".repeat(100000), { gzip: true });
  assert.equal((await box.files.read("packed.txt", { gzip: true })).length, 100000);
  const stream = await box.files.read("packed.txt", { format: "stream" });
  let size = 0;
  for await (const piece of stream) size += piece.length;
  assert.equal(size, 100000);
  await box.files.write("empty.txt", "");
  assert.equal(await box.files.read("empty.txt"), "");
  const big = Buffer.alloc(8 << 20, 7);
  await box.files.write("big.bin", new Blob([big]));
  assert.equal(Buffer.compare(Buffer.from(await box.files.read("big.bin", { format: "bytes" })), big), 0);
});
check("what a user may not write, his files still can, and are his", async (box) => {
  await box.files.write("/0/x.txt", "root's place");
  assert.equal((await box.commands.run("stat -c %U:%G:%a /0 /0/x.txt")).stdout, "user:user:755\nuser:user:644\n");
  await box.files.write("/etc/by-root", "r", { user: "root" });
  assert.equal((await box.commands.run("stat -c %U /etc/by-root")).stdout, "root\n");
});
check("links are told by what they lead to", async (box) => {
  await box.commands.run("mkdir -p l; echo x > l/real; ln -s real l/link; ln -s nowhere l/lost");
  const link = await box.files.getInfo("l/link");
  assert.deepEqual([link.type, link.symlinkTarget, link.permissions], [FileType.FILE, "/home/user/l/real", "Lrwxrwxrwx"]);
  assert.deepEqual((await box.files.list("l")).map((one) => one.name), ["link", "real"]);
});
check("metadata stays with a file", async (box) => {
  await box.files.write("noted.txt", "1", { metadata: { author: "me" } });
  assert.deepEqual((await box.files.getInfo("noted.txt")).metadata, { author: "me" });
  await box.files.write("noted.txt", "2");
  assert.deepEqual((await box.files.getInfo("noted.txt")).metadata ?? {}, {});
});
check("signed links read and write, until they expire", async (box) => {
  const up = await box.uploadUrl("signed.txt", { useSignatureExpiration: 10000 });
  const form = new FormData();
  form.append("file", "signed!");
  assert.equal((await fetch(up, { method: "POST", body: form })).status, 200);
  const down = await box.downloadUrl("signed.txt", { useSignatureExpiration: 10000 });
  assert.equal(await (await fetch(down)).text(), "signed!");
  assert.equal((await fetch(down.replace("signed.txt", "other.txt"))).status, 401);
  const over = await fetch(await box.downloadUrl("signed.txt", { useSignatureExpiration: -120000 }));
  assert.deepEqual([over.status, await over.json()], [401, { code: 401, message: "signature is already expired" }]);
});
check("a download is asked for if the file was changed, and a part of it if it was not", async (box) => {
  await box.files.write("dated.txt", "0123456789");
  const link = await box.downloadUrl("dated.txt");
  const whole = await fetch(link);
  const date = whole.headers.get("last-modified");
  assert.equal(await whole.text(), "0123456789");
  const old = new Date(Date.parse(date) - 60000).toUTCString();
  const ask = async (headers) => { const answer = await fetch(link, { headers }); return [answer.status, await answer.text()]; };
  assert.deepEqual(await ask({ "if-modified-since": date }), [304, ""]);
  assert.deepEqual(await ask({ "if-modified-since": old }), [200, "0123456789"]);
  assert.equal((await ask({ "if-unmodified-since": old }))[0], 412);
  assert.deepEqual(await ask({ range: "bytes=2-4", "if-range": date }), [206, "234"]);
  assert.deepEqual(await ask({ range: "bytes=2-4", "if-range": old }), [200, "0123456789"]);
});
check("a watched directory tells what changes, below it too", async (box) => {
  await box.files.makeDir("watched/sub");
  const seen = [];
  const handle = await box.files.watchDir("watched", (event) => seen.push(event), { recursive: true });
  await box.files.write("watched/sub/new.txt", "1");
  await until(() => seen.some((one) => one.name === "sub/new.txt" && one.type === FilesystemEventType.WRITE));
  await box.files.remove("watched/sub/new.txt");
  await until(() => seen.some((one) => one.name === "sub/new.txt" && one.type === FilesystemEventType.REMOVE));
  await handle.stop();
  await assert.rejects(box.files.watchDir("nothing-here", () => {}), NotFoundError);
});
check("a watch of a directory that is removed goes on, and ends with its sandbox", async () => {
  const box = await Sandbox.create();
  const seen = [];
  const exits = [];
  await box.files.makeDir("gone");
  await box.files.watchDir("gone", (event) => seen.push(event), { timeoutMs: 0, onExit: (error) => exits.push(error) });
  await box.files.remove("gone");
  await until(() => seen.length > 0);
  await box.files.exists("gone");
  assert.equal(exits.length, 0);
  await box.kill();
  await until(() => exits.length > 0);
  assert(exits[0] instanceof TimeoutError, String(exits[0]));
});
check("what goes in and out of a sandbox ends with it", async () => {
  const box = await Sandbox.create();
  await box.commands.run("head -c 200000000 /dev/zero > large");
  const reader = (await box.files.read("large", { format: "stream" })).getReader();
  await reader.read();
  let pieces = 0;
  const upload = box.files.write("slow", new ReadableStream({ async pull(to) {
    await new Promise((go) => setTimeout(go, 20));
    if (++pieces > 200) to.close(); else to.enqueue(new Uint8Array(1 << 20));
  } })).catch((error) => error);
  await until(() => pieces > 10);
  await box.kill();
  const drain = async () => { for (;;) if ((await reader.read()).done) return "all of it"; };
  assert.notEqual(await drain().catch((error) => error), "all of it");
  assert((await upload) instanceof TimeoutError, String(await upload));
});
check("a large upload that is refused is told why", async (box) => {
  const large = () => new Blob([Buffer.alloc(48 << 20)]);
  await box.files.makeDir("taken");
  for (const useOctetStream of [false, true]) {
    await assert.rejects(box.files.write("taken", large(), { useOctetStream }), e2b.InvalidArgumentError);
    await assert.rejects(box.files.write("of-nobody", large(), { useOctetStream, user: "nobody-here" }), AuthenticationError);
  }
});
check("names with a backslash stay as they are", async (box) => {
  const written = await box.files.write([{ path: "back\\slash", data: "1" }, { path: "quo\"te", data: "2" }]);
  assert.deepEqual(written.map((one) => one.name), ["back\\slash", "quo\"te"]);
});
check("its information, its timeout, its metrics", async (box) => {
  const info = await box.getInfo();
  assert.deepEqual([info.sandboxId, info.metadata, info.state], [box.sandboxId, { "k 1": "v&1" }, "running"]);
  assert(info.endAt > info.startedAt && info.envdVersion && info.cpuCount >= 1 && info.memoryMB > 0);
  await box.setTimeout(600000);
  const longer = (await box.getInfo()).endAt;
  assert(longer - info.endAt > 100000);
  await Sandbox.connect(box.sandboxId, { timeoutMs: 1000 });
  assert.equal((await box.getInfo()).endAt.getTime(), longer.getTime());
  const metrics = await box.getMetrics();
  assert(metrics.length > 0 && metrics[0].memTotal > 0 && metrics[0].diskTotal > 0 && metrics[0].cpuCount >= 1);
  assert.equal(await box.isRunning(), true);
});
check("sandboxes are listed by metadata, state and template, in pages", async (box) => {
  const other = await Sandbox.create({ metadata: { "k 1": "v&1", second: "yes" } });
  try {
    const pages = Sandbox.list({ query: { metadata: { "k 1": "v&1" }, state: ["running"] }, limit: 1 });
    const first = await pages.nextItems();
    assert.deepEqual([first.length, pages.hasNext], [1, true]);
    const second = await pages.nextItems();
    assert.deepEqual([first[0].sandboxId, second[0].sandboxId], [other.sandboxId, box.sandboxId]);
    assert.equal(pages.hasNext, false);
    assert.equal((await Sandbox.list({ query: { metadata: { second: "no" } } }).nextItems()).length, 0);
    const { startedAt, templateId } = await other.getInfo();
    const found = async (query) => (await Sandbox.list({ query }).nextItems()).map((one) => one.sandboxId);
    assert.deepEqual(await found({ startedAfter: startedAt }), [other.sandboxId]);
    assert.match(templateId, /^[a-z0-9]{20}$/);
    for (const template of ["base", templateId]) assert((await found({ template })).includes(other.sandboxId), template);
    assert.deepEqual(await found({ template: "no-such-template" }), []);
  } finally {
    assert.equal(await other.kill(), true);
  }
  assert.equal(await other.kill(), false);
  assert.equal(await other.isRunning(), false);
  await assert.rejects(Sandbox.connect(other.sandboxId), SandboxNotFoundError);
  await assert.rejects(other.commands.run("true"), /sandbox/i);
});
check("a pause keeps everything, and a connect goes on", async () => {
  const box = await Sandbox.create({ timeoutMs: 60000 });
  try {
    await box.files.write("kept.txt", "kept");
    const sleeper = await box.commands.run("sleep 1000", { background: true, timeoutMs: 0 });
    await box.pause();
    assert.equal((await box.getInfo()).state, "paused");
    assert.equal(await box.isRunning(), false);
    const again = await Sandbox.connect(box.sandboxId);
    assert.equal(await again.files.read("kept.txt"), "kept");
    assert((await again.commands.list()).some((one) => one.pid === sleeper.pid));
  } finally { await box.kill(); }
});
check("a request wakes a sandbox that was paused when its time was over", async () => {
  const box = await Sandbox.create({ timeoutMs: 1000, lifecycle: { onTimeout: "pause", autoResume: true } });
  try {
    await until(async () => (await box.getInfo()).state === "paused");
    assert.equal((await box.commands.run("echo awake")).stdout, "awake\n");
    assert.equal((await box.getInfo()).state, "running");
  } finally { await box.kill(); }
});
check("a command whose sandbox ends is told so", async () => {
  const box = await Sandbox.create();
  const running = await box.commands.run("sleep 100", { background: true, timeoutMs: 0 });
  const ended = running.wait().catch((error) => error);
  await box.kill();
  assert.match((await ended).message, /sandbox|terminated|killed/i);
});
check("a template that is not there is told so", async () => {
  await assert.rejects(Sandbox.create("no-such-template"), (error) => error.statusCode === 404);
});
check("a wrong key is told so", async () => {
  await assert.rejects(Sandbox.create({ apiKey: "e2b_" + "0".repeat(40) }), AuthenticationError);
});

const box = await Sandbox.create({ metadata: { "k 1": "v&1" }, envs: { CREATED: "yes" }, timeoutMs: 300000 });
await tell(box);
await box.kill();
process.exit(0);
