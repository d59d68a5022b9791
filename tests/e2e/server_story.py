"""A story that is told to a running server: started once a class, on a port of its own, stopped at the end."""

import http.client
import json
import os
import re
import subprocess

from story import BELLJAR, PATIENCE_SECONDS, Story


class Server:
    """A `belljar serve` of a test's own."""

    def __init__(self, data, home, *flags, before=(), listen="127.0.0.1:0", env=None, around=()):
        """`before`: flags of belljar itself, `flags`: of serve; `around`: a command that starts it, such as nsenter."""
        self.data = data
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": data, "HOME": home, **(env or {})}
        self.log = open(os.path.join(home, "server.log"), "ab")
        self.process = subprocess.Popen([*around, BELLJAR, *before, "serve", "--listen", listen, *flags], env=environment,
                                        stdout=subprocess.PIPE, stderr=self.log)
        said = []
        for line in self.process.stdout:
            said.append(line.decode())
            found = re.search(r"listening on (https?)://\S+:(\d+)", said[-1])
            if found:
                self.port = int(found.group(2))
                self.url = f"{found.group(1)}://127.0.0.1:{self.port}"
                break
        else:
            self.stop()
            raise AssertionError("the server did not start: " + "".join(said) + open(self.log.name).read())
        self.said = "".join(said)
        with open(os.path.join(data, "admin.key")) as file:
            self.key = file.read().strip()

    def request(self, method, path, body=None, key=None, headers=None):
        """(status, headers, body bytes) of one request; `key` False sends none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        sent = {"Content-Type": "application/json", **(headers or {})}
        if key is not False:
            sent["Authorization"] = "Bearer " + (key or self.key)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def kill(self):
        self.process.kill()
        self.process.communicate()
        self.log.close()

    def stop(self):
        self.process.terminate()
        try:
            self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.log.close()
        return self.process.returncode


class ServerStory(Story):
    flags = ()
    env = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prepare()
        cls.server = Server(cls.data, cls.scratch, *cls.flags, env={**cls.everywhere, **cls.env})

    @classmethod
    def prepare(cls):
        """What a class needs before its server starts."""

    @classmethod
    def tearDownClass(cls):
        status = cls.server.stop()
        super().tearDownClass()
        assert status == 0, f"the server ended with status {status}"

    def api(self, method, path, body=None, expect=200, **more):
        """The JSON that a request is answered with."""
        status, _, text = self.server.request(method, path, body, **more)
        self.assertEqual(status, expect, text)
        return json.loads(text) if text else None

    def log_text(self):
        with open(self.server.log.name) as file:
            return file.read()
