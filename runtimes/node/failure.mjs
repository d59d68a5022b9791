// What a tool threw, as a report: name, message and a traceback of the tool's own frames.

import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

const MAX_NAME_BYTES = 256;
const MAX_MESSAGE_BYTES = 16 * 1024;
const MAX_TRACEBACK_BYTES = 64 * 1024;
const MAX_CAUSES = 16;

const OUR_FOLDER = new URL(".", import.meta.url);
const OUR_FRAMES = [OUR_FOLDER.href, fileURLToPath(OUR_FOLDER)];

// { error: { name, message, traceback }, errno }; errno is the system's number (13 for EACCES) or null.
// `tool` may be null: it tells how to map positions back if types were rewritten.
export function describeFailure(thrown, tool) {
  const { name, message } = nameAndMessage(thrown);
  return {
    error: {
      name: cut(name, MAX_NAME_BYTES),
      message: cut(message, MAX_MESSAGE_BYTES),
      traceback: cut(traceback(thrown, positionMapper(tool)), MAX_TRACEBACK_BYTES),
    },
    errno: systemErrorNumber(thrown),
  };
}

function nameAndMessage(thrown) {
  if (typeof thrown !== "object" || thrown === null) return { name: "Error", message: `the tool threw ${inspect(thrown)}` };
  if (typeof thrown.message !== "string") return { name: "Error", message: `the tool threw ${inspect(thrown, { depth: 3 })}` };
  return { name: typeof thrown.name === "string" ? thrown.name : "Error", message: thrown.message };
}

function systemErrorNumber(thrown) {
  const errno = thrown?.errno;
  return Number.isInteger(errno) ? Math.abs(errno) : null;
}

function traceback(thrown, mapPositions) {
  const seen = new Set();
  const parts = [];
  for (let error = thrown; parts.length < MAX_CAUSES && !seen.has(error); error = error.cause) {
    seen.add(error);
    const { name, message } = nameAndMessage(error);
    parts.push([`${name}: ${message}`, ...toolFrames(error?.stack).map(mapPositions)].join("\n"));
    if (error?.cause === undefined || error.cause === null) break;
  }
  return parts.join("\nCaused by: ");
}

function toolFrames(stack) {
  if (typeof stack !== "string") return [];
  return stack.split("\n").filter((line) => /^\s+at /.test(line) && !isForeignFrame(line));
}

// Frames of this runtime and of Node say nothing about the tool.
function isForeignFrame(line) {
  return /[( ]node:/.test(line) || OUR_FRAMES.some((folder) => line.includes(folder));
}

function positionMapper(tool) {
  if (!tool?.sourceMap) return (line) => line;
  const map = new SourceMap(JSON.parse(tool.sourceMap));
  const { filename } = tool;
  return (frame) => frame.replace(/:(\d+):(\d+)(\)?)$/, (position, line, column, close) => {
    if (!frame.includes(filename)) return position;
    const { originalLine, originalColumn } = map.findEntry(line - 1, column - 1);
    return originalLine === undefined ? position : `:${originalLine + 1}:${originalColumn + 1}${close}`;
  });
}

function cut(text, maxBytes) {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= maxBytes) return bytes.toString();
  const note = "… (cut)";
  // Half a character at the cut would become a replacement sign of three bytes: leave room for it.
  return bytes.subarray(0, maxBytes - Buffer.byteLength(note) - 3).toString() + note;
}
