// A warm, single-use Node process: gets ready, waits for one call, answers it, is gone.
// Usage: node [flags, see README] main.mjs CHANNEL-DESCRIPTOR [DIRECTORY OF node_modules]

import { receiveFrame, sendFrame } from "./channel.mjs";
import { Call } from "./call.mjs";
import { usePackages } from "./packages.mjs";
import { useBlockingOutput } from "./stdio.mjs";
import { warmUp } from "./warm_up.mjs";

const channel = Number(process.argv[2]);
if (Number.parseInt(process.versions.node, 10) < 20) {
  process.stderr.write(`TypeScript tools need Node 20 or newer; this template has ${process.versions.node}.\n`);
  process.exit(70);
}
const parseJson = JSON.parse;
const exitNow = process.reallyExit.bind(process);
const STACK_FRAMES = 50;

class ToolExited extends Error {
  name = "ToolExited";
}

class NeverSettled extends Error {
  name = "NeverSettled";
}

// What the tool would find of this runtime in its surroundings.
function hideOurselves() {
  process.argv.length = 1;
  process.execArgv.length = 0;
}

// Each way in which a call can end without its function returning leads to `fail`.
// process.exit ends in process.reallyExit, whatever the tool's own exit handlers do first.
function watchForOtherEnds(fail) {
  process.reallyExit = (code) => fail(new ToolExited(`the tool called process.exit(${code ?? 0})`));
  process.setUncaughtExceptionCaptureCallback(fail);
  process.on("beforeExit", () => fail(new NeverSettled("the tool's promise never settled: nothing is left that could settle it")));
}

// Waits for the engine's call; null if it closed the channel instead.
function receiveCall() {
  const frame = receiveFrame(channel);
  if (frame === null) return null;
  if (frame.type !== "C") throw new Error(`expected a call, got a frame of type "${frame.type}"`);
  return new Call(parseJson(frame.text));
}

async function main() {
  Error.stackTraceLimit = STACK_FRAMES;
  useBlockingOutput();
  usePackages(process.argv[3]);
  await warmUp();
  let call = null;
  const finish = (answer) => {
    try {
      sendFrame(channel, "A", answer);
    } finally {
      exitNow(0);
    }
  };
  watchForOtherEnds((thrown) => finish(call.failed(thrown)));
  hideOurselves();
  // What loading left behind would otherwise stay for as long as the process waits.
  globalThis.gc?.();
  // Collecting cooled down what the call will use: pages given back, caches cleared.
  await warmUp();
  sendFrame(channel, "R", "");
  call = receiveCall();
  if (call === null) exitNow(0);
  finish(await call.run());
}

main().catch((error) => {
  console.error(`belljar node runtime: ${error.stack}`);
  exitNow(70);
});
