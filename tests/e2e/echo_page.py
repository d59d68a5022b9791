"""A server that tells what it was sent, in every way that a credential could come back: for credentials_test.py. Plain on
port 8000, with the world's certificate on 8443."""

import base64
import gzip
import hashlib
import http.server
import json
import os
import socketserver
import ssl
import struct
import sys
import threading
import urllib.parse


class EchoPage(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, *headers, reason=None):
        self.send_response(status, reason)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def handle_all(self):
        place = urllib.parse.urlsplit(self.path)
        if place.path == "/early":
            return self.page_events()
        body = self.body()
        secret = self.headers.get("Authorization", "")
        seen = {"path": self.path, "method": self.command, "headers": {name.title(): value for name, value in self.headers.items()}, "body": body.decode("latin1"),
                "port": self.server.server_address[1], "encoded": base64.b64encode(b"a:" + secret.encode()).decode(),
                # What the server truly got, in a form that is no echo.
                "hash": hashlib.sha256(secret.encode()).hexdigest(),
                "path_hash": hashlib.sha256(self.path.encode()).hexdigest(),
                "body_hash": hashlib.sha256(body).hexdigest()}
        text = json.dumps(seen).encode()
        name = place.path.strip("/").split("/")[-1]
        if place.path.startswith("/repo.git/"):
            return self.git(place.path)
        getattr(self, "page_" + name.replace(".", "_"), self.page_echo)(text, place.query, secret)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = handle_all

    def page_echo(self, text, *_):
        self.answer(200, text)

    def page_reflect(self, text, _, secret):
        self.answer(200, text, ("X-Echo", secret), ("X-Encoded", urllib.parse.quote(secret)), reason="OK for " + secret)

    def page_error(self, text, _, secret):
        self.answer(500, b"<pre>Traceback: bad token " + secret.encode() + b"</pre>")

    def page_redirect(self, _, query, __):
        self.answer(302, b"", ("Location", urllib.parse.unquote(query)))

    def page_gzip(self, text, *_):
        self.answer(200, gzip.compress(text), ("Content-Encoding", "gzip"))

    def page_dribble(self, text, *_):
        """One byte a chunk, with a trailer."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for byte in text:
            self.wfile.write(b"1\r\n%c\r\n" % byte)
            self.wfile.flush()
        self.wfile.write(b"0\r\nX-Trailer: %s\r\n\r\n" % self.headers.get("Authorization", "").encode())

    def page_range(self, text, *_):
        """What a server with ranges would send of an echo."""
        wanted = self.headers.get("Range")
        if wanted is None:
            return self.answer(200, text)
        first, last = (int(n) for n in wanted.removeprefix("bytes=").split("-"))
        self.answer(206, text[first:last + 1], ("Content-Range", f"bytes {first}-{last}/{len(text)}"))

    def page_closing(self, text, *_):
        """A body that ends where the connection does, which nothing of TLS's says: as simple servers do it."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def page_events(self, *_):
        """A stream that ends only when the other side has gone."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"data: one\n\n")
        self.wfile.flush()
        while self.rfile.read(1):
            pass

    def page_socket(self, _, __, secret):
        """A WebSocket that sends back what it gets, and its own handshake's Authorization first."""
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.wfile.write(bytes([0x81, len(secret)]) + secret.encode())
        while len(head := self.rfile.read(2)) == 2:
            mask, data = self.rfile.read(4), self.rfile.read(head[1] & 127)
            self.wfile.write(struct.pack("BB", head[0], len(data)) + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def git(self, path):
        """A repository over the dumb protocol, for those who have a token."""
        if "Authorization" not in self.headers:
            return self.answer(401, b"", ("WWW-Authenticate", "Basic realm=x"))
        commit = "1234567890123456789012345678901234567890"
        pages = {"/repo.git/info/refs": f"{commit}\trefs/heads/main\n", "/repo.git/HEAD": "ref: refs/heads/main\n"}
        self.answer(200 if path in pages else 404, pages.get(path, "").encode(), ("Content-Type", "text/plain"))

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, *_):
        """Connections that are reset are what these tests are about."""


def main(certificates):
    plain, closed = Server(("0.0.0.0", 8000), EchoPage), Server(("0.0.0.0", 8443), EchoPage)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(certificates, "server.pem"), os.path.join(certificates, "server.key"))
    closed.socket = context.wrap_socket(closed.socket, server_side=True, do_handshake_on_connect=False)
    for server in (plain, closed):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("up", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
