// Reads a tool's source: TypeScript becomes JavaScript, JavaScript becomes a syntax tree, and the
// tree tells whether it is an ES module and which functions it has at its top level. Runs nothing.

import { parse } from "acorn";
import { blankTypes, needsRewriting, rewriteTypes } from "./stripper.mjs";
import { listFunctions } from "./tool_functions.mjs";
import { toolSyntaxError } from "./tool_syntax_error.mjs";

const TYPESCRIPT = /\.[mc]?ts$/;
const ALWAYS_MODULE = /\.m[tj]s$/;
const ALWAYS_COMMONJS = /\.c[tj]s$/;

// { filename, code, sourceMap, isModule, functions, rewrite }
// `rewrite()` gives the same tool by the slower way that drops imports of mere types; null if this
// already is that, or plain JavaScript.
export function readTool(givenSource, filename) {
  const source = givenSource.startsWith("\uFEFF") ? givenSource.slice(1) : givenSource;
  if (!TYPESCRIPT.test(filename)) return describe(filename, source, { code: source, sourceMap: null }, null);
  const rewrite = () => describe(filename, null, stripWith(rewriteTypes, source, filename), null);
  let blanked;
  try {
    blanked = blankTypes(source, filename);
  } catch (error) {
    if (needsRewriting(error)) return rewrite();
    throw fromSwc(error, filename);
  }
  return describe(filename, source, blanked, rewrite);
}

// `original` is the source whose characters stand where those of `code` do; null if there is none.
function describe(filename, original, { code, sourceMap }, rewrite) {
  const { tree, isModule } = parseJavaScript(code, filename);
  const aligned = original !== null && original.length === code.length ? original : null;
  return { filename, code, sourceMap, isModule, functions: listFunctions(tree, code, aligned), rewrite };
}

function stripWith(strip, source, filename) {
  try {
    return strip(source, filename);
  } catch (error) {
    throw fromSwc(error, filename);
  }
}

function fromSwc(error, filename) {
  if (typeof error?.startLine !== "number") return toolSyntaxError(String(error?.message ?? error), filename, 1, 1);
  return toolSyntaxError(error.message, filename, error.startLine, error.startColumn + 1);
}

function parseJavaScript(code, filename) {
  if (ALWAYS_MODULE.test(filename)) return { tree: parseAs("module", code, filename), isModule: true };
  if (ALWAYS_COMMONJS.test(filename)) return { tree: parseAs("script", code, filename), isModule: false };
  return parseEither(code, filename);
}

// Node's own rule for a file that does not say what it is: import, export, import.meta or a
// top-level await make it a module, anything else is CommonJS.
function parseEither(code, filename) {
  let tree;
  let moduleError;
  try {
    tree = parseAs("module", code, filename);
    if (tree.body.some(isModuleStatement)) return { tree, isModule: true };
  } catch (error) {
    moduleError = error;
  }
  try {
    return { tree: parseAs("script", code, filename), isModule: false };
  } catch (scriptError) {
    if (tree) return { tree, isModule: true };
    throw scriptError.pos > moduleError.pos ? scriptError : moduleError;
  }
}

function isModuleStatement({ type }) {
  return type.startsWith("Import") || type.startsWith("Export");
}

function parseAs(sourceType, code, filename) {
  try {
    return parse(code, {
      ecmaVersion: "latest",
      sourceType,
      allowHashBang: true,
      allowReturnOutsideFunction: sourceType === "script",
    });
  } catch (error) {
    if (!error.loc) throw error;
    const problem = error.message.replace(/ \(\d+:\d+\)$/, "");
    const { line, column } = error.loc;
    throw Object.assign(toolSyntaxError(problem, filename, line, column + 1), { pos: error.pos });
  }
}
