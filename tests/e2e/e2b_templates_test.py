"""E2B's released SDK builds templates here: its own Template API, unchanged."""

import json
import os
import subprocess
import unittest

import sdk
from template_builds_test import TemplateStory

SCRIPT = r"""
import { Template, Sandbox, waitForFile, defaultBuildLogger } from 'e2b'
const key = process.env.E2B_API_KEY
const options = { apiKey: key }
const out = {}
const name = 'sdk-template'
const logs = []
const template = Template({ fileContextPath: process.env.CONTEXT })
  .fromTemplate('base')
  .setEnvs({ WHO: 'sdk', OWN: '$HOME/bin:$USER' })
  .setWorkdir('/home/user/app')
  .copy('folder', '.')
  .copy('one.txt', '/home/user/one.txt')
  .runCmd('echo "$WHO $(id -un) $(pwd)" > said')
  .runCmd('id -un > /etc/root-was-here', { user: 'root' })
  .setStartCmd('touch /tmp/started; sleep 1000', waitForFile('/tmp/started'))
out.before = await Template.exists(name, options)
const built = await Template.build(template, name, { ...options, cpuCount: 1, memoryMB: 512, tags: ['v1'], onBuildLogs: (entry) => logs.push(entry.message) })
out.templateId = built.templateId
out.logs = logs.length
out.after = await Template.exists(name, options)
out.base = await Template.exists('base', options)
await Template.assignTags(`${name}:v1`, ['stable', 'default'], options)
out.tags = (await Template.getTags(built.templateId, options)).map((tag) => tag.tag).sort()
await Template.removeTags(name, ['stable'], options)
out.fewer = (await Template.getTags(built.templateId, options)).map((tag) => tag.tag).sort()
let failed = ''
try {
  await Template.build(Template().fromTemplate('base').runCmd('exit 7'), 'sdk-broken', options)
} catch (error) {
  failed = error.constructor.name + ': ' + error.message
}
out.failed = failed
let dead = ''
try {
  await Template.build(Template().fromTemplate('base').setStartCmd('exit 3', waitForFile('/never')), 'sdk-dead', options)
} catch (error) {
  dead = error.message
}
out.dead = dead
await Template.build(Template().fromTemplate('base').runCmd('touch /home/user/built'), 'code-interpreter', options)
const interpreter = await Sandbox.create('code-interpreter-v1', options)
out.interpreter = [await interpreter.files.exists('built'), (await interpreter.getInfo()).name]
await interpreter.kill()
const tagged = await Sandbox.create(`${name}:v1`, options)
const info = await tagged.getInfo()
out.tagged = [info.templateId === built.templateId, info.name]
out.listed = (await Sandbox.list({ query: { template: built.templateId } }).nextItems()).length
await tagged.kill()
const background = await Template.buildInBackground(Template().fromTemplate('base').runCmd('sleep 1'), 'sdk-background', options)
out.status = (await Template.getBuildStatus(background, options)).status
console.log(JSON.stringify(out))
"""


@sdk.skip_without("e2b")
class SdkTemplates(TemplateStory):
    def node(self, script):
        folder = sdk.node_sdk("e2b")
        path = os.path.join(folder, f"belljar-{os.getpid()}.mjs")
        with open(path, "w") as file:
            file.write(script)
        self.addCleanup(os.remove, path)
        context = os.path.join(self.scratch, "context")
        os.makedirs(os.path.join(context, "folder"), exist_ok=True)
        for name, text in (("folder/inner.txt", "inner\n"), ("one.txt", "one\n")):
            with open(os.path.join(context, name), "w") as file:
                file.write(text)
        environment = {"PATH": os.environ["PATH"], "HOME": self.scratch, "E2B_API_KEY": self.server.key, "CONTEXT": context,
                       "E2B_API_URL": self.server.url, "E2B_SANDBOX_URL": self.server.url}
        done = subprocess.run(["node", path], env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout.strip().splitlines()[-1])

    def test_the_sdk_builds_tags_and_finds_templates(self):
        out = self.node(SCRIPT)
        self.assertEqual((out["before"], out["after"], out["base"]), (False, True, True))
        self.assertGreater(out["logs"], 3)
        self.assertEqual(out["tags"], ["default", "stable", "v1"])
        self.assertEqual(out["fewer"], ["default", "v1"])
        self.assertIn("exit status 7", out["failed"])
        self.assertIn("the start command failed: failed to run command 'exit 3': command failed: exit status 3", out["dead"])
        self.assertEqual(out["interpreter"], [True, "code-interpreter-v1"])
        self.assertEqual((out["tagged"], out["listed"]), ([True, "sdk-template"], 1))
        self.assertEqual(out["status"], "building")
        sandbox = self.create(template="sdk-template")
        self.assertEqual(self.output(sandbox, "echo $OWN"), "/home/user/bin:user\n")
        self.assertEqual(self.output(sandbox, "cat said inner.txt ~/one.txt /etc/root-was-here; ls /tmp/started"),
                         "sdk user /home/user/app\ninner\none\nroot\n/tmp/started\n")

    def test_logs_are_asked_for_by_level_and_direction(self):
        template, _, _ = self.build("e2b-logs", [self.step("RUN", "echo plain; echo odd >&2")])
        place = f"/templates/{template}/builds/{self.api('GET', '/templates/' + template)['buildID']}"

        def messages(path, field):
            return [entry["message"] for entry in self.api("GET", place + path)[field]]
        everything = messages("/logs", "logs")
        self.assertTrue({"plain", "odd"} < set(everything), everything)
        self.assertEqual(messages("/logs?direction=backward", "logs"), everything[::-1])
        for path, field in (("/logs?level=warn", "logs"), ("/status?level=warn", "logEntries")):
            self.assertEqual(messages(path, field), ["odd"])
        self.assertEqual(messages("/status?level=warn&logsOffset=1", "logEntries"), [])
        self.assertEqual(messages("/logs?level=debug", "logs"), everything)
        self.assertEqual(self.api("GET", place + "/logs?level=loud", expect=400)["code"], 400)

    def test_templates_and_their_builds_come_in_pages(self):
        made = [self.build(name)[0] for name in ("e2b-paged", "e2b-paged", "e2b-other")]

        def pages(path):
            token = ""
            while token is not None:
                status, headers, text = self.server.request("GET", f"{path}?limit=1" + (f"&nextToken={token}" if token else ""))
                self.assertEqual(status, 200, text)
                yield json.loads(text)
                token = headers["X-Next-Token"]
        self.assertEqual([one["templateID"] for page in pages("/v2/templates") for one in page],
                         [one["templateID"] for one in self.api("GET", "/templates")])
        builds = [one["buildID"] for one in self.api("GET", "/templates/" + made[0])["builds"]]
        self.assertEqual(len(builds), 2)
        self.assertEqual([[one["buildID"] for one in page["builds"]] for page in pages("/templates/" + made[0])],
                         [[one] for one in builds])

    def test_sandboxes_are_found_by_a_template_whose_tags_are_all_its_own(self):
        template, _, _ = self.build("e2b-tagged:v1")
        for made_of in ("e2b-tagged:v1", template + ":v1"):
            made = self.api("POST", "/v2/sandboxes", {"templateID": made_of}, expect=201)["sandboxID"]
            self.addCleanup(self.server.request, "DELETE", "/sandboxes/" + made)
        for name in ("e2b-tagged", template):
            self.assertEqual(len(self.api("GET", "/v2/sandboxes?template=" + name)), 2, name)
        told = self.api("POST", "/v2/sandboxes", {"templateID": "e2b-tagged"}, expect=404)
        self.assertEqual(told["code"], 404)

    def test_failures_are_told_in_e2bs_form(self):
        sizes = [{"name": "sized", **size} for size in ({"memoryMB": 127}, {"memoryMB": 1 << 44}, {"cpuCount": 0}, {"cpuCount": 1.5})]
        for path, body, expected in (("/templates/none", None, 404), ("/v3/templates", b"{", 400),
                                     *(("/v3/templates", size, 400) for size in sizes)):
            status, _, text = self.server.request("GET" if body is None else "POST", path, body)
            told = json.loads(text)
            self.assertEqual((status, told["code"]), (expected, expected), told)
            self.assertTrue(told["message"])
        status, _, text = self.server.request("GET", "/templates/none", key="wrong")
        self.assertEqual((status, set(json.loads(text))), (401, {"code", "message"}))


if __name__ == "__main__":
    unittest.main()
