"""What real programs talk to, over HTTPS on one port: an index for pip, a registry for npm, a repository for git, and a
WebSocket that says everything twice. Run as program_servers.py PORT FOLDER; certificate and repository are in FOLDER."""

import base64
import hashlib
import http.server
import io
import json
import os
import ssl
import subprocess
import sys
import tarfile
import threading
import zipfile

HOST = "api.allowed.example"


def wheel(name):
    info = f"{name}-1.0.dist-info/"
    files = {f"{name}.py": "VALUE = 42\n", info + "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             info + "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files[info + "RECORD"] = "".join(path + ",,\n" for path in [*files, info + "RECORD"])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()


def npm_package(name):
    packed = io.BytesIO()
    files = {"package.json": json.dumps({"name": name, "version": "1.0.0", "main": "index.js"}),
             "index.js": "module.exports = 42;\n"}
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo("package/" + path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    port = folder = None

    def do_GET(self):
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[0] == "simple":
            name = f"{parts[1]}-1.0-py3-none-any.whl"
            return self.answer(f'<a href="/wheels/{name}">{name}</a>'.encode(), "text/html")
        if parts[0] == "wheels":
            return self.answer(wheel(parts[1].partition("-")[0]), "application/zip")
        if parts[0] == "npm" and parts[-1].endswith(".tgz"):
            return self.answer(npm_package(parts[1]), "application/gzip")
        if parts[0] == "npm":
            return self.answer(json.dumps(self.packument(parts[1])).encode(), "application/json")
        if parts[0] == "git":
            return self.git(b"")
        if self.headers.get("Upgrade") == "websocket":
            return self.talk()
        self.answer(json.dumps({"path": self.path, "agent": self.headers.get("User-Agent")}).encode(), "application/json")

    def do_POST(self):
        size = self.headers.get("Content-Length")
        self.git(self.rfile.read(int(size)) if size else self.chunks())

    def chunks(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def packument(self, name):
        dist = {"tarball": f"https://{HOST}:{self.port}/npm/{name}/-/{name}-1.0.0.tgz"}
        return {"name": name, "dist-tags": {"latest": "1.0.0"},
                "versions": {"1.0.0": {"name": name, "version": "1.0.0", "dist": dist}}}

    def git(self, body):
        path, _, query = self.path.partition("?")
        environment = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.folder, "GIT_HTTP_EXPORT_ALL": "1",
                       "PATH_INFO": path[len("/git"):], "QUERY_STRING": query, "REQUEST_METHOD": self.command,
                       "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                       "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment)
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n"))
        self.answer(answer, fields[b"Content-Type"].decode())

    def talk(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"),
                            ("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        first, size = self.rfile.read(2)
        mask, text = self.rfile.read(4), self.rfile.read(size & 127)  # short and masked, as browsers send it
        said = bytes(byte ^ mask[i % 4] for i, byte in enumerate(text)) * 2
        self.wfile.write(bytes([first, len(said)]) + said)
        self.rfile.read(1)

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that goes in the middle is no failure of the server's."""


if __name__ == "__main__":
    port, folder = int(sys.argv[1]), sys.argv[2]
    Handler.port, Handler.folder = port, folder
    server = Server(("0.0.0.0", port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("up", flush=True)
    threading.Event().wait()
