// npm packages of the environment, mounted beside the tool: a tool finds them as if they were installed where it lies.

import { existsSync } from "node:fs";
import Module from "node:module";
import { pathToFileURL } from "node:url";

const DEFAULT_DIRECTORY = "/opt/packages";

let parent = null;

// `require` of the tool and of createRequire() searches NODE_PATH after the folders above the tool; the name of the
// variable itself is not the tool's business. `import` never looks there: see resolvePackage.
export function usePackages(directory = DEFAULT_DIRECTORY) {
  const folder = `${directory}/node_modules`;
  if (!existsSync(folder)) return;
  parent = pathToFileURL(`${directory}/tool.mjs`).href;
  const before = process.env.NODE_PATH;
  process.env.NODE_PATH = folder;
  Module._initPaths();
  if (before === undefined) delete process.env.NODE_PATH;
  else process.env.NODE_PATH = before;
}

// The URL of an imported package that is not to be found from `href`; rethrows `missing` if it is not here either.
export function resolvePackage(specifier, missing) {
  if (parent === null || missing?.code !== "ERR_MODULE_NOT_FOUND") throw missing;
  try {
    return import.meta.resolve(specifier, parent);
  } catch (error) {
    throw error?.code === "ERR_MODULE_NOT_FOUND" ? missing : error;
  }
}
