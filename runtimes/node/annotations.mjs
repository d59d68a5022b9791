// The simple part of TypeScript's types: enough to tell a caller that a string came where a number
// belongs. What is not simple (a named type, a generic, an intersection…) accepts everything.
//
// A type is one of
//   { is: "string" | "number" | "boolean" | "null" | "undefined" | "object" | "anything" }
//   { is: "literal", value }   { is: "array", item }   { is: "union", options }
//   { is: "record", members: [{ name, optional, type }] }

const TOKEN = /\s*(?:([A-Za-z_$][\w$.]*)|(-?\d+(?:\.\d+)?)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(\[\]|[^\s]))/y;
const PLAIN = new Set(["string", "number", "boolean", "null", "undefined", "object"]);

class NotSimple extends Error {}

// `text` is what stands behind a parameter's name: "", ": string", "?: number | null".
// type is null where there is no annotation or it is not simple.
export function parseAnnotation(text) {
  const [, question, rest] = /^\s*(\??)\s*:?([^]*)$/.exec(text);
  const optional = question === "?";
  if (rest.trim() === "") return { optional, type: null };
  try {
    const tokens = new Tokens(rest);
    const type = parseUnion(tokens);
    if (tokens.peek() !== null) throw new NotSimple();
    return { optional: optional || admitsUndefined(type), type };
  } catch (error) {
    if (!(error instanceof NotSimple)) throw error;
    return { optional, type: null };
  }
}

// Where `value` first contradicts `type`: { path, expected }, or null if it does not.
export function findContradiction(type, value, path) {
  if (accepts(type, value)) return null;
  if (type.is === "array" && Array.isArray(value)) {
    const index = value.findIndex((item) => !accepts(type.item, item));
    return findContradiction(type.item, value[index], `${path}[${index}]`);
  }
  if (type.is === "record" && isObject(value)) {
    const wrong = type.members.find((member) => !memberAccepts(member, value));
    return findContradiction(wrong.type, value[wrong.name], `${path}.${wrong.name}`);
  }
  return { path, expected: describeType(type) };
}

export function accepts(type, value) {
  switch (type.is) {
    case "anything": return true;
    case "literal": return value === type.value;
    case "null": return value === null;
    case "object": return typeof value === "object" && value !== null;
    case "array": return Array.isArray(value) && value.every((item) => accepts(type.item, item));
    case "union": return type.options.some((option) => accepts(option, value));
    case "record": return isObject(value) && type.members.every((member) => memberAccepts(member, value));
    default: return typeof value === type.is;
  }
}

// Whether leaving the value out is said to be fine; "anything" still has to be given.
function admitsUndefined(type) {
  return type.is === "undefined" || (type.is === "union" && type.options.some(admitsUndefined));
}

function memberAccepts({ name, optional, type }, value) {
  return Object.hasOwn(value, name) ? accepts(type, value[name]) : optional;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function describeType(type) {
  switch (type.is) {
    case "literal": return JSON.stringify(type.value);
    case "array": return type.item.is === "union" ? `(${describeType(type.item)})[]` : `${describeType(type.item)}[]`;
    case "union": return type.options.map(describeType).join(" | ");
    case "record": return `{ ${type.members.map((m) => `${m.name}${m.optional ? "?" : ""}: ${describeType(m.type)}`).join("; ")} }`;
    default: return type.is;
  }
}

class Tokens {
  constructor(text) {
    this.list = [];
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
      const [, word, number, string, sign] = match;
      this.list.push({ word, number, string, sign });
    }
    this.next = 0;
  }
  peek() {
    return this.list[this.next] ?? null;
  }
  take() {
    if (this.next === this.list.length) throw new NotSimple();
    return this.list[this.next++];
  }
  takeIf(sign) {
    if (this.peek()?.sign !== sign) return false;
    this.next += 1;
    return true;
  }
  expect(sign) {
    if (!this.takeIf(sign)) throw new NotSimple();
  }
}

function parseUnion(tokens) {
  tokens.takeIf("|");
  const options = [parseArray(tokens)];
  while (tokens.takeIf("|")) options.push(parseArray(tokens));
  return options.length === 1 ? options[0] : { is: "union", options };
}

function parseArray(tokens) {
  let type = parseSingle(tokens);
  while (tokens.takeIf("[]")) type = { is: "array", item: type };
  return type;
}

function parseSingle(tokens) {
  const { word, number, string, sign } = tokens.take();
  if (word) return parseWord(word, tokens);
  if (number) return { is: "literal", value: Number(number) };
  if (string) return { is: "literal", value: unquote(string) };
  if (sign === "{") return parseRecord(tokens);
  if (sign !== "(") throw new NotSimple();
  const inner = parseUnion(tokens);
  tokens.expect(")");
  return inner;
}

function parseWord(word, tokens) {
  if (PLAIN.has(word)) return { is: word };
  if (word === "true" || word === "false") return { is: "literal", value: word === "true" };
  if (word === "any" || word === "unknown") return { is: "anything" };
  if (word === "readonly") return parseArray(tokens);
  if (word !== "Array" && word !== "ReadonlyArray") throw new NotSimple();
  tokens.expect("<");
  const item = parseUnion(tokens);
  tokens.expect(">");
  return { is: "array", item };
}

// Escapes are rare in literal types and not worth a parser: such a literal is not simple.
function unquote(string) {
  if (string.includes("\\")) throw new NotSimple();
  return string.slice(1, -1);
}

function parseRecord(tokens) {
  const members = [];
  while (!tokens.takeIf("}")) {
    const { word, string } = tokens.take();
    if (!word && !string) throw new NotSimple();
    const marked = tokens.takeIf("?");
    tokens.expect(":");
    const type = parseMemberType(tokens);
    members.push({ name: word ?? unquote(string), optional: marked || admitsUndefined(type), type });
    if (!tokens.takeIf(";")) tokens.takeIf(",");
  }
  return { is: "record", members };
}

// A member whose own type is not simple must not hide the names of the others; but where it ends
// is only certain for a lone type name.
function parseMemberType(tokens) {
  const start = tokens.next;
  try {
    return parseUnion(tokens);
  } catch (error) {
    if (!(error instanceof NotSimple)) throw error;
    tokens.next = start;
    const { word } = tokens.take();
    const endsHere = [";", ",", "}"].includes(tokens.peek()?.sign);
    if (!word || !endsHere) throw error;
    return { is: "anything" };
  }
}
