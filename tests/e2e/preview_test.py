"""Ports of sandboxes from outside: by host name and by path, private and public, HTTP and WebSocket, hostile servers."""

import base64
import http.client
import json
import os
import socket
import unittest

from sandbox_story import SandboxStory
from story import PATIENCE_SECONDS

# Answers what it was asked, byte by byte as it came, so that tests see what goes inside.
ECHO = """
import http.server
class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        if self.headers.get("Transfer-Encoding") == "chunked":
            while True:
                count = int(self.rfile.readline(), 16)
                body += self.rfile.read(count)
                self.rfile.readline()
                if count == 0: break
        text = (self.requestline + "\\n" + str(self.headers) + body.decode()).encode()
        self.send_response(200)
        self.send_header("Set-Cookie", "app=1; Domain=localhost; Path=/")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    do_GET = do_POST = answer
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Echo).serve_forever()
"""

# Says one thing to everybody who connects, whatever they want.
RAW = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 8001))
while True:
    client, _ = listener.accept()
    if client.recv(65536):
        client.sendall(open("/home/user/answer", "rb").read())
    client.close()
"""

WEB_SOCKET = """
import base64, hashlib, socket
listener = socket.create_server(("127.0.0.1", 8002))
while True:
    client, _ = listener.accept()
    head = b""
    while b"\\r\\n\\r\\n" not in head:
        more = client.recv(4096)
        if not more: break
        head += more
    if not head: continue
    key = [line.split(b": ")[1] for line in head.split(b"\\r\\n") if line.lower().startswith(b"sec-websocket-key")][0]
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    client.sendall(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                   b"Sec-WebSocket-Accept: " + accept + b"\\r\\n\\r\\n" + (b"first" if b"GET /greeted" in head else b""))
    while True:
        data = client.recv(4096)
        if not data: break
        client.sendall(data.upper())
    client.close()
"""


class Preview(SandboxStory):
    def serve(self, script, port, **fields):
        sandbox = self.create(**fields)
        self.run_in(sandbox, ["python3", "-c", script], background=True)
        wait = f"import socket\nwhile socket.socket().connect_ex((\"127.0.0.1\", {port})): pass"
        self.output(sandbox, ["python3", "-c", wait])
        return sandbox

    def visit(self, host, path="/", method="GET", body=None, **headers):
        """(status, headers, text) of a request that says it is for `host`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, body, {"Host": host, **{name.replace("_", "-"): value for name, value in headers.items()}})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def url(self, sandbox, port, method="GET", **query):
        more = "".join(f"&{name}={value}" for name, value in query.items())
        return self.api(method, f"/v1/sandboxes/{sandbox}/url?port={port}{more}")

    def test_a_private_port_wants_its_token_and_the_token_stays_outside(self):
        sandbox = self.serve(ECHO, 8000)
        host = f"8000-{sandbox}.localhost:{self.server.port}"
        self.assertEqual(self.visit(host)[0], 403)
        told = self.url(sandbox, 8000)
        self.assertEqual(told["access"], "private")
        status, _, text = self.visit(host, "/a%20b?x=1&belljar_token=" + told["token"], X_Other="1")
        self.assertEqual(status, 200, text)
        self.assertTrue(text.startswith("GET /a%20b?x=1 HTTP/1.1"), text)
        self.assertNotIn(told["token"], text)
        status, headers, _ = self.visit(host, "/?belljar_token=" + told["token"], Accept="text/html")
        self.assertEqual((status, headers["Location"]), (302, "/"))
        elsewhere = self.visit(host, "//example.org/?belljar_token=" + told["token"], Accept="text/html")[1]
        self.assertEqual(elsewhere["Location"], "/.//example.org/")
        cookie = headers["Set-Cookie"].split(";")[0]
        self.assertIn("HttpOnly", headers["Set-Cookie"])
        status, headers, text = self.visit(host, "/", Cookie=cookie + "; mine=2", X_API_Key=self.server.key,
                                           Authorization="Bearer " + self.server.key)
        self.assertEqual(status, 200)
        self.assertIn("mine=2", text)
        for secret in (cookie.split("=")[1], self.server.key):
            self.assertNotIn(secret, text)
        self.assertEqual(headers["Set-Cookie"], "app=1; Path=/")

    def test_a_server_that_listens_on_ipv6_loopback_alone_is_found(self):
        sandbox = self.create()
        script = ("import http.server, socket\n"
                  "class V6(http.server.HTTPServer): address_family = socket.AF_INET6\n"
                  "class Hello(http.server.BaseHTTPRequestHandler):\n"
                  "    def do_GET(self):\n"
                  "        self.send_response(200)\n"
                  "        self.end_headers()\n"
                  "        self.wfile.write(b'six')\n"
                  "V6(('::1', 8006), Hello).serve_forever()\n")
        self.run_in(sandbox, ["python3", "-c", script], background=True)
        wait = "import socket\nwhile socket.socket(socket.AF_INET6).connect_ex((\"::1\", 8006)): pass"
        self.output(sandbox, ["python3", "-c", wait])
        self.output(sandbox, ["python3", "-c", "import socket; assert socket.socket().connect_ex(('127.0.0.1', 8006)) != 0"])
        status, _, text = self.server.request("GET", f"/v1/sandboxes/{sandbox}/ports/8006/")
        self.assertEqual((status, text), (200, b"six"))

    def test_a_token_is_of_one_port_of_one_sandbox_and_of_its_time(self):
        sandbox, other = self.serve(ECHO, 8000), self.serve(ECHO, 8000)
        token = self.url(sandbox, 8000)["token"]
        self.assertEqual(self.visit(f"8000-{sandbox}.localhost", X_Belljar_Token=token)[0], 200)
        self.assertEqual(self.visit(f"8000-{other}.localhost", X_Belljar_Token=token)[0], 403)
        self.assertEqual(self.visit(f"8001-{sandbox}.localhost", X_Belljar_Token=token)[0], 403)
        limited = self.url(sandbox, 8000, **{"for": 3600})["token"]
        self.assertEqual(self.visit(f"8000-{sandbox}.localhost", X_Belljar_Token=limited)[0], 200)
        later = str(int(limited.split(".")[0]) + 1) + "." + limited.split(".")[1]
        self.assertEqual(self.visit(f"8000-{sandbox}.localhost", X_Belljar_Token=later)[0], 403)

    def test_a_public_port_is_everybodys_until_it_is_private_again(self):
        sandbox = self.serve(ECHO, 8000)
        self.assertIsNone(self.url(sandbox, 8000, "POST", access="public")["token"])
        self.assertEqual(self.visit(f"8000-{sandbox}.localhost", "/", "POST", "body")[2].splitlines()[-1], "body")
        self.url(sandbox, 8000, "POST", access="private")
        self.assertEqual(self.visit(f"8000-{sandbox}.localhost")[0], 403)

    def test_the_path_form_wants_a_key_or_a_token_and_has_no_origin(self):
        sandbox = self.serve(ECHO, 8000)
        path = f"/v1/sandboxes/{sandbox}/ports/8000/inner?x=1"
        self.assertEqual(self.server.request("GET", path, key=False)[0], 403)
        status, headers, text = self.server.request("GET", path)
        self.assertEqual(status, 200, text)
        self.assertTrue(text.startswith(b"GET /inner?x=1 HTTP/1.1"), text)
        self.assertNotIn(self.server.key.encode(), text)
        self.assertIn("sandbox", headers["Content-Security-Policy"])
        self.assertNotIn("allow-same-origin", headers["Content-Security-Policy"])
        self.assertIsNone(headers["Set-Cookie"])
        text = self.server.request("GET", path, headers={"Cookie": "session=of-another-service"})[2]
        self.assertNotIn(b"of-another-service", text)

    def test_bodies_of_any_length_and_form_pass(self):
        sandbox = self.serve(ECHO, 8000)
        self.url(sandbox, 8000, "POST", access="public")
        host = f"8000-{sandbox}.localhost"
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_SECONDS)
        connection.request("POST", "/", iter([b"piece-" * 100_000, b"end"]), {"Host": host}, encode_chunked=True)
        text = connection.getresponse().read()
        self.assertTrue(text.endswith(b"piece-end"))
        connection.request("GET", "/again", headers={"Host": host})
        self.assertIn(b"GET /again", connection.getresponse().read())
        connection.close()

    def test_a_web_socket_passes_both_ways_whoever_speaks_first(self):
        sandbox = self.serve(WEB_SOCKET, 8002)
        self.url(sandbox, 8002, "POST", access="public")
        for path, awaited in (("/greeted", b"first"), ("/", b"\r\n\r\n")):
            client = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE_SECONDS)
            key = base64.b64encode(os.urandom(16)).decode()
            client.sendall((f"GET {path} HTTP/1.1\r\nHost: 8002-{sandbox}.localhost\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
            got = b""
            while awaited not in got:
                got += client.recv(4096)
            self.assertIn(b"101 Switching Protocols", got)
            client.sendall(b"hello")
            self.assertEqual(client.recv(5, socket.MSG_WAITALL), b"HELLO", path)
            client.close()

    def test_a_stranger_does_not_wake_a_private_one(self):
        made = self.api("POST", "/sandboxes", {"templateID": "base", "timeout": 600, "autoPause": True, "autoResume": {"enabled": True},
                                               "secure": True, "network": {"allowPublicTraffic": False}}, expect=201)
        sandbox, host = made["sandboxID"], f"9-{made['sandboxID']}.localhost"
        self.addCleanup(lambda: self.server.request("DELETE", f"/v1/sandboxes/{sandbox}"))
        self.api("POST", f"/v1/sandboxes/{sandbox}/pause")
        self.assertEqual(self.visit(host)[0], 403)
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "paused")
        self.assertEqual(self.visit(host, "/?belljar_token=" + self.url(sandbox, 9)["token"])[0], 502)
        self.assertEqual(self.api("GET", f"/v1/sandboxes/{sandbox}")["state"], "running")

    def test_nobody_listens_people_get_a_page_that_waits_and_programs_are_told(self):
        sandbox = self.create()
        self.url(sandbox, 9, "POST", access="public")
        status, headers, text = self.visit(f"9-{sandbox}.localhost", Accept="text/html")
        self.assertEqual((status, headers["Content-Type"]), (502, "text/html; charset=utf-8"))
        self.assertIn('http-equiv="refresh"', text)
        status, _, text = self.visit(f"9-{sandbox}.localhost")
        self.assertEqual((status, json.loads(text)), (502, {
            "sandboxId": sandbox, "message": "The sandbox is running but port is not open", "port": 9, "code": 502}))
        unknown = "sb" + "a" * 26
        status, _, text = self.visit(f"9-{unknown}.localhost")
        self.assertEqual((status, json.loads(text)), (502, {"sandboxId": unknown, "message": "The sandbox was not found", "code": 502}))

    def test_a_hostile_server_inside_is_not_believed(self):
        sandbox = self.serve(RAW, 8001)
        self.url(sandbox, 8001, "POST", access="public")
        host = f"8001-{sandbox}.localhost"
        for answer in (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\nhello",
                       b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
                       b"HTTP/1.1 200 OK\r\nX: 1\n\r\n\r\nhello", b"HTTP/1.1 200 OK\r\n X: folded\r\n\r\n",
                       b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n", b""):
            with self.subTest(answer[:60]):
                self.put(sandbox, "/home/user/answer", answer)
                status, _, text = self.visit(host)
                self.assertEqual(status, 502)
                self.assertNotIn("port is not open", text)

    def test_half_an_answer_never_looks_whole(self):
        sandbox = self.serve(RAW, 8001)
        self.url(sandbox, 8001, "POST", access="public")
        self.put(sandbox, "/home/user/answer", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        with self.assertRaises((http.client.HTTPException, ConnectionError)):
            self.visit(f"8001-{sandbox}.localhost")

    def test_names_that_are_not_ours_lead_nowhere(self):
        sandbox = self.create()
        for host in (f"80-{sandbox}.evil.example", f"80-{sandbox}.localhost.evil.example"):
            self.assertEqual(self.visit(host)[0], 403, host)
        status, _, _ = self.visit("evil.example", E2b_Sandbox_Id=sandbox, E2b_Sandbox_Port="49983")
        self.assertEqual(status, 403)
        status, _, _ = self.visit("localhost", E2b_Sandbox_Id=sandbox)
        self.assertEqual(status, 400)

    def test_a_page_of_a_sandbox_can_not_use_the_api(self):
        sandbox = self.create()
        origin = f"http://8000-{sandbox}.localhost:{self.server.port}"
        for wrong in (origin, "null"):
            status, _, _ = self.server.request("POST", "/v1/sandboxes", {}, headers={"Origin": wrong})
            self.assertEqual(status, 403, wrong)

    def test_the_command_prints_a_link(self):
        sandbox = self.create()
        done = self.belljar("sandbox", "url", sandbox, "8000", "--for", "1h", "--server", self.server.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), rf"^http://8000-{sandbox}\.localhost:\d+/\?belljar_token=\d+\.[0-9a-f]+\n$")


class ConfiguredDomain(SandboxStory):
    """The domain of ports, from the config file."""

    @classmethod
    def prepare(cls):
        folder = os.path.join(cls.scratch, ".config/belljar")
        os.makedirs(folder)
        with open(os.path.join(folder, "config.toml"), "w") as file:
            file.write('[sandboxes]\ndomain = "boxes.example.org:8443"\n')

    def test_links_have_names_below_it_and_such_names_are_ports(self):
        sandbox = self.create()
        made = self.api("GET", f"/v1/sandboxes/{sandbox}/url?port=8000")
        self.assertIn(f"8000-{sandbox}.boxes.example.org:8443", made["url"])
        status, _, _ = self.server.request("GET", "/", key=False, headers={"Host": f"8000-{sandbox}.boxes.example.org:8443"})
        self.assertIn(status, (401, 403))  # a private port, not the API
        shown = {one["name"]: one for one in json.loads(self.belljar("config", "show", "--json").stdout)}
        self.assertEqual(shown["sandboxes.domain"]["value"], "boxes.example.org:8443")


if __name__ == "__main__":
    unittest.main()
