// A stateful JavaScript context: cells run one after another in this process, in V8's own REPL mode, so that `let`,
// `const` and `class` stay, may be declared again, and `await` works at the top level. TypeScript loses its types first.
//
// node interpreter.mjs 3 LANGUAGE: 3 is the channel to the engine (README, "Interpreters").

import { Session } from "node:inspector";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";
import { prepare, readCell } from "./interpreter_source.mjs";
import { bundleOf, describeError } from "./interpreter_values.mjs";
import { useBlockingOutput } from "./stdio.mjs";

const HEADER_BYTES = 5;
const MOST_RESULT_BYTES = 8 << 20;
const fd = Number(process.argv[2]);
const language = process.argv[3];

class Interrupted extends Error {
  name = "KeyboardInterrupt";
}

useBlockingOutput(); // what a cell has printed is out before its end is told, and while it computes

const session = new Session();
session.connect();
const channel = new Socket({ fd, readable: true, writable: true });
let running = null; // { nonce, interrupt } of the cell that runs
let count = 0;
let taken; // where a value comes out of the session

const hooks = {
  import: (name) => import(import.meta.resolve(name, pathToFileURL(process.cwd() + "/cell.mjs").href)),
  take: (value) => { taken = value; },
  evaluate: null,
};
Object.defineProperty(globalThis, Symbol.for("belljar.hooks"), { value: hooks });
globalThis.require = createRequire(process.cwd() + "/cell.js");
globalThis.display = (value) => publish(bundleOf(value), false);

function send(message) {
  const payload = Buffer.from(JSON.stringify(message).toWellFormed?.() ?? JSON.stringify(message), "utf8");
  const frame = Buffer.alloc(HEADER_BYTES + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.write("J", 4);
  payload.copy(frame, HEADER_BYTES);
  channel.write(frame);
}

function publish(bundle, main) {
  if (running === null) return;
  const size = Object.values(bundle).reduce((sum, item) => sum + JSON.stringify(item).length, 0);
  const fits = size <= MOST_RESULT_BYTES ? bundle : { "text/plain": bundle["text/plain"].slice(0, MOST_RESULT_BYTES / 8) + "..." };
  send({ op: "result", nonce: running.nonce, main, data: fits });
}

// The value behind what the session tells of it.
function valueOf(remote) {
  const argument = remote.objectId ? { objectId: remote.objectId }
    : "unserializableValue" in remote ? { unserializableValue: remote.unserializableValue } : { value: remote.value };
  session.post("Runtime.callFunctionOn", {
    functionDeclaration: "function(value) { globalThis[Symbol.for('belljar.hooks')].take(value); }",
    arguments: [argument], executionContextId: 1, silent: true }, () => {});
  const value = taken;
  taken = undefined;
  return value;
}

function evaluate(expression) {
  return new Promise((resolve, reject) => {
    running.interrupt = () => reject(new Interrupted(""));
    const take = (error, answer) => {
      if (error) reject(new Interrupted(""));
      else if (answer.exceptionDetails) reject({ thrown: valueOf(answer.exceptionDetails.exception ?? {}) });
      // A value that is a promise is waited for, and may be interrupted until then.
      else Promise.resolve(valueOf(answer.result)).then(resolve, (thrown) => reject({ thrown }));
    };
    hooks.evaluate = () => session.post("Runtime.evaluate", { expression, replMode: true, awaitPromise: true }, take);
    try {
      // As a script of its own, so that a signal can end a cell that never gives control back.
      runInThisContext("globalThis[Symbol.for('belljar.hooks')].evaluate()", { breakOnSigint: true });
    } catch {
      reject(new Interrupted(""));
    }
  });
}

async function runCell(code) {
  try {
    const value = await evaluate(readCell(code, language, count));
    if (value !== undefined) publish(bundleOf(value), true);
  } catch (failure) {
    const error = failure instanceof Interrupted || !("thrown" in Object(failure)) ? failure : failure.thrown;
    send({ op: "error", nonce: running.nonce, ...describeError(error) });
  }
}

function setVariables(variables) {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  Object.assign(process.env, variables);
  return before;
}

function restoreVariables(before) {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

async function take(message) {
  if (message.op !== "execute") {
    send({ op: "refused", nonce: message.nonce, reason: "only Python contexts can be checkpointed" });
    return;
  }
  running = { nonce: message.nonce, interrupt: null };
  count += 1;
  send({ op: "count", nonce: message.nonce, count });
  const before = setVariables(message.env ?? {});
  await runCell(message.code);
  restoreVariables(before);
  running = null;
  send({ op: "done", nonce: message.nonce });
}

let unread = Buffer.alloc(0);
let queue = Promise.resolve();
channel.on("data", (piece) => {
  unread = Buffer.concat([unread, piece]);
  while (unread.length >= HEADER_BYTES && unread.length >= HEADER_BYTES + unread.readUInt32LE(0)) {
    const end = HEADER_BYTES + unread.readUInt32LE(0);
    const message = JSON.parse(unread.toString("utf8", HEADER_BYTES, end));
    unread = unread.subarray(end);
    queue = queue.then(() => take(message));
  }
});
const leave = process.reallyExit.bind(process);
channel.on("close", () => leave(0));
channel.on("error", () => leave(0));
process.on("SIGINT", () => running?.interrupt?.());
// What fails in the background of a notebook is told, and ends nothing.
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error) => process.stderr.write(`Uncaught ${describeError(error).traceback}\n`));
}
prepare(language).then(() => send({ op: "ready", pid: process.pid }));
