# attack: more than may be sent, to an allowed service
# family: 22
# runs: call exec
# stopped-by: gate-caps
# network: {"rules": [{"allow": "allowed.example", "ports": [7]}], "caps": {"bytes_sent": 65536}}
# event: connected allowed.example:7
#
# A paste service that is allowed is a channel: bounded in size over all connections together.
import socket


def attack():
    most, back = 65536, 0  # as in the policy's caps
    for _ in range(4):
        try:
            with socket.create_connection(("allowed.example", 7), 5) as s:
                s.settimeout(5)
                for _ in range(256):
                    s.sendall(b"x" * 4096)
                    back += len(s.recv(4096))
        except OSError:
            pass
    if back == 0:
        return "BROKEN: the allowed service does not answer"
    return f"ESCAPED: {back} bytes went through" if back > most else f"HELD: cut off after {back} bytes"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
