"""E2B's official SDK with nothing set but a domain and a key: names of hosts, TLS with a wildcard certificate."""

import json
import os
import socket
import subprocess
import unittest

from sdk import node_sdk, skip_without_node
from server_story import Server
from story import Story

DOMAIN = "sandboxes.belljar.test"
# What a name server would do is done by the program itself: every name below the domain leads here.
PROGRAM = r"""
import dns from 'node:dns'
const usual = dns.lookup
dns.lookup = (host, ...rest) => usual(host.endsWith('belljar.test') ? '127.0.0.1' : host, ...rest)
const { Sandbox } = await import('e2b')
const out = []
const box = await Sandbox.create()
out.push((await box.commands.run('echo over TLS')).stdout.trim())
await box.files.write('note', 'written')
out.push(await box.files.read('note'))
await box.commands.run('mkdir www; echo from port 3000 > www/index.html; cd www; python3 -m http.server 3000', { background: true })
for (;;) {
  const answer = await fetch('https://' + box.getHost(3000))
  if (answer.status === 502) continue  // nothing listens there yet
  out.push((await answer.text()).trim())
  break
}
out.push(await (await fetch(await box.downloadUrl('note'))).text())
out.push(await Sandbox.kill(box.sandboxId))
console.log(JSON.stringify(out))
process.exit(0)
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@skip_without_node("e2b")
class Domain(Story):
    def test_a_domain_and_a_key_are_enough(self):
        certificate, key = os.path.join(self.scratch, "wildcard.pem"), os.path.join(self.scratch, "wildcard.key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-keyout", key, "-out", certificate, "-subj", "/CN=" + DOMAIN, "-addext", f"subjectAltName=DNS:*.{DOMAIN}"],
                       check=True, capture_output=True)
        port = free_port()
        server = Server(self.data, self.scratch, "--tls-cert", certificate, "--tls-key", key, "--domain", f"{DOMAIN}:{port}",
                        listen=f"127.0.0.1:{port}")
        self.addCleanup(server.stop)
        program = os.path.join(node_sdk("e2b"), f"domain-{os.getpid()}.mjs")
        with open(program, "w") as file:
            file.write(PROGRAM)
        self.addCleanup(os.remove, program)
        environment = {"PATH": os.environ["PATH"], "HOME": self.scratch, "NODE_EXTRA_CA_CERTS": certificate,
                       "E2B_DOMAIN": f"{DOMAIN}:{port}", "E2B_API_KEY": server.key}
        done = subprocess.run(["node", program], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(json.loads(done.stdout), ["over TLS", "written", "from port 3000", "written", True])


if __name__ == "__main__":
    unittest.main()
