// E2B's official JavaScript SDK against Belljar: secrets, and rules that put them into requests on their way out. Told on
// the machine of a small internet (network_world.py), whose server at allowed.example says what it was sent.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { check, e2b, tell } from "./e2b_checks.mjs";

const { Sandbox, Secret, SecretError, SecretNotFoundError } = e2b;
const VALUE = "s3cr3t-value-of-a-story";
const hash = (text) => createHash("sha256").update(text).digest("hex");

// What the server outside saw.
async function seen(box, ...flags) {
  const done = await box.commands.run(`curl -sS -m 10 ${flags.join(" ")} https://allowed.example/headers`);
  assert(!done.stdout.includes(VALUE), "the value came back");
  return JSON.parse(done.stdout);
}
const rules = (headers) => ({ "allowed.example": [{ transform: { headers } }] });

check("secrets are made, told without their value, changed, listed and destroyed", async () => {
  const made = await Secret.create("life of a secret", "first value", { metadata: { team: "a" } });
  assert.deepEqual([made.name, made.version, made.metadata], ["life of a secret", 1, { team: "a" }]);
  assert(made.createdAt instanceof Date && !JSON.stringify(made).includes("first value"));
  const changed = await Secret.update("life of a secret", "second value");
  assert.deepEqual([changed.secretId, changed.version, changed.metadata], [made.secretId, 2, { team: "a" }]);
  assert.deepEqual((await Secret.update(made.secretId, "third value", { metadata: {} })).metadata, {});
  assert.equal((await Secret.getInfo(made.secretId)).version, 3);
  assert.equal(await Secret.exists("life of a secret"), true);
  await assert.rejects(Secret.create("life of a secret", "x"), SecretError);
  await Secret.create("another", "another value");
  const pages = Secret.list({ limit: 1 });
  const names = [];
  while (pages.hasNext) names.push(...(await pages.nextItems()).map((one) => one.name));
  assert.deepEqual(names.sort(), ["another", "life of a secret", "story-key"]);
  assert.equal(await Secret.destroy("another"), true);
  assert.equal(await Secret.destroy(made.secretId), true);
  assert.equal(await Secret.destroy(made.secretId), false);
  assert.equal(await Secret.exists(made.secretId), false);
  await assert.rejects(Secret.getInfo("another"), SecretNotFoundError);
  await assert.rejects(Secret.update("another", "x"), SecretNotFoundError);
});
check("a rule puts headers into requests to its host, over what the code wrote", async () => {
  const headers = { Authorization: `Bearer ${Secret.fill("story-key")}`, "X-Plain": "short" };
  const box = await Sandbox.create({ network: { rules: rules(headers) } });
  try {
    const got = await seen(box, "-H", "'X-Plain: of the code'");
    assert.equal(got.hash, hash("Bearer " + VALUE));
    assert.equal(new Headers(got.headers).get("X-Plain"), "short", JSON.stringify(got.headers));
    assert.equal((await box.commands.run("env | grep -c s3cr3t || true")).stdout, "0\n");
    assert.deepEqual((await box.getInfo()).network.rules, rules(headers));
    const other = await box.commands.run("curl -sSk -m 10 https://other.example/headers");
    assert.equal(JSON.parse(other.stdout).hash, hash(""));
  } finally { await box.kill(); }
});
check("rules come and go with the network of a sandbox that lives", async () => {
  const box = await Sandbox.create();
  try {
    await box.updateNetwork({ rules: rules({ Authorization: Secret.fill("story-key") }) });
    assert.equal((await seen(box)).hash, hash(VALUE));
    await box.updateNetwork({});
    assert.equal((await seen(box, "-k")).hash, hash(""));
  } finally { await box.kill(); }
});
check("a value that is changed is the one that is sent, and one that is destroyed is sent no more", async () => {
  await Secret.create("rotated", VALUE);
  const box = await Sandbox.create({ network: { rules: rules({ Authorization: Secret.fill("rotated"), "X-Plain": "stays" }) } });
  try {
    assert.equal((await seen(box)).hash, hash(VALUE));
    await Secret.update("rotated", VALUE + "-2");
    assert.equal((await seen(box)).hash, hash(VALUE + "-2"));
    await Secret.destroy("rotated");
    const got = await seen(box);
    assert.equal(got.hash, hash(""));
    assert.equal(new Headers(got.headers).get("X-Plain"), "stays");
    assert.deepEqual((await box.getInfo()).network.rules, rules({ "X-Plain": "stays" }));
  } finally { await box.kill(); }
});
check("a rule grants no access", async () => {
  const box = await Sandbox.create({ network: { denyOut: ["0.0.0.0/0"], rules: rules({ "X-A": "b" }) } });
  try {
    await assert.rejects(box.commands.run("curl -sSk -m 10 https://allowed.example/"));
  } finally { await box.kill(); }
});
check("what can't be done is refused", async () => {
  const wrong = [rules({ A: Secret.fill("no such secret") }), rules({ Host: "x" }), rules({ A: "${e2b.identity.tokens.aws}" }),
    { "10.0.0.1": [{ transform: { headers: { A: "b" } } }] }];
  for (const one of wrong) await assert.rejects(Sandbox.create({ network: { rules: one } }), /400/, JSON.stringify(one));
});

await Secret.create("story-key", VALUE);
await tell();
await Secret.destroy("story-key");
process.exit(0);
