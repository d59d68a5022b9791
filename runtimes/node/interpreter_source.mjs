// A cell's source as V8's REPL mode takes it: types removed, static imports and import() led through a function of ours,
// because a cell is no file that could import.

import { parse } from "acorn";

const IMPORT = "globalThis[Symbol.for('belljar.hooks')].import";
let stripper = null;

export function readCell(code, language, number) {
  const plain = language === "typescript" ? withoutTypes(code) : code;
  return withImportsCalled(plain) + `\n//# sourceURL=cell-${number}.${language === "typescript" ? "ts" : "js"}`;
}

export async function prepare(language) {
  if (language === "typescript") stripper = await import("./stripper.mjs");
}

function withoutTypes(code) {
  try {
    return stripper.blankTypes(code, "cell.ts").code;
  } catch (error) {
    if (stripper.needsRewriting(error)) return stripper.rewriteTypes(code, "cell.ts").code;
    throw Object.assign(new SyntaxError(String(error?.message ?? error)), { stack: `SyntaxError: ${error?.message ?? error}` });
  }
}

function withImportsCalled(code) {
  if (!/\b(import|export)\b/.test(code)) return code;
  let tree;
  try {
    tree = parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  } catch {
    return code; // V8 tells what is wrong with it
  }
  const edits = [];
  visit(tree, (node) => {
    if (node.type === "ImportDeclaration") edits.push([node.start, node.end, importCall(node)]);
    else if (node.type === "ImportExpression") edits.push([node.start, node.start + "import".length, IMPORT]);
    else if (node.type === "ExportNamedDeclaration" && node.declaration) edits.push([node.start, node.declaration.start, ""]);
  });
  edits.sort((a, b) => b[0] - a[0]);
  return edits.reduce((text, [start, end, by]) => text.slice(0, start) + by + text.slice(end), code);
}

function importCall({ specifiers, source }) {
  const call = `await ${IMPORT}(${source.raw})`;
  const all = specifiers.find((one) => one.type === "ImportNamespaceSpecifier");
  const named = specifiers.filter((one) => one !== all).map((one) => one.type === "ImportDefaultSpecifier"
    ? `default: ${one.local.name}` : `${one.imported.raw ?? one.imported.name}: ${one.local.name}`);
  const parts = [];
  if (all) parts.push(`const ${all.local.name} = ${call};`);
  if (named.length > 0) parts.push(`const { ${named.join(", ")} } = ${call};`);
  return parts.length > 0 ? parts.join(" ") : `${call};`;
}

function visit(node, see) {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, see);
  } else if (node !== null && typeof node === "object") {
    if (typeof node.type === "string") see(node);
    for (const key of Object.keys(node)) if (key !== "type" && key !== "loc") visit(node[key], see);
  }
}
