"""A real registry on loopback (the distribution's docker-registry), and small images that tests make and push themselves."""

import gzip
import hashlib
import http.client
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import time

PROGRAM = shutil.which("docker-registry")
NEEDED = ["/bin/bash", "/bin/sh", "/usr/bin/cat", "/usr/bin/id", "/usr/bin/env", "/usr/bin/tar", "/usr/bin/ls"]


def libraries(program):
    out = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return [word for line in out.splitlines() for word in line.split() if word.startswith("/")]


def small_root(extra=None):
    """A tar with a shell and what it needs, and the files of `extra`."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        wanted = set(NEEDED)
        for program in NEEDED:
            wanted.update(libraries(program))
        for file in sorted(wanted):
            tar.add(os.path.realpath(file), arcname=file.lstrip("/"), recursive=False)
        for name, text in (extra or {}).items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    return data.getvalue()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Registry:
    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.place = f"127.0.0.1:{self.port}"
        config = os.path.join(folder, "registry.yml")
        with open(config, "w") as file:
            json.dump({"version": 0.1, "log": {"level": "error"}, "storage": {"filesystem": {"rootdirectory": os.path.join(folder, "registry")}},
                       "http": {"addr": self.place}}, file)
        self.process = subprocess.Popen([PROGRAM, "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None, "docker-registry ended"
                time.sleep(0.05)
        raise AssertionError("docker-registry does not listen")

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def push_blob(self, name, data):
        status, headers, text = self.request("POST", f"/v2/{name}/blobs/uploads/", b"")
        assert status == 202, text
        place = headers["Location"].split(self.place, 1)[-1]
        joint = "&" if "?" in place else "?"
        status, _, text = self.request("PUT", f"{place}{joint}digest={digest(data)}", data,
                                       {"Content-Type": "application/octet-stream"})
        assert status == 201, text

    def push_manifest(self, name, tag, manifest, media_type):
        data = json.dumps(manifest).encode()
        status, _, text = self.request("PUT", f"/v2/{name}/manifests/{tag}", data, {"Content-Type": media_type})
        assert status == 201, text
        return data

    def push(self, name, tag, layers, settings=None, architecture="amd64"):
        """An image of these tars; yields its manifest's descriptor."""
        packed = [gzip.compress(layer, mtime=0) for layer in layers]
        config = json.dumps({"os": "linux", "architecture": architecture, "config": settings or {},
                             "rootfs": {"type": "layers", "diff_ids": [digest(layer) for layer in layers]}}).encode()
        for blob in [config, *packed]:
            self.push_blob(name, blob)
        kind = "application/vnd.oci.image."
        manifest = {"schemaVersion": 2, "mediaType": kind + "manifest.v1+json",
                    "config": {"mediaType": kind + "config.v1+json", "digest": digest(config), "size": len(config)},
                    "layers": [{"mediaType": kind + "layer.v1.tar+gzip", "digest": digest(blob), "size": len(blob)}
                               for blob in packed]}
        data = self.push_manifest(name, tag, manifest, kind + "manifest.v1+json")
        return {"mediaType": kind + "manifest.v1+json", "digest": digest(data), "size": len(data),
                "platform": {"os": "linux", "architecture": architecture}}

    def push_index(self, name, tag, manifests):
        kind = "application/vnd.oci.image.index.v1+json"
        self.push_manifest(name, tag, {"schemaVersion": 2, "mediaType": kind, "manifests": manifests}, kind)
