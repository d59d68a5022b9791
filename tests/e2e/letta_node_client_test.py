"""Letta's official TypeScript client, unchanged, against Belljar."""

import json
import os
import subprocess
import unittest

from server_story import ServerStory
from sdk import node_sdk, skip_without

STORY = '''
import { createRequire } from "node:module";
const { Letta } = createRequire(process.argv[2] + "/x.js")("@letta-ai/letta-client");
const client = new Letta({ baseURL: process.argv[3], apiKey: process.env.KEY });
const source = `export async function greet(name: string, loud?: boolean): Promise<string> {
  return (loud ? "HELLO " : "hello ") + name;
}`;
const schema = { name: "greet", description: "Greets.", parameters: { type: "object",
  properties: { name: { type: "string" }, loud: { type: "boolean" } }, required: ["name"] } };
const out = { health: (await client.health()).status };
const tool = await client.tools.create({ source_code: source, source_type: "typescript", json_schema: schema });
out.name = tool.name;
out.kept = (await client.tools.retrieve(tool.id)).source_code === source;
const agent = await client.agents.create({ name: "ts", tool_ids: [tool.id], tags: ["node"],
  memory_blocks: [{ label: "human", value: "Ada" }, { label: "persona", value: "Helper" }] });
out.blocks = [];
for await (const one of client.agents.blocks.list(agent.id, { limit: 1, order: "asc" })) out.blocks.push(one.label);
await client.agents.blocks.update("human", { agent_id: agent.id, value: "Grace" });
out.value = (await client.agents.blocks.retrieve("human", { agent_id: agent.id })).value;
out.tagged = [];
for (const tags of [["node"], ["other"]]) for await (const one of client.agents.list({ tags })) out.tagged.push(one.name);
const result = await client.agents.tools.run("greet", { agent_id: agent.id, args: { name: "Ada", loud: true } });
out.result = [result.status, result.func_return];
out.listed = [];
for await (const one of client.tools.list({ limit: 1 })) out.listed.push(one.name);
await client.tools.delete(tool.id);
try { await client.tools.retrieve(tool.id); } catch (error) { out.gone = error.status; }
console.log(JSON.stringify(out));
'''


@skip_without("@letta-ai/letta-client")
class LettaNodeClient(ServerStory):
    def test_a_typescript_tool_is_stored_attached_run_and_deleted(self):
        script = self.write("story.mjs", STORY)
        done = subprocess.run(["node", script, node_sdk("@letta-ai/letta-client"), self.server.url], capture_output=True,
                              text=True, timeout=120, env={"PATH": os.environ["PATH"], "KEY": self.server.key})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {
            "health": "ok", "name": "greet", "kept": True, "blocks": ["human", "persona"], "value": "Grace", "tagged": ["ts"],
            "result": ["success", "HELLO Ada"], "listed": ["greet"], "gone": 404})


if __name__ == "__main__":
    unittest.main()
