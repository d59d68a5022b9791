#include "server/docs_page.h"

#include <openssl/evp.h>

#include <array>

namespace bj {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --get: #2a7d4f; --post: #2563b0; --put: #9a6700; --delete: #b3261e; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { margin: 0; } h2 { margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
code, pre, textarea, input { font: 13px/1.5 ui-monospace, monospace; }
input, textarea { width: 100%; box-sizing: border-box; padding: .3rem .5rem; }
pre { background: var(--soft); padding: .7rem; overflow: auto; max-height: 30rem; margin: .3rem 0; white-space: pre-wrap; }
details.route { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
details.route > summary { padding: .4rem .7rem; cursor: pointer; display: flex; gap: .7rem; align-items: baseline; flex-wrap: wrap; }
details.route > div { padding: 0 .9rem .9rem; }
.method { font-weight: 600; min-width: 4.5rem; } .GET { color: var(--get); } .POST { color: var(--post); }
.PUT, .PATCH { color: var(--put); } .DELETE { color: var(--delete); } .quiet { opacity: .7; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .6rem .25rem 0; vertical-align: top; }
button { padding: .3rem 1rem; margin: .5rem 0; } #key { max-width: 28rem; }
)css";

constexpr std::string_view kScript = R"js(
"use strict";
const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element[name] = value;
  element.append(...children.filter((child) => child !== null));
  return element;
};
const key = document.getElementById("key");
const headers = () => (key.value ? { Authorization: "Bearer " + key.value } : {});
const pretty = (value) => JSON.stringify(value, null, 2);
let schemas = {};

// An example of what a schema describes; references are followed a few steps.
const example = (schema, depth) => {
  if (!schema || depth > 5) return null;
  if (schema.$ref) return example(schemas[schema.$ref.split("/").pop()], depth + 1);
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf || schema.oneOf || schema.allOf;
  if (choice) return example(choice[0], depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") {
    const made = {};
    const wanted = schema.required || Object.keys(schema.properties || {});
    for (const name of wanted) made[name] = example((schema.properties || {})[name], depth + 1);
    return made;
  }
  return { array: [], integer: 0, number: 0, boolean: false, string: "" }[type] ?? null;
};

const block = (title, content) =>
  Object.entries(content || {}).filter(([, media]) => media.schema).map(([type, media]) =>
    make("details", {}, make("summary", {}, `${title} (${type})`), make("pre", { textContent: pretty(media.schema) })));

const parameterRow = (parameter, inputs) => {
  const input = make("input", { placeholder: parameter.required ? "required" : "optional" });
  inputs.push([parameter, input]);
  return make("tr", {}, make("td", {}, make("code", { textContent: parameter.name })),
    make("td", { className: "quiet", textContent: parameter.in }),
    make("td", { textContent: parameter.description || "" }), make("td", {}, input));
};

const send = async (method, path, inputs, body, out) => {
  const query = new URLSearchParams();
  const extra = headers();
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value && parameter.in === "query") query.append(parameter.name, input.value);
    else if (input.value) extra[parameter.name] = input.value;
  }
  if (body) extra["Content-Type"] = "application/json";
  out.textContent = "...";
  try {
    const url = path + (query.size ? "?" + query : "");
    const response = await fetch(url, { method, headers: extra, body: body ? body.value : undefined });
    out.textContent = `${response.status} ${response.statusText}\n`;
    if (!response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      out.textContent = `${response.status} ${response.statusText}\n${text}`;
    }
    out.textContent = `${response.status} ${response.statusText}\n${pretty(JSON.parse(text))}`;
  } catch (error) {
    if (!(error instanceof SyntaxError)) out.textContent += String(error);
  }
};

const routeBox = (method, path, operation) => {
  const inputs = [];
  const parameters = operation.parameters || [];
  const content = operation.requestBody && operation.requestBody.content;
  const schema = content && content["application/json"] && content["application/json"].schema;
  const body = schema ? make("textarea", { rows: 8, value: pretty(example(schema, 0)) }) : null;
  const out = make("pre", { hidden: true });
  const button = make("button", { textContent: "Send" });
  button.addEventListener("click", () => { out.hidden = false; send(method, path, inputs, body, out); });
  return make("details", { className: "route" },
    make("summary", {}, make("span", { className: "method " + method, textContent: method }),
      make("code", { textContent: path }), make("span", { className: "quiet", textContent: operation.summary || "" })),
    make("div", {}, make("p", { textContent: operation.description || "" }),
      parameters.length ? make("table", {}, ...parameters.map((each) => parameterRow(each, inputs))) : null,
      ...block("Request", content),
      ...Object.entries(operation.responses || {}).flatMap(([status, each]) => block("Answer " + status, each.content)),
      body, button, out));
};

const show = async () => {
  const main = document.querySelector("main");
  const response = await fetch("/openapi.json", { headers: headers() });
  if (!response.ok) return main.replaceChildren(make("p", { textContent: "Enter a key above to see the routes." }));
  const description = await response.json();
  schemas = (description.components || {}).schemas || {};
  document.getElementById("version").textContent = description.info.version;
  const groups = new Map();
  for (const [path, operations] of Object.entries(description.paths))
    for (const [method, operation] of Object.entries(operations)) {
      const tag = (operation.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(routeBox(method.toUpperCase(), path, operation));
    }
  main.replaceChildren(...[...groups].flatMap(([tag, boxes]) => [make("h2", { textContent: tag }), ...boxes]),
    make("h2", { textContent: "schemas" }),
    ...Object.entries(schemas).map(([name, schema]) => make("details", { className: "route" },
      make("summary", {}, make("code", { textContent: name })), make("pre", { textContent: pretty(schema) }))));
};
key.addEventListener("change", show);
show();
)js";

std::string base64_sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, 64> encoded{};
  const int length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return {reinterpret_cast<const char*>(encoded.data()), static_cast<size_t>(length)};
}

std::string page_text() {
  std::string page = R"(<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Belljar's API</title>)"
                     R"(<meta name="viewport" content="width=device-width"><style>)";
  page.append(kStyle).append("</style></head><body><h1>Belljar <small class=\"quiet\" id=\"version\"></small></h1>");
  page += R"(<p>Each request wants a key. The page keeps it only while it is open.</p>)"
          R"(<p><input id="key" type="password" autocomplete="off" placeholder="key"></p><main></main><script>)";
  return page.append(kScript).append("</script></body></html>\n");
}

}  // namespace

HttpResponse docs_page() {
  static const std::string page = page_text();
  static const std::string policy =
      "default-src 'none'; script-src 'sha256-" + base64_sha256(kScript) + "'; style-src 'sha256-" +
      base64_sha256(kStyle) + "'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  HttpResponse response = text_response(200, "text/html; charset=utf-8", page);
  response.headers.add("Content-Security-Policy", policy);
  response.headers.add("Referrer-Policy", "no-referrer");
  return response;
}

}  // namespace bj
