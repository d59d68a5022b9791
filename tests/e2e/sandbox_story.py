"""What the stories about sandboxes of a server share: making one, running in it, its files, events."""

import http.client
import json
import urllib.parse

from server_story import ServerStory
from story import PATIENCE_SECONDS


class SandboxStory(ServerStory):
    def create(self, key=None, **fields):
        made = self.api("POST", "/v1/sandboxes", fields, key=key)
        self.addCleanup(lambda: self.server.request("DELETE", f"/v1/sandboxes/{made['id']}", None, key))
        return made["id"]

    def run_in(self, sandbox, command, expect=200, key=None, **fields):
        return self.api("POST", f"/v1/sandboxes/{sandbox}/commands", {"command": command, **fields}, expect=expect, key=key)

    def output(self, sandbox, command, **fields):
        done = self.run_in(sandbox, command, **fields)
        self.assertEqual(done["exit_status"], 0, done)
        return done["stdout"]

    @staticmethod
    def files(sandbox, what="", **query):
        return f"/v1/sandboxes/{sandbox}/files{what}?" + urllib.parse.urlencode(query)

    def put(self, sandbox, path, data, **query):
        status, _, text = self.server.request("PUT", self.files(sandbox, path=path, **query), data,
                                              headers={"Content-Type": "application/octet-stream"})
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def read(self, sandbox, path, **headers):
        status, got, data = self.server.request("GET", self.files(sandbox, path=path), headers=headers)
        return status, got, data

    def events(self, method, path, body=None):
        """A connection and its events as they come: (name, data)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_SECONDS)
        connection.request(method, path, None if body is None else json.dumps(body).encode(),
                           {"Authorization": "Bearer " + self.server.key, "Accept": "text/event-stream"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        return connection, self.parse(answer)

    @staticmethod
    def parse(answer):
        name = None
        for line in answer:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                yield name, json.loads(line[6:])

    def audit(self, **filters):
        return self.api("GET", "/v1/audit?" + urllib.parse.urlencode(filters))
