// Letta's way to call a TypeScript tool: the JSON schema decides which arguments count and what their text stands for.
// Arguments stay data; none becomes source.

import { CallerMistake } from "./caller_mistake.mjs";

const CLIENT_PACKAGE = "@letta-ai/letta-client";

// The arguments that the schema names, each as its type asks.
export function convertArguments(args, properties) {
  if (!isObject(args) || !isObject(properties)) return args;
  const converted = {};
  for (const [name, value] of Object.entries(args)) {
    if (Object.hasOwn(properties, name)) converted[name] = convert(value, properties[name]?.type);
  }
  return converted;
}

function convert(value, type) {
  if (value === null) return value;
  if (type === "boolean") return toBoolean(value);
  if ((type === "number" || type === "integer") && typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))) {
    return Number(value);
  }
  return value;
}

function toBoolean(value) {
  if (typeof value === "boolean") return value;
  if (value === 0 || value === 1) return value === 1;
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (text === "true" || text === "false") return text === "true";
  const mistake = new CallerMistake(`Invalid boolean value: ${typeof value === "object" ? JSON.stringify(value) : value}`);
  mistake.name = "ValueError";
  throw mistake;
}

// Positions by the parameters' names; a gap is undefined. Names that fit no parameter at all are taken in the schema's
// order, which is how Letta passes every argument.
export function bindPositions(tool, args, properties) {
  const { parameters } = tool;
  const byName = parameters.filter(({ name }) => name !== undefined && Object.hasOwn(args, name));
  const names = Object.keys(args);
  if (byName.length === 0 && names.length > 0) {
    const order = Object.keys(properties ?? {}).filter((name) => Object.hasOwn(args, name));
    return (order.length > 0 ? order : names).map((name) => args[name]);
  }
  const last = parameters.findLastIndex(({ name }) => Object.hasOwn(args, name));
  return parameters.slice(0, last + 1).flatMap(({ kind, name }) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return kind === "rest" && Array.isArray(value) ? value : [value];
  });
}

// `client` for a tool that mentions it: null without the package or a key.
export async function defineClient(source, importHere) {
  if (!/\bclient\b/.test(source)) return;
  globalThis.client = null;
  const apiKey = process.env.LETTA_API_KEY;
  if (!apiKey) return;
  let found;
  try {
    found = await importHere(CLIENT_PACKAGE);
  } catch (error) {
    if (error?.code === "ERR_MODULE_NOT_FOUND") return;
    throw error;
  }
  const Client = found.LettaClient ?? found.Letta ?? found.default;
  globalThis.client = new Client({ apiKey, token: apiKey });
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
