// What stories with E2B's JavaScript SDK share: checks by name, told as JSON. Arguments of a story: the SDK's folder, and
// optionally the name of one check.
import { createRequire } from "node:module";

export const e2b = createRequire(process.argv[2] + "/x.js")("e2b");

const checks = {};
export const check = (name, body) => { checks[name] = body; };
export const until = async (ready) => { while (!(await ready())) await new Promise((go) => setTimeout(go, 50)); };

export async function tell(...shared) {
  const result = {};
  for (const [name, body] of Object.entries(checks)) {
    if (process.argv[3] && name !== process.argv[3]) continue;
    try {
      await body(...shared);
      result[name] = "ok";
    } catch (error) {
      result[name] = String(error?.stack ?? error).slice(0, 1500);
    }
  }
  console.log(JSON.stringify(result));
}
