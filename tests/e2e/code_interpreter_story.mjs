// A user of @e2b/code-interpreter, told to a Belljar: E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY say where it is.

import assert from "node:assert/strict";
import { Sandbox } from "@e2b/code-interpreter";

const sandbox = await Sandbox.create("base", { timeoutMs: 120_000 });
try {
  await sandbox.runCode("x = 1");
  const execution = await sandbox.runCode("x += 1\nprint('out')\nx");
  assert.equal(execution.text, "2");
  assert.deepEqual(execution.logs.stdout, ["out\n"]);
  assert.equal(execution.executionCount, 2);
  assert.deepEqual(execution.results[0].extra, {});

  const failed = await sandbox.runCode("raise KeyError('k')");
  assert.equal(failed.error.name, "KeyError");

  const seen = [];
  await sandbox.runCode("print('a')", { onStdout: (message) => seen.push(message.line) });
  assert.deepEqual(seen, ["a\n"]);

  const long = "é😀".repeat(300_000);
  assert.equal((await sandbox.runCode("print('é😀' * 300_000, end='')")).logs.stdout.join(""), long);
  assert.equal((await sandbox.runCode("import os; os.environ['E2B_SANDBOX_ID']")).text, sandbox.sandboxId);
  assert.equal((await sandbox.runCode("os._exit(1)")).error.name, "ContextRestarting");

  assert.equal((await sandbox.runCode("const a = 1; a + 1", { language: "JS" })).text, "2");
  assert.equal((await sandbox.runCode("a", { language: "javascript" })).text, "1");

  const context = await sandbox.createCodeContext({ cwd: "/tmp" });
  assert.equal((await sandbox.runCode("import os; os.getcwd()", { context })).text, "/tmp");
  assert.ok((await sandbox.listCodeContexts()).some(({ id }) => id === context.id));
  await sandbox.restartCodeContext(context);
  await sandbox.removeCodeContext(context);
  await assert.rejects(sandbox.runCode("1", { context }));

  await sandbox.runCode("kept = 5");
  await assert.rejects(sandbox.runCode("while True: pass", { timeoutMs: 1000 }));
  assert.equal((await sandbox.runCode("kept")).text, "5");
  // Killed while its interpreter starts, or a little later: that is what is told, not that Python did not start.
  for (const delay_ms of [0, 10, 30, 100]) {
    const short = await Sandbox.create("base");
    const told = short.runCode("import time; time.sleep(60)").catch((error) => error);
    await new Promise((go) => setTimeout(go, delay_ms));
    await short.kill();
    assert.equal((await told).constructor.name, "TimeoutError", JSON.stringify(await told));
  }
} finally {
  await sandbox.kill();
}
