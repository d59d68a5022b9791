// The functions at the top level of a tool's syntax tree, in source order, with their parameters.
//
// A function is { name, reach, parameters }. `reach` says how to get hold of it once the tool has
// been run: { local } a name in its scope, { exported } a key of what it exports ("" for
// module.exports itself).

import { CallerMistake } from "./caller_mistake.mjs";
import { parseAnnotation } from "./annotations.mjs";

const UNNAMED = "default";

// `original` is the TypeScript behind `code`, character for character; null where it is not known.
export function listFunctions(tree, code, original) {
  const found = [];
  const add = (name, reach, node) => {
    const parameters = node.params.map((param) => describeParameter(param, code, original));
    found.push({ name, reach, parameters });
  };
  for (const statement of tree.body) visitStatement(statement, add);
  return found;
}

// The named function, or the last public one.
export function chooseFunction(functions, name, filename) {
  const isPublic = (candidate) => !candidate.name.startsWith("_");
  const chosen = name === null
    ? functions.findLast(isPublic)
    : functions.findLast((candidate) => candidate.name === name);
  if (chosen) return chosen;
  const names = [...new Set(functions.filter(isPublic).map((candidate) => candidate.name))];
  if (names.length === 0) {
    throw new CallerMistake(`${filename} has no public function; define one at its top level, such as: export function greet(name) { ... }`);
  }
  throw new CallerMistake(`${filename} has no function "${name}"; it has: ${names.join(", ")}`);
}

function isFunction(node) {
  return node?.type === "FunctionDeclaration" || node?.type === "FunctionExpression" || node?.type === "ArrowFunctionExpression";
}

function visitStatement(statement, add) {
  switch (statement.type) {
    case "FunctionDeclaration":
      add(statement.id.name, { local: statement.id.name }, statement);
      break;
    case "VariableDeclaration":
      for (const { id, init } of statement.declarations) {
        if (id.type === "Identifier" && isFunction(init)) add(id.name, { local: id.name }, init);
      }
      break;
    case "ExportNamedDeclaration":
      if (statement.declaration) visitStatement(statement.declaration, add);
      break;
    case "ExportDefaultDeclaration":
      if (isFunction(statement.declaration)) {
        add(statement.declaration.id?.name ?? UNNAMED, { exported: "default" }, statement.declaration);
      }
      break;
    case "ExpressionStatement":
      if (statement.expression.type === "AssignmentExpression") visitAssignment(statement.expression, add);
      break;
  }
}

// module.exports = function…, module.exports = { greet() {…} }, module.exports.greet = …, exports.greet = …
function visitAssignment({ left, right }, add) {
  if (isModuleExports(left)) {
    if (isFunction(right)) add(right.id?.name ?? UNNAMED, { exported: "" }, right);
    if (right.type === "ObjectExpression") visitExportedObject(right, add);
  } else if (isFunction(right) && left.type === "MemberExpression" && !left.computed && isExportsObject(left.object)) {
    add(left.property.name, { exported: left.property.name }, right);
  }
}

function visitExportedObject({ properties }, add) {
  for (const property of properties) {
    if (property.type !== "Property" || property.computed || !isFunction(property.value)) continue;
    const name = propertyName(property);
    add(name, { exported: name }, property.value);
  }
}

function isModuleExports(node) {
  return node.type === "MemberExpression" && !node.computed && node.object.name === "module" && node.property.name === "exports";
}

function isExportsObject(node) {
  return isModuleExports(node) || (node.type === "Identifier" && node.name === "exports");
}

function propertyName({ key }) {
  return key.type === "Identifier" ? key.name : String(key.value);
}

// { kind: "named" | "rest" | "object" | "unnamed", name, keys, takesMoreKeys, mayBeMissing, type, text }
function describeParameter(param, code, original) {
  const hasDefault = param.type === "AssignmentPattern";
  const isRest = param.type === "RestElement";
  const target = hasDefault ? param.left : isRest ? param.argument : param;
  const { optional, type, end } = readAnnotation(target.end, code, original);
  const described = {
    kind: isRest ? "rest" : "named",
    name: target.name,
    mayBeMissing: hasDefault || isRest || optional,
    type,
    text: (original ?? code).slice(param.start, hasDefault ? param.end : end).trim().replace(/\s+/g, " "),
  };
  if (target.type === "Identifier") return described;
  if (target.type !== "ObjectPattern" || isRest) return { ...described, kind: "unnamed" };
  return { ...described, kind: "object", ...patternKeys(target) };
}

function patternKeys({ properties }) {
  const named = properties.filter((property) => property.type === "Property");
  const takesMoreKeys = named.length < properties.length || named.some((property) => property.computed);
  return { keys: named.filter((property) => !property.computed).map(propertyName), takesMoreKeys };
}

// Blanking leaves spaces in `code` exactly where the annotation stands in `original`.
// Without an original, whether a TypeScript parameter is optional cannot be known: then it may be missing.
function readAnnotation(start, code, original) {
  if (original === null) return { optional: true, type: null, end: start };
  let end = start;
  while (end < code.length && /\s/.test(code[end])) end += 1;
  return { ...parseAnnotation(original.slice(start, end)), end };
}
