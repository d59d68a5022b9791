// The frames between the engine and this process: u32 little-endian payload length, one byte of
// type, payload. The README lists the types.

import { readAll, writeAll } from "./blocking_io.mjs";

const HEADER_BYTES = 5;
// The engine bounds a call long before this; it only keeps a garbled length from allocating.
const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;

const bufferFrom = Buffer.from;
const newBuffer = Buffer.allocUnsafeSlow;

export function sendFrame(fd, type, text) {
  const payload = bufferFrom(text, "utf8");
  const frame = newBuffer(HEADER_BYTES + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame[4] = type.charCodeAt(0);
  frame.set(payload, HEADER_BYTES);
  writeAll(fd, frame);
}

// Blocks for the next frame; null if the engine closed the channel first.
export function receiveFrame(fd) {
  const header = newBuffer(HEADER_BYTES);
  if (!readAll(fd, header)) return null;
  const length = header.readUInt32LE(0);
  if (length > MAX_PAYLOAD_BYTES) throw new Error(`a frame of ${length} bytes is larger than any call`);
  const payload = newBuffer(length);
  if (!readAll(fd, payload)) return null;
  return { type: String.fromCharCode(header[4]), text: payload.toString("utf8") };
}
