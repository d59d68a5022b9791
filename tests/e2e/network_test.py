"""The gate: a sandbox reaches what its policy names and nothing else. Against real servers in namespaces of the test's own."""

import json
import os
import re
import shutil
import subprocess
import time
import unittest

from network_story import NetworkStory
from story import BELLJAR

CONNECT = """
import errno, socket, sys
for place in sys.argv[1:]:
    host, port = place.rsplit(":", 1)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        s = socket.socket(family); s.settimeout(5); s.connect((host, int(port)))
        try:
            s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"); print(place, "GOT", s.recv(1000)[:20])
        except OSError as e: print(place, "reset", errno.errorcode.get(e.errno, e))
    except OSError as e: print(place, errno.errorcode.get(e.errno, e))
"""


class Allowed(NetworkStory):
    def test_curl_reaches_an_allowed_name(self):
        done = self.curl("allow:allowed.example", "http://allowed.example/a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"server": "world", "address": "93.184.216.34", "host": "allowed.example",
                                                   "path": "/a", "method": "GET"})

    def test_https_goes_end_to_end(self):
        ca = os.path.join(self.scratch, "ca.pem")
        done = self.curl("allow:*.allowed.example", "--cacert", "/ca/ca.pem", "https://api.allowed.example/",
                         flags=("--mount", os.path.dirname(ca) + ":/ca"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["host"], "api.allowed.example")

    def test_python_and_node_need_no_proxy_settings(self):
        fetch = "import urllib.request; print(urllib.request.urlopen('http://allowed.example/', timeout=10).read().decode())"
        done = self.python("allow:allowed.example", fetch)
        self.assertIn('"server": "world"', done.stdout.decode(), done.stderr)
        fetch = "fetch('http://allowed.example/').then(r => r.text()).then(console.log)"
        done = self.belljar("exec", "--network", "allow:allowed.example", "--", "node", "-e", fetch)
        self.assertIn('"server": "world"', done.stdout.decode(), done.stderr)

    def test_large_bodies_arrive_whole_and_halves_close_alone(self):
        done = self.curl("allow:allowed.example", "-o", "/dev/null", "-w", "%{size_download}", "http://allowed.example/bytes/30000000")
        self.assertEqual(done.stdout, b"30000000", done.stderr)
        echo = """
import socket, threading
s = socket.create_connection(("allowed.example", 7)); data = bytes(range(256)) * 40000; got = []
def read():
    while part := s.recv(65536): got.append(part)
t = threading.Thread(target=read); t.start(); s.sendall(b"z" + data); s.shutdown(socket.SHUT_WR); t.join()
print(b"".join(got) == b"z" + data)
"""
        done = self.python("allow:allowed.example:7", echo)
        self.assertEqual(done.stdout.decode().strip(), "True", done.stderr)

    def test_a_server_may_speak_first(self):
        talk = """
import socket
s = socket.create_connection(("allowed.example", 2525)); print(s.recv(100)); s.sendall(b"me\\r\\n"); print(s.recv(100))
"""
        done = self.python("allow:allowed.example:2525", talk)
        self.assertIn("hello, who are you", done.stdout.decode(), done.stderr)
        self.assertIn("you said me", done.stdout.decode())

    def test_a_private_address_that_an_administrator_lists_is_reached(self):
        listed = self.policy("listed.json", rules=[{"allow": "private.example", "ports": [80]}],
                             private_addresses=["10.200.0.2:80"])
        done = self.curl(listed, "http://private.example/")
        self.assertIn(b'"address": "10.200.0.2"', done.stdout, done.stderr)

    def test_the_seal_names_the_policy(self):
        done = self.belljar("exec", "--network", "open", "--json", "--", "true")
        controls = json.dumps(json.loads(done.stdout)["seal"])
        self.assertIn("open", controls)


class Denied(NetworkStory):
    def test_a_name_without_a_rule_does_not_exist_and_the_reason_is_told(self):
        done = self.curl("allow:allowed.example", "http://other.example/")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("network: other.example", done.stderr.decode())

    def test_addresses_and_other_ports_are_refused_in_connect(self):
        places = ["93.184.216.34:80", "93.184.216.35:80", "169.254.169.254:80", "10.200.0.1:80", "10.200.0.2:80",
                  "93.184.216.99:80", "198.18.1.0:81", "198.18.77.1:80", "2606:2800:220:1::1:80", "::ffff:93.184.216.34:80",
                  "::ffff:169.254.169.254:80", "fd00:be11::1:5:80"]
        script = "import socket; socket.getaddrinfo('allowed.example', 80)\n" + CONNECT
        done = self.python("allow:allowed.example:80", script, *places)
        lines = done.stdout.decode().splitlines()
        self.assertEqual([line.split()[-1] for line in lines], ["ECONNREFUSED"] * len(places), done)

    def test_the_machines_loopback_is_not_the_sandboxs(self):
        done = self.python("open", CONNECT, "127.0.0.1:8080", "::1:8080")
        self.assertNotIn(b"GOT", done.stdout)

    def test_udp_raw_and_icmp_get_nowhere(self):
        script = """
import socket
def attempt(what, f):
    try: f(); print(what, "SENT")
    except OSError as e: print(what, "no")
for policy_port in (443, 123, 53000): attempt("udp", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("93.184.216.34", policy_port)))
attempt("icmp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1).sendto(b"x" * 8, ("93.184.216.34", 0)))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
"""
        done = self.python("open", script, flags=("--user", "root"))
        self.assertEqual(done.stdout.decode().count("no"), 6, done)
        self.assertIn("network: 93.184.216.34:443: of UDP only DNS passes", done.stderr.decode())

    def test_every_place_of_a_sweep_is_counted(self):
        script = "import socket\nfor port in range(1000, 1200): socket.socket().connect_ex(('93.184.216.35', port))"
        done = self.belljar("exec", "--network", "allow:allowed.example", "--json", "--", "python3", "-c", script)
        network = json.loads(done.stdout)["network"]
        self.assertEqual(sum(one["times"] for one in network["denied"]) + network["left_out"], 200, network)

    def test_names_that_lead_to_forbidden_addresses_are_reset(self):
        for name in ("metadata.example", "loop.example", "private.example", "own.example"):
            for policy in (f"allow:{name}", "open"):
                with self.subTest(name=name, policy=policy):
                    done = self.curl(policy, f"http://{name}/")
                    self.assertEqual((done.returncode, done.stdout), (56, b""), done.stderr)
                    self.assertIn(f"network: {name}:80", done.stderr.decode())

    def test_an_unreachable_server_is_a_reset_with_its_reason(self):
        done = self.curl("allow:closed.example:81", "http://closed.example:81/")
        self.assertEqual(done.returncode, 56, done.stderr)
        self.assertIn("network: closed.example:81: connect: Connection refused", done.stderr.decode())

    def test_without_a_policy_there_is_no_network(self):
        done = self.python("none", CONNECT, "93.184.216.34:80", "127.0.0.1:15001", "127.0.0.1:53")
        self.assertEqual([line.split()[-1] for line in done.stdout.decode().splitlines()],
                         ["ENETUNREACH", "ECONNREFUSED", "ECONNREFUSED"], done.stderr)

    def test_open_is_the_internet_and_not_the_neighbours(self):
        done = self.curl("open", "http://other.example/")
        self.assertIn(b'"address": "93.184.216.35"', done.stdout, done.stderr)
        places = ["93.184.216.35:80", "10.200.0.2:80", "10.200.0.1:80", "169.254.169.254:80", "::ffff:169.254.169.254:80", "93.184.216.99:80"]
        done = self.python("open", CONNECT, *places)
        said = [line.split()[1] for line in done.stdout.decode().splitlines()]
        self.assertEqual(said, ["GOT", "ECONNREFUSED", "ECONNREFUSED", "ECONNREFUSED", "ECONNREFUSED", "reset"], done)


class Caps(NetworkStory):
    def used(self, policy, script):
        done = self.belljar("exec", "--network", policy, "--json", "--", "python3", "-c", script)
        answer = json.loads(done.stdout)
        return answer["stdout"], answer["network"]

    def test_bytes_a_second_slow_down_and_lose_nothing(self):
        policy = self.policy("slow", rules=[{"allow": "allowed.example"}], caps={"bytes_per_second": 200_000})
        fetch = "import urllib.request; print(len(urllib.request.urlopen('http://allowed.example/bytes/300000').read()))"
        said, network = self.used(policy, fetch)
        self.assertEqual((said, network["caps_reached"]), ("300000\n", ["bytes_per_second"]))

    def test_connections_a_second_come_later_and_all_of_them(self):
        policy = self.policy("few", rules=[{"allow": "allowed.example"}], caps={"connections_per_second": 5})
        fetch = "import urllib.request\nfor i in range(8): print(urllib.request.urlopen('http://allowed.example/').status)"
        said, network = self.used(policy, fetch)
        self.assertEqual((said, network["caps_reached"]), ("200\n" * 8, ["connections_per_second"]))
        self.assertEqual(network["reached"][0]["connections"], 8)

    def test_bytes_over_a_life_end_the_connection_and_say_so(self):
        policy = self.policy("little", rules=[{"allow": "allowed.example"}], caps={"bytes_received": 5000})
        done = self.curl(policy, "-o", "/dev/null", "http://allowed.example/bytes/30000000")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the cap bytes_received was reached", done.stderr.decode())

    def test_names_beyond_their_cap_are_an_event(self):
        policy = self.policy("names", rules=[{"allow": "*.allowed.example"}], caps={"names": 1})
        script = """
import socket
for name in ("a.allowed.example", "a.allowed.example", "b.allowed.example"):
    try: print(bool(socket.getaddrinfo(name, 80)))
    except OSError: print("no")
"""
        said, network = self.used(policy, script)
        self.assertEqual(said.split(), ["True", "True", "no"])
        self.assertIn("different names", network["denied"][0]["reason"])
        self.assertEqual(network["caps_reached"], ["names"])

    def test_connections_beyond_their_cap_are_an_event_that_names_the_place(self):
        policy = self.policy("at_a_time", rules=[{"allow": "allowed.example", "ports": [7]}], caps={"connections": 2})
        script = """
import socket
held = []
for _ in range(4):
    try:
        held.append(socket.create_connection(("allowed.example", 7), 10))
        held[-1].settimeout(10)
        held[-1].sendall(b"x\\n")
        print(len(held[-1].recv(10)))
    except OSError: print("no")
"""
        said, network = self.used(policy, script)
        self.assertEqual(said.split(), ["2", "2", "no", "no"])
        self.assertEqual(network["caps_reached"], ["connections"])
        denied = network["denied"][0]
        self.assertEqual((denied["host"], denied["port"]), ("allowed.example", 7))
        self.assertIn(denied["times"], (2, 3, 4))  # a reset within connect() has Python try the name's other address


class Lies(NetworkStory):
    """The name that DNS was asked for is the name that must be spoken."""

    def test_another_name_in_the_tls_hello_is_reset(self):
        done = self.curl("allow:allowed.example", "-k", "--connect-to", "other.example:443:allowed.example:443",
                         "https://other.example/")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, b"")
        self.assertIn("asks for other.example", done.stderr.decode())

    def test_no_name_in_the_tls_hello_is_reset(self):
        script = """
import socket, ssl
c = ssl._create_unverified_context()
try: print("GOT", c.wrap_socket(socket.create_connection(("allowed.example", 443))).version())
except OSError as e: print("reset")
"""
        done = self.python("allow:allowed.example", script)
        self.assertEqual(done.stdout.decode().strip(), "reset", done.stderr)

    def test_another_host_header_is_reset(self):
        done = self.curl("allow:allowed.example", "-H", "Host: other.example", "http://allowed.example/")
        self.assertEqual((done.returncode, done.stdout), (56, b""), done.stderr)

    def test_silence_first_does_not_hide_the_lie(self):
        script = """
import socket, time
s = socket.create_connection(("allowed.example", 80)); time.sleep(0.6)
s.sendall(b"GET / HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n")
try: print(s.recv(1000))
except OSError as e: print("reset")
"""
        done = self.python("allow:allowed.example", script)
        self.assertEqual(done.stdout.decode().strip(), "reset", done.stderr)

    def test_one_byte_at_a_time_does_not_hide_the_lie(self):
        script = """
import socket, time
s = socket.create_connection(("allowed.example", 80))
try:
    for b in b"GET / HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n": s.send(bytes([b])); time.sleep(0.005)
    print(s.recv(1000))
except OSError as e: print("reset")
"""
        done = self.python("allow:allowed.example", script)
        self.assertEqual(done.stdout.decode().strip(), "reset", done.stderr)

    def test_another_name_server_is_us(self):
        script = r"""
import socket, struct
def ask(name, where, tcp):
    q = struct.pack(">6H", 7, 256, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0" + struct.pack(">2H", 1, 1)
    family = socket.AF_INET6 if ":" in where else socket.AF_INET
    s = socket.socket(family, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM); s.settimeout(5); s.connect((where, 53))
    s.sendall((struct.pack(">H", len(q)) if tcp else b"") + q)
    a = s.recv(2000)[2 if tcp else 0:]
    return a[3] & 15, socket.inet_ntoa(a[-4:]) if a[7] else None
for where in ("8.8.8.8", "127.0.0.1", "10.200.0.2", "2001:4860:4860::8888"):
    for tcp in (False, True): print(ask("allowed.example", where, tcp), ask("other.example", where, tcp))
"""
        done = self.python("allow:allowed.example", script)
        self.assertEqual(done.stdout.decode().splitlines(), ["(0, '198.18.1.0') (3, None)"] * 8, done.stderr)


class Proxies(NetworkStory):
    """For programs that want one: HTTP and SOCKS5 on the gate's own port, where a refusal has words."""

    GATE = "127.0.0.1:15001"

    def test_connect_and_socks_reach_an_allowed_name(self):
        mount = ("--mount", self.scratch + ":/ca")
        for proxy in (f"http://{self.GATE}", f"socks5h://{self.GATE}", f"socks5://{self.GATE}"):
            with self.subTest(proxy=proxy):
                done = self.curl("allow:allowed.example", "--cacert", "/ca/ca.pem", "-x", proxy, "https://allowed.example/", flags=mount)
                self.assertIn(b'"host": "allowed.example"', done.stdout, done.stderr)

    def test_plain_http_through_the_proxy_keeps_query_and_body(self):
        done = self.curl("allow:allowed.example", "-x", f"http://{self.GATE}", "-d", "some=data", "http://allowed.example/p?q=1")
        self.assertIn(b'"path": "/p?q=1", "method": "POST"', done.stdout, done.stderr)

    def test_a_refusal_is_told(self):
        done = self.curl("allow:allowed.example", "-x", f"http://{self.GATE}", "http://other.example/")
        self.assertIn(b"other.example", done.stdout, done.stderr)
        self.assertNotIn(b"world", done.stdout)
        done = self.curl("allow:allowed.example", "-x", f"http://{self.GATE}", "https://other.example/")
        self.assertIn("403", done.stderr.decode())
        done = self.curl("allow:allowed.example", "-x", f"socks5h://{self.GATE}", "http://other.example/")
        self.assertNotEqual(done.returncode, 0)

    def test_proxies_lead_to_no_forbidden_address(self):
        for place in ("169.254.169.254", "127.0.0.1:8080", "10.200.0.2", "93.184.216.99", "[::1]:8080", "metadata.example",
                      "[::ffff:169.254.169.254]", "198.18.0.1", "0.0.0.0:8080"):
            for proxy in (f"http://{self.GATE}", f"socks5h://{self.GATE}"):
                with self.subTest(place=place, proxy=proxy):
                    done = self.curl("open", "-x", proxy, "-p", f"http://{place}/")
                    self.assertNotIn(b'"server"', done.stdout, done.stderr)
                    self.assertNotEqual(done.returncode, 0)

    def test_a_tunnel_must_say_the_name_it_was_asked_for(self):
        done = self.curl("allow:allowed.example", "-k", "-x", f"http://{self.GATE}", "--connect-to",
                         "other.example:443:allowed.example:443", "https://other.example/")
        self.assertEqual(done.stdout, b"")
        self.assertIn("asks for other.example", done.stderr.decode())

    def test_a_second_request_on_the_connection_goes_nowhere(self):
        script = """
import socket
s = socket.create_connection(("127.0.0.1", 15001))
one = b"GET http://allowed.example/one HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n"
s.sendall(one + b"GET /two HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n"); got = b""
try:
    while part := s.recv(1000): got += part
except OSError: pass
print(got.count(b"/one"), got.count(b"/two"))
"""
        done = self.python("allow:allowed.example", script)
        self.assertEqual(done.stdout.decode().strip(), "1 0", done.stderr)


class Unread(NetworkStory):
    """What a program does not read waits in the gate's sockets, and no limit of the sandbox counts it."""

    SCRIPT = """
import socket, sys
held = []
for _ in range(30):
    held.append(socket.create_connection(("allowed.example", 80), 10))
    held[-1].sendall(b"GET /endless HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n")
for s in held:  # at first it reads, so that the kernel finds large buffers worth while
    left = 6000000
    while left > 0: left -= len(s.recv(1 << 20))
print("held", flush=True)
sys.stdin.read()
"""

    @unittest.skipUnless(shutil.which("ss"), "there is no ss (package iproute2)")
    def test_it_does_not_take_the_machines_memory(self):
        machine = self.world.on_the_machine()
        command = [*machine, BELLJAR, "exec", "-i", "--network", "allow:allowed.example", "--", "python3", "-c", self.SCRIPT]
        environment = {"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as program:
            self.assertEqual(program.stdout.readline(), b"held\n")
            most_large = 0
            for _ in range(20):  # nobody says when the last byte has come
                said = subprocess.run([*machine, "ss", "-tmnH", "dport", "=", ":80"], capture_output=True)
                waiting = [int(size) for size in re.findall(rb"skmem:\(r(\d+)", said.stdout)]
                self.assertEqual(len(waiting), 30)
                most_large = max(most_large, sum(size > 1 << 20 for size in waiting))
                time.sleep(0.1)
            program.stdin.close()
        self.assertLessEqual(most_large, 8)


class Requests(NetworkStory):
    """Rules about methods and paths, of plain HTTP here; credentials_test.py has them on opened HTTPS."""

    def test_only_the_allowed_request_passes(self):
        rules = self.policy("requests.json", rules=[{"allow": "allowed.example", "methods": ["GET"], "paths": ["/v1/*"]}])
        self.assertIn(b"/v1/a", self.curl(rules, "http://allowed.example/v1/a").stdout)
        for arguments in (("http://allowed.example/v2/a",), ("-d", "x", "http://allowed.example/v1/a"),
                          ("--path-as-is", "http://allowed.example/v1/../v2"), ("-H", "X-HTTP-Method-Override: DELETE", "http://allowed.example/v1/a")):
            with self.subTest(arguments=arguments):
                done = self.curl(rules, "-w", "%{http_code}", *arguments)
                self.assertNotIn(b'"server"', done.stdout)
                self.assertRegex(done.stdout.decode(), "(no rule allows this request|and a rule depends on it).*\n403$")
                self.assertIn("network: allowed.example:80: ", done.stderr.decode())

    def test_a_large_body_that_nobody_wants_does_not_hide_why(self):
        rules = self.policy("large.json", rules=[{"allow": "allowed.example", "methods": ["GET"]}])
        upload = "head -c 3000000 /dev/zero | curl -sS -m 10 -H Expect: --data-binary @- http://allowed.example/"
        done = self.belljar("exec", "--network", rules, "--", "sh", "-c", upload)
        self.assertIn(b"no rule allows this request", done.stdout, done.stderr)

    def test_a_second_request_on_the_connection_goes_nowhere(self):
        rules = self.policy("second.json", rules=[{"allow": "allowed.example", "paths": ["/one"]}])
        script = """
import socket
s = socket.create_connection(("allowed.example", 80))
for path in (b"/one", b"/two"): s.sendall(b"GET " + path + b" HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n")
got = b""
try:
    while part := s.recv(1000): got += part
except OSError: pass
print(got.count(b"/one"), got.count(b"/two"))
"""
        done = self.python(rules, script)
        self.assertEqual(done.stdout.decode().strip(), "1 0", done.stderr)


class Tampering(NetworkStory):
    """Root inside, with every capability that a sandbox can have, does not own the network namespace."""

    def test_root_inside_cant_change_the_rules_or_take_the_gates_ports(self):
        script = """
import ctypes, os, socket
def attempt(what, f):
    try: f(); print(what, "DONE")
    except OSError as e: print(what, "no")
def put(path, text):
    with open(path, "w") as f: f.write(text)
def option(level, name, value):
    s = socket.socket(); s.setsockopt(level, name, value)
def bind(port, kind=socket.SOCK_STREAM, family=socket.AF_INET):
    s = socket.socket(family, kind); s.setsockopt(1, 2, 1); s.setsockopt(1, 15, 1); s.bind(("", port))
    if kind == socket.SOCK_STREAM: s.listen()
def call(result):
    if result != 0: raise OSError()
libc = ctypes.CDLL(None)
attempt("netfilter", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12))
attempt("route", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("sysctl", lambda: put("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"))
attempt("transparent", lambda: option(0, 19, 1))
attempt("mark", lambda: option(1, 36, 1))
attempt("gate", lambda: bind(15001))
attempt("gate6", lambda: bind(15001, family=socket.AF_INET6))
attempt("dns", lambda: bind(53, socket.SOCK_DGRAM))
attempt("dns tcp", lambda: bind(53))
attempt("unshare", lambda: call(libc.unshare(0x40000000)))
attempt("setns", lambda: call(libc.setns(os.open("/proc/1/ns/net", os.O_RDONLY), 0x40000000)))
"""
        done = self.python("allow:allowed.example", script, flags=("--user", "root"))
        self.assertEqual(done.stdout.decode().count(" no"), 11, done)

    def test_the_gates_own_port_leads_nowhere(self):
        done = self.python("allow:allowed.example", CONNECT, "127.0.0.1:15001", "198.18.0.1:15001", "::1:15001")
        self.assertNotIn(b"GOT", done.stdout, done.stderr)

    def test_nothing_is_left_when_the_command_ends(self):
        script = """
import socket, subprocess
s = socket.create_connection(("allowed.example", 7)); s.sendall(b"zzz"); print(s.recv(3), flush=True)
"""
        done = self.belljar("exec", "--network", "allow:allowed.example:7", "--", "sh", "-c", f"python3 -c '{script}; import time; time.sleep(60)' & sleep 1; echo over")
        self.assertIn(b"over", done.stdout)
        left = subprocess.run([*self.world.on_the_machine(), "ss", "-Htn", "state", "established"], capture_output=True)
        self.assertEqual(left.stdout.decode().strip(), "", left)


if __name__ == "__main__":
    unittest.main()
