// E2B's official JavaScript SDK against Belljar: snapshots, forks, pauses of both kinds, networks, metrics, host names.
import assert from "node:assert/strict";
import { check, e2b, tell, until } from "./e2b_checks.mjs";

const { Sandbox, SandboxNotFoundError, NotFoundError } = e2b;
const BOOT_ID = "cat /proc/sys/kernel/random/boot_id";

async function all(pages) {
  const items = [];
  while (pages.hasNext) items.push(...(await pages.nextItems()));
  return items;
}
// Sandboxes that are ended however the check ends.
async function with_boxes(body) {
  const boxes = [];
  const keep = (box) => { boxes.push(box); return box; };
  try { await body(keep); } finally { await Promise.all(boxes.map((box) => box.kill())); }
}

check("a snapshot is listed, started from, outlives its sandbox and is deleted", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  await box.files.write("/home/user/state.txt", "first");
  const snapshot = await box.createSnapshot({ name: "states-story" });
  assert(snapshot.snapshotId);
  assert(snapshot.names.some((name) => name.includes("states-story")), JSON.stringify(snapshot));
  await box.files.write("/home/user/state.txt", "second");
  assert.equal(await box.isRunning(), true);
  const unnamed = await Sandbox.createSnapshot(box.sandboxId);
  const listed = (await all(box.listSnapshots())).map((one) => one.snapshotId);
  assert.deepEqual(new Set(listed), new Set([snapshot.snapshotId, unnamed.snapshotId]));
  assert.equal((await Sandbox.listSnapshots({ limit: 1 }).nextItems()).length, 1);
  for (const name of ["states-story", "states-story:default", snapshot.snapshotId])
    assert.deepEqual((await all(Sandbox.listSnapshots({ name }))).map((one) => one.snapshotId), [snapshot.snapshotId]);
  await box.kill();
  const copy = keep(await Sandbox.create(snapshot.snapshotId));
  assert.equal(await copy.files.read("/home/user/state.txt"), "first");
  const newer = keep(await Sandbox.create(unnamed.snapshotId));
  assert.equal(await newer.files.read("/home/user/state.txt"), "second");
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true);
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false);
  assert.equal(await Sandbox.deleteSnapshot(unnamed.snapshotId), true);
  await assert.rejects(Sandbox.create(snapshot.snapshotId));
}));
check("a snapshot of what is not there is told so", async () => {
  await assert.rejects(Sandbox.createSnapshot("sbaaaaaaaaaaaaaaaaaaaaaaaaaa"), SandboxNotFoundError);
});
check("forks have the files of then, ids and tokens of their own, and go their own ways", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create({ metadata: { of: "forks" } }));
  await box.files.write("/home/user/shared.txt", "before");
  const forks = await box.fork({ count: 2 });
  assert.equal(forks.length, 2);
  for (const fork of forks) assert(!(fork instanceof Error), String(fork));
  forks.forEach(keep);
  assert.equal(new Set([box, ...forks].map((one) => one.sandboxId)).size, 3);
  await forks[0].files.write("/home/user/shared.txt", "of the first");
  assert.deepEqual(await Promise.all([box, ...forks].map((one) => one.files.read("/home/user/shared.txt"))),
    ["before", "of the first", "before"]);
  assert.equal((await box.commands.run("echo goes on")).stdout, "goes on\n");
}));
check("a fork of what is paused or gone is refused", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  await box.pause();
  await assert.rejects(box.fork());
  await box.kill();
  await assert.rejects(Sandbox.fork(box.sandboxId), NotFoundError);
}));
check("a pause without memory keeps files alone: a connect boots again", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  await box.files.write("/home/user/kept.txt", "kept");
  const sleeper = await box.commands.run("sleep 1000", { background: true, timeoutMs: 0 });
  const before = (await box.commands.run(BOOT_ID)).stdout;
  assert.equal(await box.pause({ keepMemory: false }), true);
  assert.equal(await box.pause({ keepMemory: false }), false);
  assert.equal((await box.getInfo()).state, "paused");
  await box.connect();
  assert.equal(await box.files.read("/home/user/kept.txt"), "kept");
  assert.notEqual((await box.commands.run(BOOT_ID)).stdout, before);
  assert(!(await box.commands.list()).some((one) => one.pid === sleeper.pid && one.args.includes("sleep 1000")));
}));
check("a pause with memory is of the same boot, and a second one is told apart", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  const before = (await box.commands.run(BOOT_ID)).stdout;
  assert.equal(await box.pause(), true);
  assert.equal(await box.pause(), false);
  await box.connect();
  assert.equal((await box.commands.run(BOOT_ID)).stdout, before);
}));
check("a connect that does not want the memory back boots again, too", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  await box.files.write("/home/user/kept.txt", "kept");
  const before = (await box.commands.run(BOOT_ID)).stdout;
  await box.pause();
  const answer = await fetch(`${process.env.E2B_API_URL}/v2/sandboxes/${box.sandboxId}/connect`,
    { method: "POST", headers: { "X-API-Key": process.env.E2B_API_KEY }, body: JSON.stringify({ timeout: 60, memory: false }) });
  assert.equal(answer.status, 201);
  assert.equal(await box.files.read("/home/user/kept.txt"), "kept");
  assert.notEqual((await box.commands.run(BOOT_ID)).stdout, before);
}));
check("a fork is asked for with what its parent was", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create({ network: { allowPublicTraffic: false, denyOut: ["10.0.0.0/8"] }, metadata: { a: "b" } }));
  const fork = keep((await box.fork())[0]);
  const info = await fork.getInfo();
  assert.deepEqual([info.network.allowPublicTraffic, info.network.denyOut, info.metadata], [false, ["10.0.0.0/8"], { a: "b" }]);
  assert(fork.trafficAccessToken && fork.trafficAccessToken !== box.trafficAccessToken);
}));
check("a snapshot whose name is taken is its newest", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  await box.files.write("/home/user/state.txt", "first");
  const first = await box.createSnapshot({ name: "states-again" });
  await box.files.write("/home/user/state.txt", "second");
  const second = await box.createSnapshot({ name: "states-again" });
  assert.equal(second.snapshotId, first.snapshotId);
  assert.equal(await keep(await Sandbox.create("states-again")).files.read("/home/user/state.txt"), "second");
  await Sandbox.deleteSnapshot(first.snapshotId);
}));
check("snapshots of one name with a tag each are each their own", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  const taken = {};
  for (const tag of ["v1", "v2"]) {
    await box.files.write("/home/user/state.txt", tag);
    taken[tag] = await box.createSnapshot({ name: `states-tags:${tag}` });
    assert(taken[tag].snapshotId.endsWith(`:${tag}`), taken[tag].snapshotId);
    assert.match(taken[tag].names[0], new RegExp(`^[^/]+/states-tags:${tag}$`));
  }
  const ids = Object.values(taken).map((one) => one.snapshotId);
  assert.deepEqual(new Set((await all(box.listSnapshots())).map((one) => one.snapshotId)), new Set(ids));
  assert.deepEqual((await all(Sandbox.listSnapshots({ name: "states-tags:v1" }))).map((one) => one.snapshotId), [ids[0]]);
  assert.deepEqual(await all(Sandbox.listSnapshots({ name: "states-tags:v3" })), []);
  for (const [tag, { snapshotId, names }] of Object.entries(taken))
    for (const reference of [snapshotId, names[0]])
      assert.equal(await keep(await Sandbox.create(reference)).files.read("/home/user/state.txt"), tag);
  assert.equal(await Sandbox.deleteSnapshot("states-tags:v3"), false);
  assert.equal(await Sandbox.deleteSnapshot("states-tags:v1"), true);
  await assert.rejects(Sandbox.create(ids[0]));
  assert.equal(await keep(await Sandbox.create("states-tags:v2")).files.read("/home/user/state.txt"), "v2");
  assert.equal(await Sandbox.deleteSnapshot(ids[1]), true);
  await assert.rejects(Sandbox.create("states-tags:v2"));
}));
check("one that is paused without memory when its time is over is there again after a connect", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create({ timeoutMs: 2000, lifecycle: { onTimeout: { action: "pause", keepMemory: false } } }));
  await box.files.write("/home/user/kept.txt", "kept");
  await until(async () => (await box.getInfo()).state === "paused");
  assert.equal((await box.getInfo()).lifecycle.onTimeout, "pause");
  await box.connect({ timeoutMs: 60000 });
  assert.equal(await box.files.read("/home/user/kept.txt"), "kept");
}));
check("a network is replaced as a whole", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create({ network: { denyOut: ["10.0.0.0/8"], allowPublicTraffic: true } }));
  assert.deepEqual((await box.getInfo()).network.denyOut, ["10.0.0.0/8"]);
  await box.updateNetwork({ allowOut: ["api.example.com"], denyOut: ["0.0.0.0/0"] });
  const changed = (await box.getInfo()).network;
  assert.deepEqual([changed.allowOut, changed.denyOut, changed.allowPublicTraffic], [["api.example.com"], ["0.0.0.0/0"], true]);
  await box.updateNetwork({});
  assert.equal((await box.getInfo()).network?.allowOut, undefined);
  await assert.rejects(box.updateNetwork({ denyOut: ["not an address"] }));
  await assert.rejects(Sandbox.updateNetwork("sbaaaaaaaaaaaaaaaaaaaaaaaaaa", {}), SandboxNotFoundError);
}));
check("metrics are of the time that is asked for", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  await until(async () => (await box.getMetrics()).length > 0);
  const [point] = await box.getMetrics();
  assert(point.memUsed > 0 && point.memTotal >= point.memUsed && point.diskTotal > 0 && point.timestamp instanceof Date);
  const around = { start: new Date(point.timestamp - 5000), end: new Date(+point.timestamp + 5000) };
  assert((await box.getMetrics(around)).length > 0);
  assert.equal((await box.getMetrics({ start: new Date(0), end: new Date(1000) })).length, 0);
}));
check("a port has a host name that leads to it", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create());
  assert.match(box.getHost(3000), new RegExp(`^3000-${box.sandboxId}\\.`));
  await box.commands.run("echo served > index.html; python3 -m http.server 3000", { background: true, timeoutMs: 0 });
  const { request } = await import("node:http");
  const get = () => new Promise((done) => request(process.env.E2B_API_URL, { headers: { Host: box.getHost(3000) } }, (answer) => {
    let text = "";
    answer.on("data", (piece) => { text += piece; }).on("end", () => done(text));
  }).end());
  await until(async () => (await get()) === "served\n");
}));
check("a port that speaks TLS is reached where its owner says so", () => with_boxes(async (keep) => {
  const box = keep(await Sandbox.create({ network: { httpsPorts: [8443] } }));
  assert.deepEqual((await box.getInfo()).network.httpsPorts, [8443]);
  await box.files.write("serve.py", `
import http.server, ssl
server = http.server.HTTPServer(("127.0.0.1", 8443), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()`);
  await box.files.write("index.html", "sealed".repeat(20000));
  await box.commands.run("openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=inside -days 1 2>/dev/null");
  await box.commands.run("python3 serve.py", { background: true, timeoutMs: 0 });
  const get = () => fetch(process.env.E2B_SANDBOX_URL, { headers: { "E2b-Sandbox-Id": box.sandboxId, "E2b-Sandbox-Port": "8443" } });
  await until(async () => (await get()).status === 200);
  assert.equal(await (await get()).text(), "sealed".repeat(20000));
}));

await tell();
process.exit(0);
