// Whole reads and writes on a descriptor, synchronously.
//
// Everything this runtime says must be out before it exits, whatever the tool did to the event
// loop, to streams or to `fs`; so the functions are taken here, before any tool runs.

import { readSync, writeSync } from "node:fs";

const waitOn = Atomics.wait;
const neverSignalled = new Int32Array(new SharedArrayBuffer(4));
const RETRY_MS = 1;

// A descriptor may share its O_NONBLOCK flag with another process; Node has no poll(2) to wait with.
function pauseBeforeRetry() {
  waitOn(neverSignalled, 0, 0, RETRY_MS);
}

export function writeAll(fd, bytes) {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written, bytes.length - written);
    } catch (error) {
      if (error.code === "EAGAIN") pauseBeforeRetry();
      else if (error.code !== "EINTR") throw error;
    }
  }
}

// Fills `bytes`; false if the other side closed before the last byte.
export function readAll(fd, bytes) {
  let filled = 0;
  while (filled < bytes.length) {
    try {
      const count = readSync(fd, bytes, filled, bytes.length - filled, null);
      if (count === 0) return false;
      filled += count;
    } catch (error) {
      // A process that may wait for hours must not do so by polling.
      if (error.code === "EAGAIN") throw new Error(`descriptor ${fd} must be a blocking one`);
      if (error.code !== "EINTR") throw error;
    }
  }
  return true;
}
