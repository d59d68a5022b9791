// Runs a tool's source from memory and hands back the chosen function.
//
// An ES module is a vm.SourceTextModule (hence the --experimental-vm-modules that the engine passes):
// no file has to be written, and stack traces show the tool's own file name and lines. Anything else
// is compiled as the function that CommonJS makes of a file.

import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import { resolvePackage } from "./packages.mjs";
import { toolSyntaxError } from "./tool_syntax_error.mjs";

// No identifier can have this name, so that it never meets one of the tool's own exports.
const CHOSEN = "belljar:chosen function";

export async function loadFunction(tool, { name, reach }) {
  const place = placeOf(tool.filename);
  const load = tool.isModule ? loadFromModule : loadFromCommonJs;
  const loaded = await load(tool, reach, place);
  if (typeof loaded !== "function") throw new TypeError(`after running ${tool.filename}, its "${name}" is not a function`);
  return loaded;
}

// Where the tool would lie if it were a file: its imports are resolved from the working directory.
function placeOf(filename) {
  const path = resolve(filename);
  const { href } = pathToFileURL(path);
  const importHere = async (specifier) => import(resolveFrom(specifier, href));
  return { path, href, importHere };
}

function resolveFrom(specifier, href) {
  try {
    return import.meta.resolve(specifier, href);
  } catch (error) {
    return resolvePackage(specifier, error);
  }
}

// import(), as the tool of that name would do it.
export function importerFor(filename) {
  return placeOf(filename).importHere;
}

async function loadFromModule(tool, reach, place) {
  const module = await linkOrRewrite(tool, reach, place);
  await module.evaluate();
  return module.namespace[reach.exported ?? CHOSEN];
}

// `import { SomeType } from "x"` without the word `type` is legal TypeScript, but leaves an import
// of something that does not exist; the rewriting stripper knows to drop it.
async function linkOrRewrite(tool, reach, place) {
  const importAsModule = async (specifier) => wrapNamespace(specifier, await place.importHere(specifier));
  const module = compileModule(tool, reach, place);
  try {
    await module.link(importAsModule);
    return module;
  } catch (error) {
    if (tool.rewrite === null) throw error;
  }
  const rewritten = tool.rewrite();
  // From here on, positions in stack traces are those of the rewritten code.
  tool.sourceMap = rewritten.sourceMap;
  const second = compileModule(rewritten, reach, place);
  await second.link(importAsModule);
  return second;
}

function compileModule({ code, filename }, reach, { path, href, importHere }) {
  const exportChosen = reach.local ? `\nexport { ${reach.local} as "${CHOSEN}" };` : "";
  return compile(filename, () => new vm.SourceTextModule(code + exportChosen, {
    identifier: filename,
    initializeImportMeta(meta) {
      Object.assign(meta, { url: href, filename: path, dirname: dirname(path) });
    },
    importModuleDynamically: importHere,
  }));
}

function wrapNamespace(specifier, namespace) {
  const names = Object.keys(namespace);
  return new vm.SyntheticModule(names, function setExports() {
    for (const name of names) this.setExport(name, namespace[name]);
  }, { identifier: specifier });
}

function loadFromCommonJs({ code, filename }, reach, { path, importHere }) {
  const returnChosen = reach.local ? `\nreturn ${reach.local};` : "";
  const run = compile(filename, () => vm.compileFunction(
    code + returnChosen,
    ["exports", "require", "module", "__filename", "__dirname"],
    { filename, importModuleDynamically: importHere },
  ));
  const module = { exports: {}, id: ".", filename: path, loaded: false };
  const chosen = Reflect.apply(run, module.exports, [module.exports, createRequire(path), module, path, dirname(path)]);
  if (reach.local) return chosen;
  return reach.exported === "" ? module.exports : module.exports[reach.exported];
}

// V8 finds mistakes that a parser alone does not; its stack opens with "file:line".
function compile(filename, makeIt) {
  try {
    return makeIt();
  } catch (error) {
    const line = error instanceof SyntaxError && /^.*:(\d+)\n/.exec(error.stack)?.[1];
    throw line ? toolSyntaxError(error.message, filename, Number(line), 1) : error;
  }
}
