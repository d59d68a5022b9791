// Named arguments to the positions of a function's parameters. Nothing has run yet when this
// refuses: every refusal is the caller's mistake, and shows how the function wants to be called.

import { accepts, findContradiction } from "./annotations.mjs";
import { CallerMistake } from "./caller_mistake.mjs";
import { bindPositions, convertArguments } from "./letta.mjs";

const MAX_SIGNATURE_CHARS = 300;

export function bindArguments(tool, args) {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new CallerMistake(`the arguments must be a JSON object of names and values; ${howToCall(tool)}`);
  }
  if (takesWholeObject(tool.parameters, args)) return bindWhole(tool, args);
  return bindByName(tool, args);
}

// In Letta mode: what the schema does not name is left out, and types are the schema's, not the annotations'.
export function bindLettaArguments(tool, args, { properties }) {
  const converted = convertArguments(args, properties);
  if (typeof converted !== "object" || converted === null || Array.isArray(converted)) return bindArguments(tool, converted);
  if (takesWholeObject(tool.parameters, converted)) return [converted];
  return bindPositions(tool, converted, properties);
}

// One parameter that is meant to hold all arguments: destructured, or of another name than any
// argument while its type (if told) allows an object.
function takesWholeObject(parameters, args) {
  if (parameters.length !== 1) return false;
  const [{ kind, name, type, mayBeMissing }] = parameters;
  if (kind === "object") return true;
  if (kind !== "named" || Object.hasOwn(args, name)) return false;
  if (Object.keys(args).length === 0) return type?.is === "record" && !mayBeMissing;
  return type === null || type.is === "record" || accepts(type, args);
}

function bindWhole(tool, args) {
  const [parameter] = tool.parameters;
  if (parameter.kind === "object") refuseUnknown(tool, unknownKeys(parameter, args));
  if (parameter.type?.is === "record") refuseMissing(tool, missingMembers(parameter.type, args));
  if (parameter.mayBeMissing && Object.keys(args).length === 0) return [];
  for (const [key, value] of Object.entries(args)) {
    const member = parameter.type?.members?.find((candidate) => candidate.name === key);
    if (member) refuseWrongType(tool, member.type, value, key);
  }
  return [args];
}

function unknownKeys({ keys, takesMoreKeys, type }, args) {
  if (takesMoreKeys) return [];
  const known = new Set([...keys, ...(type?.members ?? []).map((member) => member.name)]);
  return Object.keys(args).filter((key) => !known.has(key));
}

function missingMembers({ members }, args) {
  return members.filter(({ name, optional }) => !optional && !Object.hasOwn(args, name)).map(({ name }) => name);
}

function bindByName(tool, args) {
  const { parameters } = tool;
  if (parameters.some(({ kind }) => kind === "unnamed" || kind === "object")) {
    throw new CallerMistake(`${tool.name}() has a parameter without a name, so arguments cannot be matched to it; give each parameter a name, or take one object`);
  }
  const known = new Set(parameters.map(({ name }) => name));
  refuseUnknown(tool, Object.keys(args).filter((key) => !known.has(key)));
  refuseMissing(tool, parameters.filter((p) => !p.mayBeMissing && !Object.hasOwn(args, p.name)).map((p) => p.name));
  const positions = [];
  for (const parameter of parameters) {
    const value = Object.hasOwn(args, parameter.name) ? args[parameter.name] : undefined;
    if (value !== undefined) refuseWrongType(tool, parameter.type, value, parameter.name);
    if (parameter.kind === "rest") positions.push(...spreadRest(tool, parameter, value));
    else positions.push(value);
  }
  return positions;
}

function spreadRest(tool, { name }, value) {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new CallerMistake(`argument "${name}" must be an array; ${howToCall(tool)}`);
}

function refuseUnknown(tool, names) {
  if (names.length === 0) return;
  throw new CallerMistake(`${tool.name}() has no ${plural("argument", names)} ${quote(names)}; ${howToCall(tool)}`);
}

function refuseMissing(tool, names) {
  if (names.length === 0) return;
  throw new CallerMistake(`${tool.name}() needs the ${plural("argument", names)} ${quote(names)}; ${howToCall(tool)}`);
}

function refuseWrongType(tool, type, value, name) {
  const contradiction = type && findContradiction(type, value, name);
  if (!contradiction) return;
  throw new CallerMistake(`argument "${contradiction.path}" must be ${contradiction.expected}; ${howToCall(tool)}`);
}

function howToCall({ name, parameters }) {
  const signature = `${name}(${parameters.map(({ text }) => text).join(", ")})`;
  return `call it as ${signature.length > MAX_SIGNATURE_CHARS ? `${signature.slice(0, MAX_SIGNATURE_CHARS)}…` : signature}`;
}

function plural(word, names) {
  return names.length === 1 ? word : `${word}s`;
}

function quote(names) {
  return names.slice(0, 20).map((name) => `"${name.slice(0, 100)}"`).join(", ");
}
