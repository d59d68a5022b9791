// For the tests: starts main.mjs as the engine does and talks to it over its channel.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { NODE_FLAGS } from "./node_flags.mjs";

const MAIN = fileURLToPath(new URL("main.mjs", import.meta.url));

export class Runtime {
  constructor(...more) {
    this.child = spawn(process.execPath, [...NODE_FLAGS, MAIN, "3", ...more], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, HOME: tmpdir() },
    });
    this.channel = this.child.stdio[3];
    this.stdout = collect(this.child.stdout);
    this.stderr = collect(this.child.stderr);
    this.closed = once(this.child, "close");
    this.frames = readFrames(this.channel);
  }

  async nextFrame() {
    const { value } = await this.frames.next();
    return value ?? null;
  }

  send(type, text) {
    const payload = Buffer.from(text);
    const header = Buffer.alloc(5);
    header.writeUInt32LE(payload.length, 0);
    header[4] = type.charCodeAt(0);
    this.channel.write(Buffer.concat([header, payload]));
  }
}

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function* readFrames(stream) {
  let held = Buffer.alloc(0);
  for await (const chunk of stream) {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 5 && held.length >= 5 + held.readUInt32LE(0)) {
      const end = 5 + held.readUInt32LE(0);
      yield { type: String.fromCharCode(held[4]), text: held.subarray(5, end).toString() };
      held = held.subarray(end);
    }
  }
}

// `packages` is the directory whose node_modules the tool may use; the other options go into the call.
export async function call(source, args = {}, { packages, ...options } = {}) {
  const runtime = new Runtime(...(packages ? [packages] : []));
  const ready = await runtime.nextFrame();
  assert.equal(ready?.type, "R", await notReadyBecause(runtime, ready));
  runtime.send("C", JSON.stringify({
    nonce: "n-1", source, filename: "greet.ts", name: null, args, env: {}, max_return_bytes: 1_000_000, ...options,
  }));
  const frame = await runtime.nextFrame();
  const [code] = await runtime.closed;
  const answer = frame && JSON.parse(frame.text);
  return { answer, type: frame?.type, code, stdout: await runtime.stdout, stderr: await runtime.stderr };
}

export async function notReadyBecause(runtime, frame) {
  return frame ? `a frame of type ${frame.type}` : await runtime.stderr;
}

export async function returned(source, args, options) {
  const { answer } = await call(source, args, options);
  assert.equal(answer.status, "ok", JSON.stringify(answer));
  return answer.return;
}

export async function failure(source, args, options) {
  const { answer } = await call(source, args, options);
  assert.equal(answer.status, "error", JSON.stringify(answer));
  return answer.error;
}

export async function mistake(source, args, options) {
  const { answer } = await call(source, args, options);
  assert.equal(answer.status, "invalid", JSON.stringify(answer));
  return answer.error.message;
}

export const js = { filename: "greet.js" };
