// TypeScript to JavaScript by @swc/wasm-typescript.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";

const PACKAGE = "@swc/wasm-typescript";
const LITERAL_START = "Buffer.from('";
const LITERAL_END = "', 'base64')";

// The package carries its WebAssembly as a base64 literal of 3.7 MB in its source. Loaded with
// require(), that text stays in the heap of every waiting process, three times over. So the literal
// is cut out and decoded here, and only the small rest is compiled.
function loadStripper() {
  const require = createRequire(import.meta.url);
  const path = require.resolve(PACKAGE);
  const file = readFileSync(path);
  const start = file.indexOf(LITERAL_START);
  const end = file.indexOf(LITERAL_END, start);
  if (start < 0 || end < 0) throw new Error(`${path} is not the version of ${PACKAGE} that package.json pins`);
  const wasm = Buffer.from(file.latin1Slice(start + LITERAL_START.length, end), "base64");
  const glue = file.utf8Slice(0, start) + "wasmBytes" + file.utf8Slice(end + LITERAL_END.length);
  const module = { exports: {} };
  const run = compileFunction(glue, ["module", "exports", "require", "wasmBytes"], { filename: path });
  run(module, module.exports, require, wasm);
  return module.exports.transformSync;
}

const swc = loadStripper();

// Types become spaces: every character keeps its place, so positions in errors are the author's.
export function blankTypes(source, filename) {
  return { code: swc(source, { mode: "strip-only", filename }).code, sourceMap: null };
}

// Enums, namespaces and parameter properties are rewritten and unused imports dropped: positions
// move, and `sourceMap` (JSON) tells where to.
export function rewriteTypes(source, filename) {
  const { code, map } = swc(source, { mode: "transform", filename, sourceMap: true });
  return { code, sourceMap: map };
}

// blankTypes refuses what it cannot do without moving code; swc throws plain objects.
export function needsRewriting(swcError) {
  return swcError?.code === "UnsupportedSyntax";
}
