"""The servers of network_world.py: run in a network namespace, say "up", serve until they are killed."""

import http.server
import json
import os
import socket
import socketserver
import ssl
import sys
import threading


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        size = int(self.path[len("/bytes/"):]) if self.path.startswith("/bytes/") else None
        seen = {"server": self.server.who, "address": self.request.getsockname()[0], "host": self.headers.get("Host"),
                "path": self.path, "method": self.command}
        body = b"x" * size if size is not None else json.dumps(seen).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, *_):
        pass


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)


class Greeter(socketserver.BaseRequestHandler):
    """Speaks first, as SSH and mail servers do."""

    def handle(self):
        self.request.sendall(b"hello, who are you?\n")
        self.request.sendall(b"you said " + self.request.recv(1000))


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """Connections that are reset are what these tests are about."""


def serve(who, port, handler, certificates=None, address="0.0.0.0"):
    server = Server((address, port), handler)
    server.who = who
    if certificates:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(certificates, "server.pem"), os.path.join(certificates, "server.key"))
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


who, scratch = sys.argv[1:]
for port in (80, 8080):
    serve(who, port, Page)
serve(who, 443, Page, scratch)
serve(who, 7, Echo)
serve(who, 2525, Greeter)
print("up", flush=True)
threading.Event().wait()
