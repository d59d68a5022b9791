// Tests of calls in Letta mode, and of npm packages.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { call, mistake, returned } from "./harness_test.mjs";

const packages = mkdtempSync(join(tmpdir(), "belljar-packages-"));
after(() => rmSync(packages, { recursive: true }));

function install(name, files) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(packages, "node_modules", name), { recursive: true });
    writeFileSync(join(packages, "node_modules", name, file), text);
  }
}

install("shout", { "package.json": '{"name":"shout","main":"index.js"}', "index.js": "module.exports = (t) => t.toUpperCase();" });
install("whisper", {
  "package.json": '{"name":"whisper","type":"module","exports":"./index.js"}',
  "index.js": 'import shout from "shout";\nexport const whisper = (t) => shout(t).toLowerCase() + "...";',
});
install("@letta-ai/letta-client", {
  "package.json": '{"name":"@letta-ai/letta-client","type":"module","exports":"./index.js"}',
  "index.js": "export class LettaClient { constructor(options) { this.options = options } }",
});

const letta = (properties) => ({ letta: { properties } });

describe("Letta mode", { concurrency: true }, () => {
  test("arguments go to the parameters of their names, and a gap is undefined", async () => {
    const source = "export function o(a?: number, b?: number, c?: number) { return [String(a), b, arguments.length] }";
    assert.deepEqual(await returned(source, { b: 2 }, letta({ a: { type: "number" }, b: { type: "number" } })), ["undefined", 2, 2]);
    assert.deepEqual(await returned(source, { b: 2, a: 1 }, letta({ b: {}, a: {} })), ["1", 2, 2]);
  });

  test("what the schema does not name is left out", async () => {
    const source = "export function m(z: any) { return [z, arguments.length] }";
    assert.deepEqual(await returned(source, { z: { a: null }, extra: 1 }, letta({ z: {} })), [{ a: null }, 1]);
  });

  test("other names than the parameters' are taken in the schema's order", async () => {
    const source = "export function f(x: string, y: number) { return [x, y] }";
    assert.deepEqual(await returned(source, { count: 2, city: "Oslo" }, letta({ city: {}, count: {} })), ["Oslo", 2]);
  });

  test("text becomes what the schema's type says, and never code", async () => {
    const source = "export function f(n: any, b: any, s: any, a: any, z: any) { return [n, b, s, a, z] }";
    const properties = { n: { type: "number" }, b: { type: "boolean" }, s: { type: "string" }, a: { type: "array" }, z: { type: "integer" } };
    assert.deepEqual(await returned(source, { n: "2.5", b: " FALSE ", s: 5, a: "[1, 2]", z: null }, letta(properties)), [2.5, false, 5, "[1, 2]", null]);
    assert.deepEqual(await returned(source, { n: "1+1", b: 1, s: "\u2028", a: [null], z: 3 }, letta(properties)), ["1+1", true, "\u2028", [null], 3]);
  });

  test("a boolean that is none is refused as in Letta", async () => {
    const { answer } = await call("export function f(b: boolean) { return b }", { b: 2 }, letta({ b: { type: "boolean" } }));
    assert.deepEqual([answer.status, answer.error.name, answer.error.message], ["invalid", "ValueError", "Invalid boolean value: 2"]);
  });

  test("a destructured parameter gets all arguments", async () => {
    assert.equal(await returned("export function f({ a, b }: { a: number; b: number }) { return a + b }", { a: 1, b: 2 }, letta({ a: {}, b: {} })), 3);
  });

  test("client is made from the key by a tool that mentions it, else null", async () => {
    const source = "declare const client: any;\nexport function f() { return client && client.options.apiKey }";
    assert.equal(await returned(source, {}, { ...letta({}), packages, env: { LETTA_API_KEY: "k" } }), "k");
    assert.equal(await returned(source, {}, { ...letta({}), packages }), null);
    assert.equal(await returned(source, {}, { ...letta({}), env: { LETTA_API_KEY: "k" } }), null);
  });

  test("a plain call has none of it", async () => {
    assert.match(await mistake("export function m(z: any) { return z }", { z: 1, extra: 1 }), /has no argument "extra"/);
  });
});

describe("npm packages", { concurrency: true }, () => {
  test("import, import() and require find them", async () => {
    const source = `import shout from "shout";
      import { whisper } from "whisper";
      import { createRequire } from "node:module";
      export async function f() {
        const { default: again } = await import("shout");
        return [shout("a"), whisper("B"), again("c"), createRequire(import.meta.url)("shout")("d")];
      }`;
    assert.deepEqual(await returned(source, {}, { packages }), ["A", "b...", "C", "D"]);
    const commonjs = 'const shout = require("shout");\nmodule.exports = async function f() { return [shout("a"), (await import("whisper")).whisper("b")] }';
    assert.deepEqual(await returned(commonjs, {}, { packages, filename: "tool.cjs" }), ["A", "b..."]);
  });

  test("a package that is nowhere is named", async () => {
    const { answer } = await call('import x from "nowhere";\nexport function f() { return x }', {}, { packages });
    assert.match(answer.error.message, /nowhere/);
  });

  test("the tool's environment shows no trace of them", async () => {
    assert.equal(await returned("export function f() { return process.env.NODE_PATH ?? null }", {}, { packages }), null);
  });
});
