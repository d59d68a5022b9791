# attack: more in a second than the policy's rate
# family: 22
# runs: exec
# stopped-by: gate-caps
# network: {"rules": [{"allow": "allowed.example", "ports": [7]}], "caps": {"bytes_per_second": 20000}}
#
# A slow leak is a leak, a fast one a flood: the rate is bounded apart from the sum.
import socket
import time


def attack():
    most, back, started = 20000, 0, time.monotonic()  # bytes a second, both ways together, as in the policy's caps
    try:
        with socket.create_connection(("allowed.example", 7), 5) as s:
            s.settimeout(5)
            while time.monotonic() - started < 3:
                s.sendall(b"x" * 4096)
                back += len(s.recv(4096))
    except OSError:
        pass
    if back == 0:
        return "BROKEN: the allowed service does not answer"
    rate = 2 * back / (time.monotonic() - started)
    return f"ESCAPED: {rate:.0f} bytes a second" if rate > 4 * most else f"HELD: {rate:.0f} bytes a second"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
