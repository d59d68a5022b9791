# attack: an empty policy as an open one
# family: 17
# runs: call exec
# stopped-by: design
# network: {}
#
# Sandbox runtimes have read an empty list of allowed domains as "no restriction" (srt, CVE-2025-66479).
import socket


def _talk(host, port, text):
    """What comes back until the other side ends, or as much as came before it reset."""
    got = b""
    try:
        with socket.create_connection((host, port), 5) as s:
            s.sendall(text)
            while part := s.recv(65536):
                got += part
    except OSError:
        pass
    return got


def _get(host, path="/", port=80):
    return _talk(host, port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())


def attack():
    reached = []
    for host, port in (("93.184.216.34", 80), ("10.200.0.2", 80), ("169.254.169.254", 80), ("10.200.0.1", 8080)):
        reached += [f"{host}:{port}"] if _get(host, port=port) else []
    for proxy in ("127.0.0.1", "::1", "198.18.0.1"):
        reached += [f"a gate at {proxy}"] if _talk(proxy, 15001, b"CONNECT allowed.example:80 HTTP/1.1\r\n\r\n") else []
    try:
        reached.append(socket.gethostbyname("allowed.example"))
    except OSError:
        pass
    return "ESCAPED: reached " + " ".join(reached) if reached else "HELD: no network at all"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
