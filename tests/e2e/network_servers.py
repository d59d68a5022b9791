"""The servers of network_world.py: run in a network namespace, say "up", serve until they are killed or their standard
input ends. What arrived from names and packets can be read at /seen of the same process."""

import hashlib
import http.server
import json
import os
import re
import socket
import socketserver
import ssl
import struct
import sys
import threading

SEEN = {"names": [], "packets": [], "requests": []}  # asked of the name server, sent by UDP, read by the lenient server


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/redirect/"):  # /redirect/169.254.169.254/
            return self.answer(302, b"", {"Location": "http://" + self.path[len("/redirect/"):]})
        if self.path == "/seen":
            return self.answer(200, json.dumps(SEEN).encode())
        if self.path == "/endless":
            return self.endless()
        if self.path.startswith("/switch/"):  # to another protocol, of which this server repeats every byte
            return self.switch(self.path[len("/switch/"):])
        if self.path == "/headers":  # with what was truly sent, in a form that is no echo
            sent = hashlib.sha256(self.headers.get("Authorization", "").encode()).hexdigest()
            return self.answer(200, json.dumps({"headers": dict(self.headers), "hash": sent}).encode())
        size = int(self.path[len("/bytes/"):]) if self.path.startswith("/bytes/") else None
        seen = {"server": self.server.who, "address": self.request.getsockname()[0], "host": self.headers.get("Host"),
                "path": self.path, "method": self.command}
        self.answer(200, b"x" * size if size is not None else json.dumps(seen).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def answer(self, status, body, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def endless(self):
        self.send_response(200)
        self.end_headers()
        while True:  # until who asked has gone
            self.wfile.write(b"x" * 65536)

    def switch(self, protocol):
        self.send_response(101)
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", protocol)
        self.end_headers()
        while data := self.rfile.read1(65536):
            self.connection.sendall(data)
        self.close_connection = True

    def log_message(self, *_):
        pass


class Lenient(socketserver.StreamRequestHandler):
    """Reads what careful readers refuse: bare line feeds, folded lines, spaces before colons, both lengths at once. On
    port 8081 chunks win over Content-Length, on 8082 the other way round. Says which requests it took for some."""

    def handle(self):
        while head := self.head():
            first, fields = head[0], {}
            for line in head[1:]:
                name, _, value = line.partition(b":")
                fields[name.strip().lower()] = value.strip().lower()
            SEEN["requests"].append(first.decode("latin-1"))
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\nSERVED %s\n" % (len(first) + 8, first))
            chunked = b"chunked" in fields.get(b"transfer-encoding", b"")
            length = re.search(rb"\d+", fields.get(b"content-length", b""))
            if chunked and (self.server.server_address[1] == 8081 or not length):
                self.skip_chunks()
            elif length:
                self.rfile.read(int(length[0]))

    def head(self):
        lines = []
        while self.rfile.peek(1)[:1] in (b"\r", b"\n"):  # empty lines before a request
            self.rfile.readline(65536)
        while line := self.rfile.readline(65536).rstrip(b"\r\n"):
            if line[:1] in b" \t" and lines:
                lines[-1] += line
            else:
                lines += [line]
        return lines

    def skip_chunks(self):
        while size := int(re.match(rb"[0-9a-fA-F]*", self.rfile.readline(1000).strip())[0] or b"0", 16):
            self.rfile.read(size)
            self.rfile.readline(10)
        self.rfile.readline(10)


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


class HostileNames:
    """A name server that changes its mind. Below rebind.example the first answer is a public address, the next the
    metadata service, and so on, none to be kept; both.example is public and a neighbour, whom resolvers put first; what is
    below tunnel.example exists; who asks for something below slow.example waits in vain."""

    PUBLIC, METADATA, NEIGHBOUR = "93.184.216.34", "169.254.169.254", "10.200.0.2"

    def __init__(self):
        self.asked = {}
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("93.184.216.53", 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            question, peer = self.socket.recvfrom(4096)
            labels, at = [], 12
            while size := question[at]:
                labels.append(question[at + 1:at + 1 + size].decode("latin-1").lower())
                at += 1 + size
            name, kind = ".".join(labels), struct.unpack(">H", question[at + 1:at + 3])[0]
            SEEN["names"].append(name)
            if name.endswith("slow.example"):
                continue  # until whoever asked gives up
            addresses = self.addresses(name) if kind == 1 else []
            code = 0 if addresses is not None else 3
            answer = struct.pack(">2s5H", question[:2], 0x8180 | code, 1, len(addresses or []), 0, 0) + question[12:at + 5]
            for address in addresses or []:
                answer += struct.pack(">HHHIH", 0xc00c, 1, 1, 0, 4) + socket.inet_aton(address)
            self.socket.sendto(answer, peer)

    def addresses(self, name):
        if name.endswith("rebind.example"):
            self.asked[name] = self.asked.get(name, 0) + 1
            return [self.PUBLIC if self.asked[name] % 2 else self.METADATA]
        if name.endswith("both.example"):
            return [self.NEIGHBOUR, self.PUBLIC]
        return [self.PUBLIC] if name.endswith("tunnel.example") else None


def note_packets(port):
    packets = socket.socket(type=socket.SOCK_DGRAM)
    packets.bind(("0.0.0.0", port))

    def serve():
        while True:
            SEEN["packets"].append(packets.recv(2000).decode("latin-1"))

    threading.Thread(target=serve, daemon=True).start()


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
for port in (443, 853):
    serve(who, port, Page, scratch)
for port in (8081, 8082):
    serve(who, port, Lenient)
serve(who, 7, Echo)
serve(who, 2525, Greeter)
if who == "world":
    HostileNames()
    for port in (443, 9999):
        note_packets(port)
print("up", flush=True)
sys.stdin.read()
