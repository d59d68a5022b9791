"""A package index on loopback, for stories about what is installed: packages made on the spot, hostile ones included.

A package is an sdist whose build backend lies in it and needs nothing, so that its code runs at build time, in the
builder's sandbox, as setup.py would. Code given as `at_build` is run there; what it leaves in the dictionary `found`
is packed into the wheel as the module's FOUND.

As a program (package_index.py PORT FOLDER) it says "up" and serves what is in FOLDER: NAME.py is what NAME does at_build.
"""

import base64
import http.server
import io
import pathlib
import sys
import tarfile
import textwrap
import threading

BACKEND = '''
import base64, hashlib, os, pprint, zipfile

NAME = {name!r}

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    found = dict()
    exec(compile({at_build!r}, "at_build", "exec"), dict(found=found, os=os))
    info = NAME + "-1.0.dist-info/"
    files = dict([
        (NAME + ".py", "VALUE = 42\\nFOUND = " + pprint.pformat(found) + "\\n"),
        (info + "METADATA", "Metadata-Version: 2.1\\nName: " + NAME + "\\nVersion: 1.0\\n"),
        (info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"),
        (info + "entry_points.txt", "[console_scripts]\\n" + NAME + "-say = " + NAME + ":print\\n"),
    ])
    files[info + "RECORD"] = "".join(path + ",,\\n" for path in [*files, info + "RECORD"])
    wheel = NAME + "-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel
'''


def sdist(name, at_build):
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": BACKEND.format(name=name, at_build=textwrap.dedent(at_build)),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        index = self.server.index
        index.authorizations.add(self.headers.get("Authorization"))
        parts = self.path.strip("/").split("/")
        if parts[0] == "block":
            index.blocked.set()
            index.go_on.wait(60)
            return self.answer(b"ok", "text/plain")
        if parts[0] == "simple" and len(parts) == 2 and parts[1] in index.packages:
            return self.answer(f'<a href="/files/{parts[1]}-1.0.tar.gz">{parts[1]}-1.0.tar.gz</a>'.encode(), "text/html")
        name = parts[-1].removesuffix("-1.0.tar.gz")
        if parts[0] == "files" and name in index.packages:
            with index.lock:
                index.downloads[name] = index.downloads.get(name, 0) + 1
            return self.answer(index.packages[name], "application/gzip")
        self.send_error(404)

    def answer(self, body, kind):
        try:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            pass  # who asked was killed

    def log_message(self, *_):
        pass


class PackageIndex:
    USER, PASSWORD = "reader", "pa55word-of-the-index"

    def __init__(self, port=0):
        self.packages, self.downloads, self.authorizations = {}, {}, set()
        self.lock, self.blocked, self.go_on = threading.Lock(), threading.Event(), threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.index = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, name, at_build=""):
        self.packages[name] = sdist(name, at_build)

    @property
    def url(self):
        return f"http://{self.USER}:{self.PASSWORD}@127.0.0.1:{self.port}/simple"

    @property
    def authorization(self):
        return "Basic " + base64.b64encode(f"{self.USER}:{self.PASSWORD}".encode()).decode()

    def close(self):
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()


if __name__ == "__main__":
    index = PackageIndex(int(sys.argv[1]))
    for file in pathlib.Path(sys.argv[2]).glob("*.py"):
        index.add(file.stem, file.read_text())
    print("up", flush=True)
    threading.Event().wait()
