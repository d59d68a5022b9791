// A return value as JSON text, the way a person would expect it; the README has the table.
//
// The walk itself is synchronous. Promises and async iterators found inside are awaited together
// between two walks, and what they gave is looked up in the next one.

import { isUtf8 } from "node:buffer";
import { types } from "node:util";

const MAX_DEPTH = 100;
// A promise may give a promise's holder, and so on; each level takes one more walk.
const MAX_WALKS = MAX_DEPTH;

const { stringify } = JSON;
const byteLength = Buffer.byteLength;

class ReturnTooLarge extends Error {
  name = "ReturnTooLarge";
  constructor(maxBytes) {
    super(`the return value is larger than ${maxBytes} bytes as JSON; return less, or write it to a file`);
  }
}

class ReturnNotJson extends Error {
  name = "ReturnNotJson";
}

export async function encodeReturn(value, maxBytes) {
  const settled = new Map();
  for (let walk = 0; walk < MAX_WALKS; walk += 1) {
    const encoder = new Encoder(maxBytes, settled);
    const text = encoder.encode(value);
    if (encoder.pending.size === 0) {
      if (byteLength(text) > maxBytes) throw new ReturnTooLarge(maxBytes);
      return text;
    }
    for (const waiting of encoder.pending) settled.set(waiting, await settle(waiting, maxBytes));
  }
  throw new ReturnNotJson("the return value has promises within promises without end");
}

async function settle(waiting, maxBytes) {
  if (typeof waiting.then === "function") return await waiting;
  const items = [];
  for await (const item of waiting) pushBounded(items, item, maxBytes);
  return items;
}

// An item takes at least a digit and a comma: an endless iterator is noticed before memory is.
function pushBounded(items, item, maxBytes) {
  items.push(item);
  if (items.length * 2 > maxBytes + 2) throw new ReturnTooLarge(maxBytes);
}

class Encoder {
  constructor(maxBytes, settled) {
    this.maxBytes = maxBytes;
    this.settled = settled;
    this.pending = new Set();
    this.ancestors = new Set();
    this.written = 0;
  }

  encode(value) {
    switch (typeof value) {
      case "string": return this.account(quote(value));
      case "number": return this.account(Number.isFinite(value) ? String(value) : "null");
      case "boolean": return this.account(String(value));
      case "bigint": return this.account(encodeBigInt(value));
      case "undefined": return this.account("null");
      case "symbol":
      case "function": return this.account(quote(String(value)));
      default: return value === null ? this.account("null") : this.encodeObject(value);
    }
  }

  // A UTF-16 unit takes at least one byte: a lower bound, exact enough to stop a runaway value.
  account(text) {
    this.written += text.length;
    if (this.written > this.maxBytes) throw new ReturnTooLarge(this.maxBytes);
    return text;
  }

  encodeObject(value) {
    if (this.settled.has(value)) return this.descend(value, () => this.encode(this.settled.get(value)));
    const bytes = asBytes(value);
    if (bytes) return this.encodeBytes(bytes);
    if (types.isDate(value)) return this.account(Number.isNaN(value.getTime()) ? "null" : quote(value.toISOString()));
    if (types.isBoxedPrimitive(value)) return this.encode(value.valueOf());
    if (types.isRegExp(value)) return this.account(quote(String(value)));
    return this.descend(value, () => this.encodeContainer(value));
  }

  descend(value, encodeInside) {
    if (this.ancestors.has(value)) throw new ReturnNotJson("the return value contains itself");
    if (this.ancestors.size >= MAX_DEPTH) throw new ReturnNotJson(`the return value is nested deeper than ${MAX_DEPTH} levels`);
    this.ancestors.add(value);
    const text = encodeInside();
    this.ancestors.delete(value);
    return text;
  }

  encodeContainer(value) {
    if (typeof value.then === "function") return this.wait(value);
    if (typeof value.toJSON === "function") return this.encode(value.toJSON());
    if (Array.isArray(value) || types.isTypedArray(value)) return this.encodeItems(value);
    if (types.isMap(value)) return this.encodeEntries(value.entries());
    if (types.isNativeError(value) || value instanceof Error) return this.encodeEntries([["name", value.name], ["message", value.message]]);
    if (typeof value[Symbol.asyncIterator] === "function") return this.wait(value);
    if (typeof value[Symbol.iterator] === "function") return this.encodeItems(this.collect(value));
    return this.encodeEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
  }

  wait(value) {
    this.pending.add(value);
    return "null";
  }

  // Kept, because a generator gives its items only to the first walk.
  collect(iterable) {
    const items = [];
    for (const item of iterable) pushBounded(items, item, this.maxBytes);
    this.settled.set(iterable, items);
    return items;
  }

  encodeItems(items) {
    let text = "[";
    for (let index = 0; index < items.length; index += 1) {
      text += (index === 0 ? "" : this.account(",")) + this.encode(items[index]);
    }
    return `${text}]`;
  }

  encodeEntries(entries) {
    let text = "";
    for (const [key, inner] of entries) {
      text += `${text === "" ? "" : ","}${this.account(quote(String(key)))}:${this.encode(inner)}`;
    }
    return `{${text}}`;
  }

  encodeBytes(bytes) {
    if (bytes.length > this.maxBytes) throw new ReturnTooLarge(this.maxBytes);
    return this.account(quote(bytes.toString(isUtf8(bytes) ? "utf8" : "base64")));
  }
}

function asBytes(value) {
  if (types.isAnyArrayBuffer(value)) return Buffer.from(value);
  if (types.isUint8Array(value) || types.isDataView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return null;
}

function encodeBigInt(value) {
  const isSafe = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
  return isSafe ? String(value) : `"${value}"`;
}

// Half a surrogate pair is no Unicode text, and JSON readers refuse its escape.
function quote(text) {
  return stringify(text.toWellFormed());
}
