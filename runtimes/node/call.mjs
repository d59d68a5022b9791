// One call from its request to the text of its answer.

import { bindArguments, bindLettaArguments } from "./arguments.mjs";
import { CallerMistake } from "./caller_mistake.mjs";
import { describeFailure } from "./failure.mjs";
import { encodeReturn } from "./return_value.mjs";
import { defineClient } from "./letta.mjs";
import { importerFor, loadFunction } from "./tool_loader.mjs";
import { chooseFunction } from "./tool_functions.mjs";
import { readTool } from "./tool_source.mjs";

const { stringify } = JSON;
const nextLoopTurn = setImmediate;
const NewPromise = Promise;

export class Call {
  #request;
  #tool = null;

  constructor(request) {
    this.#request = request;
  }

  // The answer's text; never rejects.
  async run() {
    try {
      const returned = await this.#callTool();
      const text = await encodeReturn(returned, this.#request.max_return_bytes);
      await letRejectionsSurface();
      return this.#answer(`"status":"ok","return":${text}`);
    } catch (thrown) {
      return this.failed(thrown);
    }
  }

  // The answer if the call ends with `thrown`, wherever it came up.
  failed(thrown) {
    const { status, error, errno } = reportSafely(thrown, this.#tool);
    return this.#answer(`"status":"${status}","error":${stringify(error)},"errno":${stringify(errno)}`);
  }

  async #callTool() {
    const { source, filename, name, args, env, letta } = this.#request;
    Object.assign(process.env, env);
    const tool = readTool(source, filename);
    this.#tool = tool;
    const chosen = chooseFunction(tool.functions, name ?? null, filename);
    const positions = letta ? bindLettaArguments(chosen, args, letta) : bindArguments(chosen, args);
    if (letta) await defineClient(source, importerFor(filename));
    const callable = await loadFunction(tool, chosen);
    return await callable(...positions);
  }

  // Every answer names its nonce first and its imports last (always none: there is nothing to preload).
  #answer(fields) {
    return `{"nonce":${stringify(this.#request.nonce)},${fields},"imports":[]}`;
  }
}

// Looking at what was thrown can run the tool's code: getters, proxies, patched prototypes.
function reportSafely(thrown, tool) {
  try {
    if (thrown instanceof CallerMistake) {
      return { status: "invalid", error: { name: thrown.name, message: thrown.message, traceback: "" }, errno: null };
    }
    return { status: "error", ...describeFailure(thrown, tool) };
  } catch {
    const message = "the tool threw something that cannot be described";
    return { status: "error", error: { name: "Error", message, traceback: "" }, errno: null };
  }
}

// A promise that the tool dropped and that has already been rejected is reported by Node only when
// the microtasks are done; without this turn the answer would be out before.
function letRejectionsSurface() {
  return new NewPromise((resolve) => nextLoopTurn(resolve));
}
