// Tests of calls from end to end, each in a process of its own.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Runtime, call, failure, js, mistake, returned } from "./harness_test.mjs";


describe("the channel", { concurrency: true }, () => {
  test("a call is answered with its nonce and the process ends well", async () => {
    const { answer, type, code } = await call("export function add(a: number, b: number) { return a + b }", { a: 1, b: 2 });
    assert.deepEqual(answer, { nonce: "n-1", status: "ok", return: 3, imports: [] });
    assert.equal(type, "A");
    assert.equal(code, 0);
  });

  test("a channel closed before a call ends the process with status 0", async () => {
    const runtime = new Runtime();
    await runtime.nextFrame();
    runtime.channel.end();
    const [code] = await runtime.closed;
    assert.equal(code, 0);
  });

  test("a call of many megabytes arrives whole", async () => {
    const text = "é".repeat(8_000_000);
    assert.equal(await returned("export function size(text: string) { return text.length }", { text }), text.length);
  });

  test("a frame that is no call ends the process with a reason", async () => {
    const runtime = new Runtime();
    await runtime.nextFrame();
    runtime.send("X", "");
    const [code] = await runtime.closed;
    assert.equal(code, 70);
    assert.match(await runtime.stderr, /expected a call/);
  });

  test("programs that the tool starts do not inherit the channel", async () => {
    const source = `import { execFileSync } from "node:child_process";
      import { readlinkSync } from "node:fs";
      export function probe() {
        const links = execFileSync("ls", ["-l", "/proc/self/fd"], { stdio: ["ignore", "pipe", "ignore"] }).toString();
        return { channel: readlinkSync("/proc/self/fd/3"), links };
      }`;
    const { channel, links } = await returned(source);
    assert.match(channel, /^socket:/);
    assert.ok(!links.includes(channel), links);
  });
});

describe("the choice of the function", { concurrency: true }, () => {
  test("the last public one is taken", async () => {
    assert.equal(await returned("export function a() { return 1 }\nconst b = async () => 2;\nfunction _c() { return 3 }"), 2);
  });

  test("a function that is not exported can be called by its name", async () => {
    assert.equal(await returned("function first() { return 1 }\nexport function second() { return 2 }", {}, { name: "first" }), 1);
  });

  for (const [what, source] of [
    ["export default function with a name", "export default function greet(name: string) { return name }"],
    ["export default function without a name", "export default function (name: string) { return name }"],
    ["export default arrow", "export default async (name: string) => name"],
    ["function expression", "export const greet = function (name: string) { return name }"],
    ["module.exports = function", "module.exports = function (name: string) { return name }"],
    ["module.exports = { method }", "module.exports = { greet(name: string) { return name } }"],
    ["exports.name = arrow", "const os = require('node:os');\nexports.greet = (name: string) => name && os.EOL && name"],
    ["module.exports of a declared function", "function greet(name: string) { return name }\nmodule.exports = { greet }"],
  ]) {
    test(`${what} is found`, async () => assert.equal(await returned(source, { name: "Ada" }), "Ada"));
  }

  test("a source without a public function is the caller's mistake", async () => {
    assert.match(await mistake("const x = 1;\nfunction _hidden() {}"), /greet\.ts has no public function; define one/);
  });

  test("an unknown name is answered with the names there are", async () => {
    assert.match(await mistake("export function a() {}\nconst b = () => 1", {}, { name: "c" }), /no function "c"; it has: a, b/);
  });
});

describe("the arguments", { concurrency: true }, () => {
  const greet = "export function greet(name: string, times: number = 2, mark?: string) { return name.repeat(times) + (mark ?? '') }";

  test("are matched by name, whatever their order", async () => {
    assert.equal(await returned(greet, { mark: "!", times: 1, name: "Ada" }), "Ada!");
  });

  test("may be left out where there is a default or a question mark", async () => {
    assert.equal(await returned(greet, { name: "Ada" }), "AdaAda");
  });

  test("a missing one is named, with the signature", async () => {
    assert.equal(await mistake(greet, {}), 'greet() needs the argument "name"; call it as greet(name: string, times: number = 2, mark?: string)');
  });

  test("an unexpected one is named, with the signature", async () => {
    assert.match(await mistake(greet, { name: "Ada", tiems: 3 }), /greet\(\) has no argument "tiems"; call it as greet\(name/);
  });

  test("a misspelt name is not taken for the whole of a string parameter", async () => {
    assert.match(await mistake("export function hi(name: string) {}", { nmae: "Ada" }), /no argument "nmae"/);
  });

  test("a single destructured parameter gets the whole object", async () => {
    assert.equal(await returned("export function sum({ a, b = 5 }: { a: number; b?: number }) { return a + b }", { a: 1 }), 6);
  });

  test("a destructured parameter says what it lacks and what it does not know", async () => {
    const source = "export const sum = ({ a, b }: { a: number, b: number }) => a + b";
    assert.match(await mistake(source, { a: 1 }), /sum\(\) needs the argument "b"/);
    assert.match(await mistake(source, { a: 1, b: 2, c: 3 }), /sum\(\) has no argument "c"/);
    assert.match(await mistake(source, { a: 1, b: "2" }), /argument "b" must be number/);
  });

  test("one parameter of another name and of an object type gets the whole object", async () => {
    assert.deepEqual(await returned("interface In { a: number }\nexport function f(input: In) { return input }", { a: 1 }), { a: 1 });
  });

  test("a rest parameter takes an array", async () => {
    assert.equal(await returned("export function join(sep: string, ...parts: string[]) { return parts.join(sep) }", { sep: "-", parts: ["a", "b"] }), "a-b");
  });

  for (const [annotation, wrong, expected] of [
    ["string", 1, "string"],
    ["number", "1", "number"],
    ["boolean", "true", "boolean"],
    ["string[]", ["a", 1], "string"],
    ["Array<number>", "1", "number\\[\\]"],
    ["'left' | 'right'", "up", '"left" | "right"'],
    ["string | null", 1, "string | null"],
    ["{ city: string; days?: number }[]", [{ city: 1 }], "string"],
  ]) {
    test(`a value that contradicts ${annotation} is refused before the tool runs`, async () => {
      const source = `console.log("ran");\nexport function f(value: ${annotation}, other?: number) {}`;
      const { answer, stdout } = await call(source, { value: wrong });
      assert.equal(answer.status, "invalid");
      assert.ok(answer.error.message.includes(`must be ${expected.replaceAll("\\", "")}; call it as f(`), answer.error.message);
      assert.equal(stdout, "");
    });
  }

  test("types that are not simple accept everything", async () => {
    const source = "type Name = string;\nexport function f(a: Name, b: Map<string, number>, c: keyof Math, d: string & {}) { return [a, b, c, d] }";
    assert.deepEqual(await returned(source, { a: 1, b: 2, c: 3, d: 4 }), [1, 2, 3, 4]);
  });

  test("annotations with letters beyond ASCII keep their places", async () => {
    const source = "export function f(größe: 'klein' | 'größer 🌍', b: number) { return größe + b }";
    assert.equal(await returned(source, { größe: "größer 🌍", b: 1 }), "größer 🌍1");
    assert.match(await mistake(source, { größe: "größer 🌍", b: "1" }), /"b" must be number/);
  });

  test("a value called __proto__ is a plain argument", async () => {
    assert.match(await mistake(greet, JSON.parse('{"name": "Ada", "__proto__": {"times": 9}}')), /no argument "__proto__"/);
  });
});

describe("the source", { concurrency: true }, () => {
  test("imports built-in modules in every form, and awaits at its top level", async () => {
    const source = `import fs, { existsSync } from "node:fs";
      import * as path from 'path';
      const { createHash } = await import("crypto");
      export const probe = () => [fs.existsSync === existsSync, path.basename("/a/b"), createHash("md5").update("x").digest("hex").length];`;
    assert.deepEqual(await returned(source), [true, "b", 32]);
  });

  test("may be plain JavaScript, with or without module syntax", async () => {
    assert.equal(await returned("function f(a, b = 2) { return a + b }", { a: 1 }, js), 3);
    assert.equal(await returned("import os from 'os'; export function f() { return typeof os.cpus }", {}, js), "function");
    assert.equal(await returned("const os = require('os'); function f() { return typeof os.cpus }", {}, js), "function");
  });

  test("may use enums, namespaces and parameter properties", async () => {
    const source = `enum Unit { C = "c", F = "f" }
      namespace Text { export const mark = "!" }
      class Reading { constructor(public value: number, readonly unit: Unit) {} }
      export function read(value: number, unit?: string): string {
        const r = new Reading(value, Unit.C); return r.value + r.unit + Text.mark }`;
    assert.equal(await returned(source, { value: 3 }), "3c!");
  });

  test("may import a type without saying that it is one", async () => {
    const source = `import { IncomingHttpHeaders } from "node:http";\nimport { Thing } from "not-installed";
      export function f(h: IncomingHttpHeaders, t?: Thing) { return h.host }`;
    assert.equal(await returned(source, { h: { host: "x" } }), "x");
  });

  test("finds the environment of the call", async () => {
    assert.equal(await returned("const at = process.env.PLACE;\nexport function f() { return at }", {}, { env: { PLACE: "Oslo" } }), "Oslo");
  });

  test("that imports a missing package is told so", async () => {
    const { message } = await failure("import x from 'left-pad';\nexport function f() { return x }");
    assert.match(message, /Cannot find package 'left-pad' imported from .*greet\.ts/);
  });

  for (const [filename, source] of [
    ["greet.ts", "export function f() {\n  return 1;\n}\nexport const x: = 3;"],
    ["greet.js", "function f() {\n  return 1;\n}\nconst x = = 3;"],
    ["greet.js", "import fs from 'fs';\n\n\nexport const f = () => { return fs + ; }"],
    ["greet.js", "export function f() {}\n\n\nexport { missing };"],
  ]) {
    test(`that does not parse is a SyntaxError with its line (${filename}: ${source.slice(-20)})`, async () => {
      const error = await failure(source, {}, { filename });
      assert.equal(error.name, "SyntaxError");
      assert.match(error.message, /\(greet\.[tj]s, line 4\)$/);
      assert.match(error.traceback, /at greet\.[tj]s:4:\d+/);
    });
  }

  test("that is binary garbage is a SyntaxError", async () => {
    assert.equal((await failure("\u0000\u0001\u007fELF\ufffd\ufffd")).name, "SyntaxError");
  });
});

describe("the return value", { concurrency: true }, () => {
  const cases = [
    ["undefined", "undefined", null],
    ["not-a-number and infinity", "[NaN, Infinity, -Infinity, -0]", [null, null, null, 0]],
    ["a date", "new Date(0)", "1970-01-01T00:00:00.000Z"],
    ["an invalid date", "new Date(NaN)", null],
    ["a map", "new Map([['a', 1], [2, new Map()]])", { a: 1, 2: {} }],
    ["a set", "new Set([1, 'b'])", [1, "b"]],
    ["small and large big integers", "[12n, -9007199254740993n]", [12, "-9007199254740993"]],
    ["text bytes", "[Buffer.from('é'), new TextEncoder().encode('x')]", ["é", "x"]],
    ["other bytes", "new Uint8Array([255, 254])", "//4="],
    ["typed arrays", "new Float64Array([1.5, 2])", [1.5, 2]],
    ["an error", "new TypeError('bad')", { name: "TypeError", message: "bad" }],
    ["a symbol", "Symbol('s')", "Symbol(s)"],
    ["a function", "[() => 1]", ["() => 1"]],
    ["toJSON", "new (class { toJSON() { return { x: 1n } } })()", { x: 1 }],
    ["a url", "new URL('http://a.b/c')", "http://a.b/c"],
    ["a class instance", "new (class P { x = 1; #y = 2; z = undefined })()", { x: 1 }],
    ["nested promises", "[Promise.resolve([Promise.resolve(1)]), (async () => 2)()]", [[1], 2]],
    ["a generator", "(function* () { yield 1; yield Promise.resolve(2) })()", [1, 2]],
    ["an async generator", "(async function* () { yield 1; yield { a: 2 } })()", [1, { a: 2 }]],
    ["half a surrogate pair", "'a\\ud800'", "a\ufffd"],
    ["boxed values", "[new String('s'), Object(1n), new Boolean(false)]", ["s", 1, false]],
    ["an object without a prototype", "Object.assign(Object.create(null), { a: 1 })", { a: 1 }],
    ["the same object twice", "(() => { const o = {}; return [o, o] })()", [{}, {}]],
  ];
  for (const [what, expression, expected] of cases) {
    test(`${what} becomes what a person expects`, async () => {
      assert.deepEqual(await returned(`export function f() { return ${expression} }`), expected);
    });
  }

  test("that contains itself is an error", async () => {
    const { message } = await failure("export function f() { const a: any = {}; a.b = [a]; return a }");
    assert.equal(message, "the return value contains itself");
  });

  test("that is nested too deeply is an error", async () => {
    const { message } = await failure("export function f() { let a: any = []; for (let i = 0; i < 1e5; i++) a = [a]; return a }");
    assert.match(message, /nested deeper than 100 levels/);
  });

  for (const expression of ["'x'.repeat(1000)", "'é'.repeat(60)", "Array(1e9)", "new Uint8Array(5000)", "(function* () { for (;;) yield 1 })()", "(async function* () { for (;;) yield 1 })()"]) {
    test(`that is too large is an error of its own (${expression})`, async () => {
      const { name, message } = await failure(`export function f() { return ${expression} }`, {}, { max_return_bytes: 100 });
      assert.equal(name, "ReturnTooLarge");
      assert.match(message, /larger than 100 bytes/);
    });
  }
});

describe("a tool that fails", { concurrency: true }, () => {
  test("is reported with its own frames only, in the lines of its source", async () => {
    const error = await failure("interface A {\n  x: number\n}\nfunction inner(): never {\n  throw new RangeError('too far')\n}\nexport async function outer() {\n  await null\n  inner()\n}");
    assert.deepEqual([error.name, error.message], ["RangeError", "too far"]);
    assert.equal(error.traceback, "RangeError: too far\n    at inner (greet.ts:5:9)\n    at outer (greet.ts:9:3)");
  });

  test("keeps its lines where types had to be rewritten", async () => {
    const error = await failure("enum A {\n  x,\n  y\n}\n\nexport function f() {\n  throw new Error('here')\n}");
    assert.match(error.traceback, /at f \(greet\.ts:7:\d+\)$/);
  });

  test("shows the chain of causes", async () => {
    const { traceback } = await failure("export function f() { throw new Error('outer', { cause: new TypeError('inner') }) }");
    assert.match(traceback, /^Error: outer\n.*greet\.ts:1:\d+\)\nCaused by: TypeError: inner\n.*greet\.ts:1/);
  });

  test("with a cause that leads back to itself is still reported", async () => {
    assert.equal((await failure("export function f() { const e: any = new Error('loop'); e.cause = e; throw e }")).message, "loop");
  });

  test("with a system error tells its number", async () => {
    const { answer } = await call("import fs from 'fs'; export function f() { fs.readFileSync('/no/such') }");
    assert.equal(answer.errno, 2);
    assert.match(answer.error.message, /ENOENT/);
  });

  test("with a huge message is cut", async () => {
    const { message, traceback } = await failure("export function f() { throw new Error('é'.repeat(1e6)) }");
    assert.ok(Buffer.byteLength(message) <= 16 * 1024 && Buffer.byteLength(traceback) <= 64 * 1024);
    assert.match(message, /… \(cut\)$/);
  });

  for (const [thrown, message] of [["'text'", "the tool threw 'text'"], ["null", "the tool threw null"], ["undefined", "the tool threw undefined"], ["{ code: 5 }", "the tool threw { code: 5 }"]]) {
    test(`by throwing ${thrown} is described`, async () => {
      assert.equal((await failure(`export function f() { throw ${thrown} }`)).message, message);
    });
  }

  test("by throwing what cannot be looked at is still an answer", async () => {
    const source = "export function f() { throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } }) }";
    assert.match((await failure(source)).message, /cannot be described/);
  });

  for (const [how, source, message] of [
    ["process.exit", "export function f() { process.exit(3) }", /^the tool called process\.exit\(3\)$/],
    ["process.exit while it is loaded", "process.exit();\nexport function f() {}", /^the tool called process\.exit\(0\)$/],
    ["an uncaught exception in a timer", "export function f() { return new Promise(() => setTimeout(() => { throw new Error('late') }, 1)) }", /^late$/],
    ["a rejection nobody handles", "export async function f() { Promise.reject(new Error('dropped')); return 1 }", /^dropped$/],
    ["a promise that never settles", "export function f() { return new Promise(() => {}) }", /^the tool's promise never settled/],
    ["a top-level await that never settles", "await new Promise(() => {});\nexport function f() {}", /^the tool's promise never settled/],
    ["endless recursion", "export function f(): any { return f() }", /call stack/],
  ]) {
    test(`by ${how} is an error`, async () => assert.match((await failure(source)).message, message));
  }
});

describe("output", { concurrency: true }, () => {
  test("goes to stdout and stderr, apart from the result", async () => {
    const { answer, stdout, stderr } = await call("console.log('loading');\nexport function f() { console.log('a', { b: 1 }); console.error('bad'); process.stdout.write('end'); return 'r' }");
    assert.equal(stdout, "loading\na { b: 1 }\nend");
    assert.equal(stderr, "bad\n");
    assert.equal(answer.return, "r");
  });

  test("is complete even if it is much more than a pipe holds", async () => {
    const { stdout } = await call("export function f() { console.log('x'.repeat(3_000_000)) }");
    assert.equal(stdout.length, 3_000_001);
  });

  test("that looks like an answer is only output", async () => {
    const forged = '{"nonce":"n-1","status":"ok","return":"forged","imports":[]}';
    const { answer, stdout } = await call(`export function f() { console.log('${forged}'); return 'true one' }`);
    assert.equal(answer.return, "true one");
    assert.equal(stdout, `${forged}\n`);
  });
});

describe("a hostile tool", { concurrency: true }, () => {
  test("cannot break the answer by patching what it is made with", async () => {
    const source = `import fs from "node:fs";
      JSON.stringify = () => "broken"; JSON.parse = () => ({}); fs.writeSync = () => 0;
      process.exit = () => {}; globalThis.Promise = null; globalThis.setImmediate = null; globalThis.Buffer = null;
      process.removeAllListeners(); console.log = null; Atomics.wait = null;
      export function f() { return { a: [1, "two"] } }`;
    assert.deepEqual(await returned(source), { a: [1, "two"] });
  });

  test("does not find the nonce in what it can reach", async () => {
    const source = `const seen = [];
      for (const name of ["nonce", "status", "return", "error"]) {
        Object.defineProperty(Object.prototype, name, { configurable: true, set(value) { seen.push(value) } });
      }
      for (const owner of [Array.prototype, String.prototype]) {
        for (const name of Object.getOwnPropertyNames(owner)) {
          const original = owner[name];
          if (typeof original !== "function" || name === "push" || name === "constructor") continue;
          owner[name] = function (...args) { seen.push(String(args[0]), typeof this); return Reflect.apply(original, this, args) };
        }
      }
      export async function f() {
        await null;
        return JSON.stringify([seen, process.argv, process.execArgv, Object.keys(globalThis), new Error().stack]);
      }`;
    assert.doesNotMatch(await returned(source), /n-1/);
  });

  test("gets its own failure reported when it patches prototypes", async () => {
    const { answer } = await call("Array.prototype.push = () => { throw new Error('patched') };\nexport function f() { throw new Error('mine') }");
    assert.equal(answer.status, "error");
  });
});
