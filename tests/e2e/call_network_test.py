"""Calls with a network: what the policy of the call names is reached, the rest is refused, and the result says both."""

import json
import unittest

from network_story import NetworkStory

FETCH_PY = """
def tool(url: str):
    import urllib.request
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()
"""
FETCH_TS = """
export async function tool(url: string): Promise<any> {
  return await (await fetch(url)).json();
}
"""
CONNECT = """
def tool(places: list):
    import errno, socket
    said = []
    for host, port in places:
        try:
            s = socket.create_connection((host, port), timeout=5)
            s.sendall(f"GET / HTTP/1.0\\r\\nHost: {host}\\r\\n\\r\\n".encode())
            said.append("GOT" if s.recv(100) else "end")
        except socket.gaierror:
            said.append("no such name")
        except OSError as error:
            said.append(errno.errorcode.get(error.errno, str(error)))
    return said
"""
FORBIDDEN = [["93.184.216.34", 80], ["169.254.169.254", 80], ["10.200.0.2", 80], ["10.200.0.1", 80], ["93.184.216.99", 80],
             ["127.0.0.1", 8080], ["::1", 8080], ["other.example", 80]]


class CallNetwork(NetworkStory):
    def test_a_python_call_reaches_what_its_policy_names(self):
        status, answer = self.run_tool(FETCH_PY, {"url": "http://allowed.example/a"}, "--network", "allow:allowed.example")
        self.assertEqual((status, answer["status"]), (0, "ok"), answer)
        self.assertEqual(json.loads(answer["return"])["host"], "allowed.example")
        [reached] = answer["network"]["reached"]
        self.assertEqual((reached["host"], reached["port"], reached["connections"]), ("allowed.example", 80, 1))
        self.assertGreater(reached["bytes_sent"], 20)
        self.assertGreater(reached["bytes_received"], 100)
        self.assertIn("a gate with the policy 1 rule", answer["seal"]["netns"]["detail"])
        self.assertTrue(answer["seal"]["full"], answer["seal"])

    def test_a_typescript_call_does(self):
        status, answer = self.run_tool(FETCH_TS, {"url": "http://allowed.example/b"}, "--network", "allow:allowed.example",
                                       name="tool.ts")
        self.assertEqual((status, answer["return"]["path"]), (0, "/b"), answer)
        self.assertEqual(answer["network"]["reached"][0]["host"], "allowed.example")

    def test_a_denied_name_is_an_error_inside_and_an_event_of_the_call(self):
        for name, source in (("tool.py", FETCH_PY), ("tool.ts", FETCH_TS)):
            with self.subTest(name):
                status, answer = self.run_tool(source, {"url": "http://other.example/"}, "--network", "allow:allowed.example",
                                               name=name)
                self.assertEqual((status, answer["status"]), (1, "error"), answer)
                [denied] = answer["network"]["denied"]
                self.assertEqual((denied["host"], denied["reason"]), ("other.example", "no rule allows other.example"))
                self.assertEqual(answer["network"]["reached"], [])

    def test_a_name_that_leads_to_the_metadata_service_is_denied_with_the_reason(self):
        status, answer = self.run_tool(FETCH_PY, {"url": "http://metadata.example/"}, "--network", "open")
        self.assertEqual(status, 1, answer)
        [denied] = answer["network"]["denied"]
        self.assertEqual((denied["host"], denied["port"]), ("metadata.example", 80))
        self.assertIn("169.254.169.254", denied["reason"])

    def test_everything_else_is_refused_at_once(self):
        said = self.value(CONNECT, {"places": FORBIDDEN}, "--network", "allow:allowed.example")
        self.assertEqual(said, ["ECONNREFUSED"] * 7 + ["no such name"])

    def test_without_a_policy_nothing_of_all_this_is_there(self):
        status, answer = self.run_tool(CONNECT, {"places": FORBIDDEN})
        self.assertEqual((status, set(answer["return"][:5])), (0, {"ENETUNREACH"}), answer)
        self.assertNotIn("GOT", answer["return"])
        self.assertNotIn("network", answer)

    def test_the_same_places_are_reached_where_an_administrator_lists_them(self):
        """The control: it is the policy that stops them, not the test's world."""
        everything = self.policy("everything.json", preset="open", private_addresses=[
            "169.254.169.254:80", "10.200.0.2:80", "10.200.0.1:80", "93.184.216.99:80", "127.0.0.1:8080"])
        places = [place for place in FORBIDDEN if place[0] != "::1"]
        self.assertEqual(self.value(CONNECT, {"places": places}, "--network", everything), ["GOT"] * 7)

    def test_a_connection_that_is_still_open_at_the_end_is_counted(self):
        source = """
kept = []
def tool():
    import socket
    s = socket.create_connection(("allowed.example", 7)); kept.append(s)
    s.sendall(b"z" * 1000); n = 0
    while n < 1000: n += len(s.recv(1000))
"""
        status, answer = self.run_tool(source, {}, "--network", "allow:allowed.example:7")
        self.assertEqual(status, 0, answer)
        [reached] = answer["network"]["reached"]
        self.assertEqual((reached["bytes_sent"], reached["bytes_received"]), (1000, 1000))

    def test_a_call_with_a_network_keeps_its_other_walls(self):
        source = """
def tool():
    import ctypes, os, socket
    def attempt(what):
        try: what(); return "DONE"
        except (OSError, AssertionError) as error: return type(error).__name__
    libc = ctypes.CDLL(None)
    def call(result): assert result == 0
    return [attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)),
            attempt(lambda: call(libc.unshare(0x40000000))),
            attempt(lambda: open("/etc/x", "w")),
            attempt(lambda: os.kill(1, 9) if os.getpid() != 1 else os.kill(2, 0)),
            attempt(lambda: socket.socket().bind(("", 15001)))]
"""
        said = self.value(source, {}, "--network", "open")
        self.assertNotIn("DONE", said)

    def test_what_was_denied_is_told_people_too(self):
        path = self.write("tool.py", FETCH_PY)
        done = self.belljar("run", path, "--args", '{"url": "http://other.example/"}', "--network", "allow:allowed.example")
        self.assertIn("network: other.example: no rule allows other.example", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
