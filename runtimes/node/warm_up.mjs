// One whole call of an internal tool, so that the real one finds everything compiled: the stripper's
// WebAssembly, the parser, the module loader, the console.

import { Call } from "./call.mjs";
import { withOutputMuted } from "./stdio.mjs";

const SOURCE = `
import { inspect } from "node:util";
interface Options { loud?: boolean }
export async function warmUp(name: string, times: number = 1, tags?: string[]): Promise<unknown> {
  const greeting: string = inspect({ name, times });
  console.log("warm", greeting);
  return { greeting, list: [1, 2.5, true, null, tags], when: new Date(0) } as Options;
}
`;

export async function warmUp() {
  const request = {
    nonce: "",
    source: SOURCE,
    filename: "warm_up.ts",
    name: null,
    args: { name: "Ada", tags: ["a"] },
    env: {},
    max_return_bytes: 4096,
  };
  const answer = JSON.parse(await withOutputMuted(() => new Call(request).run()));
  if (answer.status !== "ok") throw new Error(`the warm-up call failed: ${answer.error.traceback}`);
}
