// Values and errors of cells, as notebooks show them.

import { inspect } from "node:util";

const DISPLAY = Symbol.for("Jupyter.display");
const METHODS = { _toHtml: "text/html", _toSvg: "image/svg+xml", _toPng: "image/png", _toJpeg: "image/jpeg" };
const OURS = /node:|\/opt\/belljar\/|interpreter\.mjs|evalmachine|new Promise \(<anonymous>\)$/;
const MOST_TEXT = 64 * 1024;

export function bundleOf(value) {
  const bundle = { "text/plain": textOf(value) };
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return bundle;
  try {
    for (const [method, mime] of Object.entries(METHODS)) {
      if (typeof value[method] === "function") bundle[mime] = carried(value[method]());
    }
    if (typeof value._toMime === "function") Object.assign(bundle, plain(value._toMime()));
    if (typeof value[DISPLAY] === "function") Object.assign(bundle, plain(value[DISPLAY]()));
  } catch {
    // A representation that fails is none.
  }
  return bundle;
}

function textOf(value) {
  try {
    return inspect(value);
  } catch (error) {
    return `<can't be shown: ${String(error?.message)}>`;
  }
}

function carried(item) {
  return item instanceof Uint8Array ? Buffer.from(item).toString("base64") : String(item);
}

function plain(items) {
  return Object.fromEntries(Object.entries(items).map(([mime, item]) =>
    [mime, typeof item === "string" || item instanceof Uint8Array ? carried(item) : JSON.parse(JSON.stringify(item))]));
}

export function describeError(error) {
  const isError = error !== null && typeof error === "object" && "stack" in error;
  const name = isError ? String(error.name ?? "Error") : "Error";
  const value = isError ? String(error.message ?? "") : textOf(error);
  const stack = isError ? String(error.stack) : value;
  const traceback = stack.split("\n").filter((line) => !/^\s+at /.test(line) || !OURS.test(line)).join("\n");
  return { name: cut(name), value: cut(value), traceback: cut(traceback) };
}

function cut(text) {
  return text.length <= MOST_TEXT ? text : text.slice(0, MOST_TEXT) + "...";
}
