// process.stdout and process.stderr as plain synchronous writers.
//
// Node's own streams on a pipe make it non-blocking and keep what does not fit in memory; that rest
// is lost when the process ends right after its answer. They also load the network stack, which
// costs a waiting process memory and the first console.log its time.

import { Writable } from "node:stream";
import { writeAll } from "./blocking_io.mjs";

let muted = false;

class BlockingOutput extends Writable {
  constructor(fd) {
    super({ decodeStrings: true });
    this.fd = fd;
    this._type = "fs";
  }

  _write(bytes, _encoding, done) {
    try {
      if (!muted) writeAll(this.fd, bytes);
    } catch {
      // The engine stopped listening (an output limit); that is no fault of the tool's print.
    }
    done();
  }

  // Like the streams it replaces: a tool that ends stdout must not break a later console.log.
  _destroy(error, done) {
    this._undestroy();
    done(error);
  }
}

export function useBlockingOutput() {
  for (const [name, fd] of [["stdout", 1], ["stderr", 2]]) {
    const stream = new BlockingOutput(fd);
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => stream });
  }
}

// Runs `work` with both outputs thrown away.
export async function withOutputMuted(work) {
  muted = true;
  try {
    return await work();
  } finally {
    muted = false;
  }
}
