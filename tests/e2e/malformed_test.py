"""Every route of the OpenAPI document gets malformed requests: a clear JSON error, never a 5xx, never a crash."""

import json
import random
import unittest

from server_story import ServerStory

ROUNDS = 12
NASTY = [None, True, 0, -1, 2**63, 1e308, "", "x", "\u0000", "\ud83d\ude00" * 50, "../../etc/passwd", "'; DROP TABLE tools; --",
         "a" * 20000, [], [[]], [None], {}, {"": ""}, {"type": "object"}, {"$ref": "#"}, [{"name": ""}], ["x"] * 2000]
RAW = [b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"\x00" * 64, b"{\"a\":1}{", b"[" * 5000, b'{"a":' * 2000, b"1" * 5000,
       b'{"source_code":"\\ud800","args":{}}', b'{"args":NaN}']
BASE_SOURCE = 'def f(x: int = 1) -> int:\n    """F."""\n    return x\n'


class Malformed(ServerStory):
    def operations(self):
        document = self.api("GET", "/openapi.json")
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def fields_of(self, operation):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        return list(body.get("properties", {})) or ["name", "config", "args"]

    def check(self, method, path, body):
        status, headers, text = self.server.request(method, path, body)
        self.assertLess(status, 500, (method, path, body if body is None else str(body)[:200], text[:300]))
        if status >= 400:
            answer = json.loads(text)
            self.assertTrue(answer.get("detail") or answer.get("message"), (method, path, text))  # ours, or E2B's

    def fill(self, path, chance):
        ids = ["x", "tool-123", "agent-00000000-0000-4000-8000-00000000000%d" % chance.randrange(10), "%00", "%2e%2e", "a" * 3000,
               "sandbox-00000000-0000-4000-8000-000000000001", "%F0%9F%98%80", "tool-00000000-0000-4000-8000-000000000001'"]
        while "{" in path:
            start, end = path.index("{"), path.index("}")
            path = path[:start] + chance.choice(ids) + path[end + 1:]
        return path

    def test_the_document_covers_the_routes(self):
        self.assertGreater(len(list(self.operations())), 30)

    def test_bodies_that_are_not_json_or_not_objects(self):
        chance = random.Random(1)
        for method, path, _ in self.operations():
            for raw in RAW if method not in ("GET", "DELETE") else RAW[:3]:
                self.check(method, self.fill(path, chance), raw)

    def test_fields_of_the_wrong_kind(self):
        chance = random.Random(2)
        for method, path, operation in self.operations():
            if method in ("GET", "DELETE"):
                continue
            fields = self.fields_of(operation)
            for _ in range(ROUNDS):
                body = {name: chance.choice(NASTY) for name in chance.sample(fields, chance.randint(1, len(fields)))}
                if chance.random() < 0.5:
                    body["source_code"] = BASE_SOURCE
                if chance.random() < 0.2:
                    body[chance.choice(["unknown", "", "__proto__"])] = chance.choice(NASTY)
                self.check(method, self.fill(path, chance), body)

    def test_query_parameters_of_the_wrong_kind(self):
        chance = random.Random(3)
        for method, path, operation in self.operations():
            names = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"] or ["limit", "after"]
            for _ in range(ROUNDS if method == "GET" else 2):
                query = "&".join(f"{chance.choice(names)}={chance.choice(['', 'x', '-1', '1e9', '99999999999999999999', '%00', '%FF', 'a,b'])}"
                                 for _ in range(3))
                self.check(method, self.fill(path, chance) + "?" + query, None)


if __name__ == "__main__":
    unittest.main()
