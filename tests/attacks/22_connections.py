# attack: more connections at a time than allowed
# family: 22
# runs: call exec
# stopped-by: gate-caps
# network: {"rules": [{"allow": "allowed.example", "ports": [7]}], "caps": {"connections": 4}}
# event: denied allowed.example:7 too many connections
#
# Many connections at once: a flood of an allowed host in our name, or a way to spread what is sent.
import socket


def attack():
    most, alive = 4, []  # as in the policy's caps
    for _ in range(20):
        try:
            s = socket.create_connection(("allowed.example", 7), 5)
            s.settimeout(5)
            s.sendall(b"hello, are you there?\n")
            alive += [s] if s.recv(1) else []
        except OSError:
            continue
    if not alive:
        return "BROKEN: the allowed service does not answer"
    return f"ESCAPED: {len(alive)} at a time" if len(alive) > most else f"HELD: {len(alive)} at a time"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
