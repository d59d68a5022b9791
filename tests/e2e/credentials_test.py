"""Credentials at the gate: requests get a secret that the code never holds. Against a real HTTPS server that echoes."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from network_test import NetworkStory
from story import BELLJAR, without_sanitizer

VALUE = "tok_s3cr3t+V/lue=42"
FULL = "Bearer " + VALUE
HASH = hashlib.sha256(FULL.encode()).hexdigest()
PLACEHOLDER = "placeholder-0001"
HOST = "https://allowed.example:8443"
NETWORK = "allow:allowed.example:8443,allowed.example:8000,other.example:8443,closed.example:8443"

# Looks for a text wherever code can look: environment, arguments, memory and files of everything it sees.
SEARCH = r"""
import glob, os, re, sys
wanted = bytes.fromhex(sys.argv[1])
found = []
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if wanted in open(path, "rb").read(): found.append(path)
    except OSError: pass
for path in glob.glob("/proc/[0-9]*/maps"):
    try:
        memory = open(path.replace("maps", "mem"), "rb")
        for line in open(path):
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
            if not m or "[v" in line: continue
            memory.seek(int(m[1], 16))
            data = memory.read(int(m[2], 16) - int(m[1], 16))
            # Our own copy of what is looked for is no finding: it is written in two halves nowhere else.
            if data.count(wanted) > 0 and ("/%d/" % os.getpid()) not in path: found.append(path)
    except (OSError, ValueError, OverflowError): pass
for top in ("/etc", "/home", "/tmp", "/run", "/var", "/opt", "/dev/shm", "/root"):
    for root, dirs, files in os.walk(top):
        for name in files:
            try:
                with open(os.path.join(root, name), "rb") as f:
                    if wanted in f.read(1 << 22): found.append(os.path.join(root, name))
            except OSError: pass
print("found", sorted(set(found)))
"""


@unittest.skipUnless(os.geteuid() == 0, "makes network namespaces: needs root")
class CredentialStory(NetworkStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "echo_page.py")
        cls.world.start("nsenter", f"--net=/proc/{cls.world.servers}/ns/net", sys.executable, page, cls.scratch)

    def run_inside(self, *command, binding=None, network=NETWORK, flags=(), more=()):
        self.write("token", VALUE + "\n")
        credential = {"name": "demo", "value_file": os.path.join(self.scratch, "token"), "hosts": ["allowed.example"],
                      "ports": [8443], **(binding or {"header": "Authorization", "format": "Bearer {}"})}
        path = self.write("credential.json", json.dumps(credential))
        return self.belljar("exec", "--network", network, "--credential", path, *flags, "--", *command,
                            env={"SSL_CERT_FILE": os.path.join(self.scratch, "ca.pem"), **dict(more)})

    def fetch(self, *arguments, **more):
        return self.run_inside("curl", "-sS", "-m", "20", *arguments, **more)

    def echo(self, *arguments, **more):
        done = self.fetch(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(VALUE, done.stdout.decode() + done.stderr.decode())
        return json.loads(done.stdout)


class Given(CredentialStory):
    def test_curl(self):
        self.assertEqual(self.echo(HOST + "/echo")["hash"], HASH)

    def test_curl_as_a_user_writes_it(self):
        self.write("token", VALUE)
        done = self.belljar("exec", "--network", "allow:allowed.example:8443", "--credential",
                            f"demo=@{self.scratch}/token:allowed.example", "--", "curl", "-sS", HOST + "/echo",
                            env={"SSL_CERT_FILE": os.path.join(self.scratch, "ca.pem")})
        self.assertNotEqual(done.returncode, 0, "port 8443 is not 443: nothing was opened, so the server is a stranger's")
        self.assertIn(b"certificate", done.stderr)

    def test_urllib(self):
        script = f"import urllib.request; print(urllib.request.urlopen('{HOST}/echo', timeout=20).read().decode())"
        done = self.run_inside("/usr/bin/python3", "-c", script)
        self.assertEqual(json.loads(done.stdout or "{}").get("hash"), HASH, done.stderr)

    @unittest.skipUnless(subprocess.run(["python3", "-c", "import requests"], capture_output=True).returncode == 0,
                         "requests is not installed")
    def test_requests(self):
        script = f"import requests; s = requests.Session(); [print(s.get('{HOST}/echo').json()['hash']) for _ in range(3)]"
        done = self.run_inside("python3", "-c", script)
        if b"No module named" in done.stderr:
            self.skipTest("the Python of sandboxes has no requests")
        self.assertEqual(done.stdout.decode().split(), [HASH] * 3, done.stderr)

    @unittest.skipUnless(shutil.which("node"), "Node is not installed")
    def test_node(self):
        script = f"fetch('{HOST}/echo').then(r => r.json()).then(j => console.log(j.hash))"
        done = self.run_inside("node", "-e", script)
        self.assertEqual(done.stdout.decode().strip(), HASH, done.stderr)

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_git(self):
        done = self.run_inside("git", "ls-remote", HOST + "/repo.git")
        self.assertIn("refs/heads/main", done.stdout.decode(), done.stderr)

    @unittest.skipUnless(shutil.which("java"), "Java is not installed")
    def test_java(self):
        source = """
import java.net.*; import java.net.http.*;
public class Fetch { public static void main(String[] a) throws Exception {
  var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  var got = client.send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofString());
  System.out.println(got.body()); } }
"""
        done = self.run_inside("sh", "-c", f"cat > Fetch.java <<'END'\n{source}\nEND\njava Fetch.java {HOST}/echo",
                               flags=("--memory", "2G", "--processes", "512"))
        if b"Could not find" in done.stderr or b"Error occurred during initialization" in done.stderr:
            self.skipTest("Java does not start in a sandbox here")
        self.assertIn(HASH, done.stdout.decode(), done.stderr)

    def test_many_requests_on_one_connection(self):
        done = self.fetch("-w", "\n%{num_connects}\n", *[f"{HOST}/echo?{i}" for i in range(5)])
        self.assertEqual(done.stdout.decode().count(HASH), 5, done)
        self.assertEqual(done.stdout.decode().split()[-1], "0")

    def test_a_query_parameter(self):
        seen = self.echo(HOST + "/echo?a=1&key=mine&b=2", binding={"query": "key"})
        self.assertEqual(seen["path_hash"], hashlib.sha256(
            b"/echo?a=1&b=2&key=tok_s3cr3t%2BV%2Flue%3D42").hexdigest(), seen)

    def test_a_placeholder_in_a_header(self):
        binding = {"header": "Authorization", "placeholder": PLACEHOLDER}
        self.assertEqual(self.echo("-H", f"Authorization: Bearer {PLACEHOLDER}", HOST + "/echo", binding=binding)["hash"], HASH)
        self.assertNotIn("Authorization", self.echo(HOST + "/echo", binding=binding)["headers"])

    def test_a_placeholder_as_a_password(self):
        seen = self.echo("-u", f"me:{PLACEHOLDER}", HOST + "/echo", binding={"header": "Authorization", "placeholder": PLACEHOLDER})
        basic = "Basic " + base64.b64encode(f"me:{VALUE}".encode()).decode()
        self.assertEqual(seen["hash"], hashlib.sha256(basic.encode()).hexdigest())

    def test_a_placeholder_in_a_body(self):
        binding = {"body": True, "placeholder": PLACEHOLDER}
        want = hashlib.sha256(json.dumps({"key": VALUE}).encode()).hexdigest()
        body = json.dumps({"key": PLACEHOLDER})
        for way in ((), ("-H", "Transfer-Encoding: chunked"), ("-H", "Expect: 100-continue")):
            seen = self.echo("-d", body, "-H", "Content-Type: application/json", *way, HOST + "/echo", binding=binding)
            self.assertEqual(seen["body_hash"], want, (way, seen))

    def test_a_body_that_is_too_long_to_look_through_is_refused(self):
        done = self.run_inside("sh", "-c", f"head -c 2000000 /dev/zero | curl -sS -m 20 --data-binary @- {HOST}/echo",
                               binding={"body": True, "placeholder": PLACEHOLDER})
        self.assertIn(b"1 MiB", done.stdout, done)

    def test_a_body_that_grows_too_long_is_refused(self):
        done = self.run_inside("sh", "-c", f"yes aaaaaaaa | tr -d '\\n' | head -c 1000000 | curl -sS -m 20 --data-binary @- {HOST}/echo",
                               binding={"body": True, "placeholder": "aaaaaaaa"})
        self.assertIn(b"1 MiB", done.stdout, done)

    def test_a_head_that_grows_too_long_is_refused(self):
        done = self.fetch("-w", "%{http_code}", "-H", "X-Key: " + "aaaaaaaa" * 3900, HOST + "/echo",
                          binding={"header": "X-Key", "placeholder": "aaaaaaaa"})
        self.assertTrue(done.stdout.endswith(b"431"), done)
        self.assertIn(b"64 KiB", done.stdout, "the server did not have to say it")

    def test_what_placeholders_become_counts_as_sent(self):
        policy = self.policy("capped.json", rules=[{"allow": "allowed.example", "ports": [8443]}], caps={"bytes_sent": 16000})
        binding = {"body": True, "placeholder": "aaaaaaaa"}
        done = self.fetch("-d", "b" * 8000, HOST + "/echo", binding=binding, network=policy)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.fetch("-d", "a" * 8000, HOST + "/echo", binding=binding, network=policy)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("the cap bytes_sent was reached", done.stderr.decode())

    @without_sanitizer
    def test_bodies_with_placeholders_do_not_fill_the_servers_memory(self):
        script = """
import socket, ssl, sys, time
context, held = ssl.create_default_context(), []
head = b"POST /echo HTTP/1.1\\r\\nHost: allowed.example:8443\\r\\nContent-Length: 1048575\\r\\n\\r\\n"
for _ in range(64):
    held.append(context.wrap_socket(socket.create_connection(("allowed.example", 8443), 10), server_hostname="allowed.example"))
    held[-1].settimeout(1)
    try: held[-1].sendall(head + b"x" * 1048000)
    except TimeoutError: pass
print("held", flush=True)
sys.stdin.read()
"""
        self.write("token", VALUE + "\n")
        credential = {"name": "demo", "value_file": os.path.join(self.scratch, "token"), "hosts": ["allowed.example"],
                      "ports": [8443], "body": True, "placeholder": PLACEHOLDER}
        command = [*self.world.on_the_machine(), BELLJAR, "exec", "-i", "--network", NETWORK, "--credential",
                   self.write("body.json", json.dumps(credential)), "--", "python3", "-c", script]
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch,
                       "SSL_CERT_FILE": os.path.join(self.scratch, "ca.pem")}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as gate:
            self.assertEqual(gate.stdout.readline(), b"held\n")
            with open(f"/proc/{gate.pid}/status") as file:  # nsenter and belljar are one process
                resident_kb = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
            gate.stdin.close()
        self.assertLess(resident_kb, 80 * 1024)

    def test_large_bodies_pass_both_ways(self):
        done = self.run_inside("sh", "-c", "head -c 3000000 /dev/zero > f; curl -sS -m 60 -T f "
                                           f"{HOST}/echo | wc -c; sha256sum < f")
        size = int(done.stdout.split()[0])
        self.assertGreater(size, 3000000, done.stderr)

    def test_only_for_its_methods_and_paths(self):
        binding = {"header": "Authorization", "format": "Bearer {}", "methods": ["GET"], "paths": ["/v1/*"]}
        self.assertEqual(self.echo(HOST + "/v1/echo", binding=binding)["hash"], HASH)
        for place in (("/v2/echo",), ("-X", "POST", "/v1/echo"), ("--path-as-is", "/v1/../v2/echo"), ("/v1%2f../v2",)):
            seen = self.echo(*place[:-1], HOST + place[-1], binding=binding)
            self.assertNotIn("Authorization", seen["headers"], place)

    def test_through_the_proxy_port(self):
        for proxy in ("http://127.0.0.1:15001", "socks5h://127.0.0.1:15001"):
            self.assertEqual(self.echo("-x", proxy, HOST + "/echo")["hash"], HASH)

    def test_a_body_that_ends_with_the_connection(self):
        script = f"import urllib.request; print(urllib.request.urlopen('{HOST}/closing', timeout=20).read().decode())"
        done = self.run_inside("/usr/bin/python3", "-c", script)
        self.assertEqual(json.loads(done.stdout or "{}").get("hash"), HASH, done.stderr)
        self.assertNotIn(VALUE, done.stdout.decode())
        # Who wants to know is told that the server did not say goodbye.
        script = """
import socket, ssl
plain = socket.create_connection(("allowed.example", 8443), 20)
context = ssl.create_default_context()
context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0x80)
s = context.wrap_socket(plain, server_hostname="allowed.example", suppress_ragged_eofs=False)
s.sendall(b"GET /closing HTTP/1.1\\r\\nHost: allowed.example:8443\\r\\n\\r\\n")
try:
    while s.recv(65536): pass
    print("goodbye")
except ssl.SSLError as error: print("silence" if "EOF" in str(error) else error)
"""
        self.assertEqual(self.run_inside("/usr/bin/python3", "-c", script).stdout, b"silence\n")

    def test_events_of_a_stream_arrive_while_it_runs(self):
        done = self.run_inside("sh", "-c", f"curl -sSN -m 60 {HOST}/events | head -1")
        self.assertEqual(done.stdout, b"data: one\n", done.stderr)

    def test_a_websocket(self):
        script = f"""
import base64, os, socket, ssl
s = ssl.create_default_context().wrap_socket(socket.create_connection(("allowed.example", 8443)), server_hostname="allowed.example")
s.sendall(b"GET /socket HTTP/1.1\\r\\nHost: allowed.example:8443\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n"
          b"Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\\r\\n\\r\\n")
f = s.makefile("rb")
print(f.readline().split()[1])
while f.readline().strip(): pass
head = f.read(2); print(f.read(head[1]))
for text in (b"hello t", b"tok_", b"bye"):
    mask = os.urandom(4); s.sendall(bytes([0x81, 0x80 | len(text)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text)))
    head = f.read(2); print(f.read(head[1]))
"""
        done = self.run_inside("/usr/bin/python3", "-c", script)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines, ["b'101'", repr(b"*" * len(FULL)), "b'hello t'", "b'tok_'", "b'bye'"], done.stderr)

    def test_rules_about_requests_hold_beside_a_credential(self):
        policy = self.policy("requests.json", rules=[{"allow": "allowed.example", "ports": [8443], "methods": ["GET"],
                                                      "paths": ["/v1/*"]}])
        self.assertEqual(self.echo(HOST + "/v1/echo", network=policy)["hash"], HASH)
        for place in (("/v2/echo",), ("-X", "DELETE", "/v1/echo"), ("--path-as-is", "/v1/../v2/echo")):
            done = self.fetch("-w", "%{http_code}", *place[:-1], HOST + place[-1], network=policy)
            self.assertTrue(done.stdout.endswith(b"403"), done)

    def test_rules_about_requests_hold_over_https_without_a_credential(self):
        policy = self.policy("requests.json", rules=[{"allow": "allowed.example", "ports": [8443], "paths": ["/v1/*"]}])
        for path, code in (("/v1/echo", b"200"), ("/v2/echo", b"403")):
            done = self.belljar("exec", "--network", policy, "--", "curl", "-sS", "-m", "20", "-o", "/dev/null", "-w",
                                "%{http_code}", HOST + path, env={"SSL_CERT_FILE": os.path.join(self.scratch, "ca.pem")})
            self.assertEqual(done.stdout, code, done.stderr)


class GivenToCalls(CredentialStory):
    def call(self, name, source):
        self.write("token", VALUE)
        tool = self.write(name, source)
        binding = self.write("credential.json", json.dumps({
            "name": "demo", "value_file": os.path.join(self.scratch, "token"), "hosts": ["allowed.example"],
            "ports": [8443], "header": "Authorization", "format": "Bearer {}"}))
        done = self.belljar("run", tool, "--network", NETWORK, "--credential", binding, "--json", "--timeout", "30s",
                            env={"SSL_CERT_FILE": os.path.join(self.scratch, "ca.pem")})
        self.assertNotIn(VALUE.encode(), done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_a_python_tool(self):
        answer = self.call("tool.py", f"""
def fetch() -> dict:
    import json, urllib.request
    return json.loads(urllib.request.urlopen("{HOST}/echo", timeout=20).read())
""")
        self.assertEqual(answer["status"], "ok", answer)
        self.assertEqual(answer["return"]["hash"], HASH)

    @unittest.skipUnless(shutil.which("node"), "Node is not installed")
    def test_a_typescript_tool(self):
        answer = self.call("tool.ts", f"""
export async function fetch_it(): Promise<any> {{ return (await fetch("{HOST}/echo")).json(); }}
""")
        self.assertEqual(answer["status"], "ok", answer)
        self.assertEqual(answer["return"]["hash"], HASH)


class NeverElsewhere(CredentialStory):
    """Family 23: the value stays between the gate and the server that it is for."""

    def test_it_is_nowhere_inside(self):
        search = ("/usr/bin/python3", "-c", SEARCH, VALUE.encode().hex())
        fetch_too = ("sh", "-c", f'curl -sS {HOST}/echo > got; "$@"', "sh", *search)
        for user in ("user", "root"):
            done = self.run_inside(*fetch_too, flags=("--user", user))
            self.assertEqual(done.stdout, b"found []\n", done.stderr)
        # The same search finds what is given to the code.
        done = self.run_inside(*search, flags=("--env", "TOKEN=" + VALUE))
        self.assertIn(b"/environ", done.stdout)

    def test_echoes_are_redacted(self):
        for page in ("echo", "reflect", "error", "dribble"):
            done = self.fetch("-i", "--raw", HOST + "/" + page)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = done.stdout.decode()
            for form in (VALUE, "tok_s3cr3t", "tok_s3cr3t%2BV", "dG9rX3MzY3I", "b2tfczNjcjN0"):
                self.assertNotIn(form, text, page)
            if page != "dribble":
                self.assertIn("*" * len(VALUE), text, page)

    def test_what_is_held_back_does_not_tell_how_the_value_begins(self):
        """A guess that waited while others passed would give the value away, letter by letter."""
        script = """
import base64, os, socket, ssl
s = ssl.create_default_context().wrap_socket(socket.create_connection(("allowed.example", 8443)), server_hostname="allowed.example")
s.settimeout(20)
s.sendall(b"GET /socket HTTP/1.1\\r\\nHost: allowed.example:8443\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n"
          b"Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\\r\\n\\r\\n")
f = s.makefile("rb")
while f.readline().strip(): pass
head = f.read(2); f.read(head[1])
for text in (b"~tox_", b"~tok_", b"~tok_s3cr", b"Bearer t"):
    s.sendall(bytes([0x01, 0x80 | len(text)]) + bytes(4) + text)  # a message that goes on
    head = f.read(2); print(f.read(head[1]))
"""
        done = self.run_inside("/usr/bin/python3", "-c", script)
        self.assertEqual(done.stdout.decode().splitlines(), ["b'~tox_'", "b'~tok_'", "b'~tok_s3cr'", "b'Bearer t'"], done.stderr)

    def test_an_echo_cannot_be_fetched_in_pieces(self):
        for first in range(0, 60, 6):
            done = self.fetch("-r", f"{first}-{first + 5}", HOST + "/range")
            self.assertGreater(len(done.stdout), 100, "ranges are not asked for")
            self.assertNotIn(b"tok_", done.stdout)

    def test_a_compressed_answer_is_refused(self):
        done = self.fetch("-w", "%{http_code}", "-H", "Accept-Encoding: gzip", HOST + "/gzip")
        self.assertTrue(done.stdout.endswith(b"502"), done)
        self.assertIn(b"compressed", done.stdout)

    def test_not_to_another_host(self):
        seen = self.echo("-k", "-H", f"X: {PLACEHOLDER}", "https://other.example:8443/echo")
        self.assertNotIn("Authorization", seen["headers"])
        self.assertEqual(seen["headers"]["X"], PLACEHOLDER)

    def test_not_with_another_host_in_the_request(self):
        for name in ("other.example", "x.allowed.example", "ALLOWED.example:443", "allowed.example@other.example"):
            done = self.fetch("-H", "Host: " + name, HOST + "/echo")
            self.assertNotIn(HASH.encode(), done.stdout, name)

    def test_not_over_plain_http(self):
        binding = {"header": "Authorization", "format": "Bearer {}", "ports": [8443, 8000]}
        seen = self.echo("http://allowed.example:8000/echo", binding=binding)
        self.assertNotIn("Authorization", seen["headers"])

    def test_not_after_a_redirect(self):
        for place in ("https://other.example:8443/echo", "http://allowed.example:8000/echo"):
            seen = self.echo("-k", "-L", f"{HOST}/redirect?{place}")
            self.assertNotIn("Authorization", seen["headers"], place)
        self.assertEqual(self.echo("-L", f"{HOST}/redirect?{HOST}/echo")["hash"], HASH, "the same host is the same host")

    def test_not_to_a_server_that_proves_nothing(self):
        binding = {"header": "Authorization", "format": "Bearer {}", "hosts": ["closed.example"]}
        done = self.fetch("-w", "%{http_code}", "https://closed.example:8443/echo", binding=binding)
        self.assertTrue(done.stdout.endswith(b"502"), done)
        self.assertIn(b"closed.example can't be spoken to", done.stdout)
        self.assertIn("closed.example", done.stderr.decode())
        self.assertNotIn(HASH.encode(), done.stdout)

    def test_smuggled_requests_are_refused(self):
        script = r"""
import socket, ssl, sys
context = ssl.create_default_context()
for text in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
             b"Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n", b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
             b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", b"X: a\rb\r\n\r\n", b"X: a\nY: b\r\n\r\n", b"Host: other.example\r\n\r\n",
             b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcGET /x HTTP/1.1\r\n"):
    s = context.wrap_socket(socket.create_connection(("allowed.example", 8443)), server_hostname="allowed.example")
    s.sendall(b"POST /echo HTTP/1.1\r\nHost: allowed.example:8443\r\n" + text)
    s.settimeout(20)
    print(s.recv(100).split()[1].decode())
"""
        done = self.run_inside("/usr/bin/python3", "-c", script)
        self.assertEqual(done.stdout.decode().split(), ["400"] * 9, done.stderr)

    def test_an_answer_that_came_before_a_broken_request_is_cut(self):
        script = r"""
import socket, ssl
def connect():
    s = socket.create_connection(("allowed.example", 8443))
    s.settimeout(20)
    # An end without TLS's goodbye is an error: that is how a cut answer is told from a whole one.
    return ssl.create_default_context().wrap_socket(s, server_hostname="allowed.example", suppress_ragged_eofs=False)
s = connect()
s.sendall(b"POST /early HTTP/1.1\r\nHost: allowed.example:8443\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
answer = b""
while b"one" not in answer: answer += s.recv(1000)
s.sendall(b"zz\r\n")
try:
    print("more:", s.recv(1000))
except OSError:
    print("cut")
s = connect()
s.sendall(b"GET /echo HTTP/1.1\r\nHost: allowed.example:8443\r\n\r\n")
print(s.recv(100).split()[1].decode())
"""
        done = self.run_inside("/usr/bin/python3", "-c", script)
        self.assertEqual(done.stdout.decode().split(), ["cut", "200"], done.stderr)


if __name__ == "__main__":
    unittest.main()
