# attack: connections that stay behind in a reused network namespace (left)
# family: 14
# runs: call
# stopped-by: netns
# pair: leave
# pair-name: port
#
# A closed connection lies in TIME_WAIT for a minute, and its ports tell the next one what was done.
# Only a fresh namespace has none.
import socket

_PORT = 40404


def attack():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", _PORT))
        listener.listen()
        with socket.create_connection(("127.0.0.1", _PORT), timeout=1) as client:
            server, _ = listener.accept()
            client.close()
            server.close()
    except OSError as error:
        return f"HELD: no connections at all: {error}"
    return "HELD: left for the next"
