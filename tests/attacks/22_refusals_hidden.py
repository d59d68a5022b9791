# attack: many refusals, behind which one hides
# family: 22
# runs: exec
# stopped-by: design
# network: {"rules": [{"allow": "allowed.example"}]}
# event: denied 10.200.0.2:22
#
# What is noted has a bound somewhere: whoever fills it first is not seen afterwards.
import socket


def attack():
    places = [("93.184.216.34", port) for port in range(1000, 1200)] + [("10.200.0.2", 22)]
    for place in places:
        with socket.socket() as s:
            s.settimeout(2)
            if s.connect_ex(place) == 0:
                return f"ESCAPED: {place} was reached"
    return "HELD: refused, and the runner looks for the event"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
