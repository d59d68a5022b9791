"""HTTPS by certificate files, and no keys in clear over a network."""

import http.client
import os
import ssl
import subprocess
import sys
import unittest
import warnings

from sdk import python_sdk, skip_without
from server_story import Server, ServerStory
from story import Story

PYTHON = 'def add(a: int, b: int) -> int:\n    """Adds.\n\n    Args:\n        a (int): one\n        b (int): other\n    """\n    return a + b\n'


def make_certificate(folder, name="server", days=2):
    """(certificate, key) that a client can trust as its authority, for loopback."""
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                    "-out", certificate, "-days", str(days), "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return certificate, key


class Encrypted(ServerStory):
    @classmethod
    def prepare(cls):
        cls.certificate, key = make_certificate(cls.scratch)
        cls.flags = ["--tls-cert", cls.certificate, "--tls-key", key]

    def connection(self, **more):
        trusted = ssl.create_default_context(cafile=self.certificate)
        for name, value in more.items():
            setattr(trusted, name, value)
        return http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=20, context=trusted)

    def get(self, path, **more):
        connection = self.connection(**more)
        try:
            connection.request("GET", path, headers={"Authorization": "Bearer " + self.server.key})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def test_it_says_https_and_answers_over_it(self):
        self.assertTrue(self.server.url.startswith("https://"))
        self.assertEqual(self.get("/v1/tools/"), (200, b"[]"))

    def test_plain_http_gets_nothing(self):
        with self.assertRaises((http.client.HTTPException, OSError)):
            status, _, _ = self.server.request("GET", "/v1/tools/")
            if status >= 400:  # a refusal without an answer to the question
                raise http.client.HTTPException(status)

    def test_old_protocols_are_refused(self):
        with self.assertRaises(OSError):
            with warnings.catch_warnings(action="ignore"):
                self.get("/health", minimum_version=ssl.TLSVersion.TLSv1, maximum_version=ssl.TLSVersion.TLSv1_1)
        self.assertEqual(self.get("/health", minimum_version=ssl.TLSVersion.TLSv1_3)[0], 200)

    def test_a_client_that_does_not_know_the_authority_goes_away(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=20, context=ssl.create_default_context())
        with self.assertRaises(ssl.SSLCertVerificationError):
            connection.request("GET", "/health")
        self.assertEqual(self.get("/health")[0], 200)

    @skip_without("letta-client")
    def test_letta_s_client_works_over_it(self):
        sys.path.insert(0, python_sdk("letta-client"))
        import httpx
        from letta_client import Letta
        with httpx.Client(verify=ssl.create_default_context(cafile=self.certificate)) as http_client:
            client = Letta(base_url=self.server.url, api_key=self.server.key, http_client=http_client)
            tool = client.tools.create(source_code=PYTHON)
            agent = client.agents.create(name="ada", tool_ids=[tool.id])
            self.assertEqual(client.agents.tools.run("add", agent_id=agent.id, args={"a": 40, "b": 2}).func_return, 42)


class Refused(Story):
    def serve(self, *flags):
        return self.belljar("serve", *flags)

    def test_a_network_address_needs_tls_or_a_word(self):
        for address in ("0.0.0.0:0", "[::]:0"):
            self.assert_one_sentence(self.serve("--listen", address), 2, "--tls-cert", "--allow-plain")
        server = Server(self.data, self.scratch, "--allow-plain", listen="0.0.0.0:0")
        self.addCleanup(server.stop)
        self.assertEqual(server.request("GET", "/v1/tools/")[0], 200)
        self.assertEqual(server.request("GET", "/v1/tools/", key=False)[0], 401)
        self.assertEqual(server.request("GET", "/openapi.json", key=False)[0], 401)  # for everybody on loopback only

    def test_certificates_that_can_not_be_used_are_named(self):
        certificate, key = make_certificate(self.scratch)
        _, other_key = make_certificate(self.scratch, "other")
        rubbish = self.write("rubbish.pem", "no certificate")
        listen = ("--listen", "127.0.0.1:0")
        self.assert_one_sentence(self.serve(*listen, "--tls-cert", certificate), 2, "--tls-key")
        self.assert_one_sentence(self.serve(*listen, "--tls-cert", rubbish, "--tls-key", key), 2, rubbish)
        self.assert_one_sentence(self.serve(*listen, "--tls-cert", certificate, "--tls-key", rubbish), 2, rubbish)
        self.assert_one_sentence(self.serve(*listen, "--tls-cert", "/no/such.pem", "--tls-key", key), 2, "/no/such.pem")
        self.assert_one_sentence(self.serve(*listen, "--tls-cert", certificate, "--tls-key", other_key), 2, other_key)


if __name__ == "__main__":
    unittest.main()
