// Tests of JavaScript and TypeScript contexts, driven as the engine drives them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const started = [];

class Context {
  constructor(language = "javascript") {
    this.process = spawn(process.execPath, ["--experimental-import-meta-resolve", "--no-warnings", join(HERE, "interpreter.mjs"), "3", language],
      { stdio: ["ignore", "pipe", "pipe", "pipe"], detached: true });
    started.push(this.process);
    this.unread = Buffer.alloc(0);
    this.messages = [];
    this.nonces = 0;
    this.stdout = this.stderr = "";
    this.process.stdout.on("data", (piece) => { this.stdout += piece; this.wake?.(); });
    this.process.stderr.on("data", (piece) => { this.stderr += piece; });
    this.process.stdio[3].on("data", (piece) => this.take(piece));
  }

  take(piece) {
    this.unread = Buffer.concat([this.unread, piece]);
    while (this.unread.length >= 5 && this.unread.length >= 5 + this.unread.readUInt32LE(0)) {
      const end = 5 + this.unread.readUInt32LE(0);
      this.messages.push(JSON.parse(this.unread.toString("utf8", 5, end)));
      this.unread = this.unread.subarray(end);
    }
    this.wake?.();
  }

  async until(condition) {
    while (!condition()) await new Promise((wake) => { this.wake = wake; });
  }

  async run(code, { env = {}, interruptWhen } = {}) {
    await this.until(() => this.messages.some(({ op }) => op === "ready"));
    const nonce = String(++this.nonces);
    const payload = Buffer.from(JSON.stringify({ op: "execute", nonce, code, env }));
    const header = Buffer.alloc(5);
    header.writeUInt32LE(payload.length, 0);
    header.write("J", 4);
    const from = this.stdout.length;
    this.process.stdio[3].write(Buffer.concat([header, payload]));
    if (interruptWhen) {
      await this.until(() => this.stdout.slice(from).includes(interruptWhen));
    }
    // Node forgets a signal that comes just as a cell begins to wait: like the engine, we send it until the cell has ended.
    const again = interruptWhen && setInterval(() => process.kill(-this.process.pid, "SIGINT"), 100);
    const own = () => this.messages.filter((message) => message.nonce === nonce);
    await this.until(() => own().some(({ op }) => op === "done"));
    clearInterval(again);
    const results = own().filter(({ op }) => op === "result");
    return { results, error: own().find(({ op }) => op === "error"), count: own().find(({ op }) => op === "count").count,
      text: results.find(({ main }) => main)?.data["text/plain"] };
  }
}

after(() => started.forEach((child) => child.kill("SIGKILL")));

describe("a JavaScript context", () => {
  const context = new Context();

  test("keeps const, let and class, and lets them be declared again", async () => {
    assert.equal((await context.run("const a = 1; let b = 2; class C {}; a + b")).text, "3");
    assert.equal((await context.run("const a = 10; class C { x() { return 1 } }; a + b + new C().x()")).text, "13");
  });

  test("awaits at the top level", async () => {
    assert.equal((await context.run("const later = await new Promise((r) => setTimeout(r, 1, 'later')); later")).text, "'later'");
    assert.equal((await context.run("Promise.resolve('a value')")).text, "'a value'");
    assert.equal((await context.run("Promise.reject(new RangeError('far'))")).error.name, "RangeError");
  });

  test("imports and requires", async () => {
    assert.equal((await context.run("import fs, { readFileSync as read } from 'node:fs'; read === fs.readFileSync")).text, "true");
    assert.equal((await context.run("import * as path from 'node:path'; path.join('a', 'b')")).text, "'a/b'");
    assert.equal((await context.run("(await import('node:os')).EOL === require('os').EOL")).text, "true");
    assert.equal((await context.run("const s = 'import(1)'; s")).text, "'import(1)'");
  });

  test("tells errors with the cell's own frames", async () => {
    const { error } = await context.run("function f() { throw new TypeError('bad'); }\nf()");
    assert.deepEqual([error.name, error.value], ["TypeError", "bad"]);
    assert.match(error.traceback, /cell-\d+\.js:2:1/);
    assert.doesNotMatch(error.traceback, /interpreter|node:/);
    assert.equal((await context.run("1 +")).error.name, "SyntaxError");
    assert.equal((await context.run("throw 5")).error.value, "5");
  });

  test("shows values, and other forms of them", async () => {
    assert.equal((await context.run("undefined")).results.length, 0);
    assert.equal((await context.run("({ a: [1, 10n, NaN] })")).text, "{ a: [ 1, 10n, NaN ] }");
    const { results } = await context.run("display({ _toHtml: () => '<b>' }); ({ [Symbol.for('Jupyter.display')]: () => ({ 'application/json': { k: 1 } }) })");
    assert.equal(results[0].data["text/html"], "<b>");
    assert.deepEqual(results[1].data["application/json"], { k: 1 });
  });

  test("has printed everything when a cell ends, and prints while it computes", async () => {
    // Nobody reads until the cell has ended or begun to compute: a pipe holds much less.
    const large = new Context();
    const { error } = await large.run("console.log('x'.repeat(5_000_000)); console.error('e'.repeat(5_000_000)); console.log('end')");
    assert.equal(error, undefined);
    assert.equal(large.stdout.length + large.stderr.length, 10_000_006);
    await large.run("console.log('x'.repeat(5_000_000) + 'out'); for (;;);", { interruptWhen: "out" });
  });

  test("has variables for one execution", async () => {
    assert.equal((await context.run("process.env.ONCE", { env: { ONCE: "1" } })).text, "'1'");
    assert.equal((await context.run("process.env.ONCE")).text, undefined);
  });

  test("is interrupted in a loop and in a wait", async () => {
    for (const code of ["console.log('on-a'); while (true) {}", "console.log('on-b'); await new Promise(() => {})",
      "console.log('on-c'); new Promise(() => {})"]) {
      const { error } = await context.run(code, { interruptWhen: code.slice(13, 17) });
      assert.equal(error.name, "KeyboardInterrupt");
    }
    assert.equal((await context.run("a")).text, "10");
  });

  test("outlives what fails in its background", async () => {
    await context.run("setTimeout(() => { throw new Error('late') }, 1); Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 20))");
    assert.match(context.stderr, /late/);
    assert.equal((await context.run("1")).text, "1");
  });
});

test("a TypeScript context loses the types", async () => {
  const context = new Context("typescript");
  assert.equal((await context.run("interface P { a: number }\nconst p: P = { a: 3 }; p.a as number")).text, "3");
  assert.equal((await context.run("enum E { A, B }\nE.B + p.a")).text, "4");
  assert.equal((await context.run("const s: string = ;")).error.name, "SyntaxError");
});
