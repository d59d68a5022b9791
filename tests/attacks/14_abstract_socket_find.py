# attack: a listener on an abstract socket that stays behind (looked for)
# family: 14
# runs: call exec
# stopped-by: netns reaper landlock
# pair: find
# pair-name: abstract_socket
#
# The next sandbox, or the next call.
import errno
import socket


def attack():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            peer.connect("\0belljar-residue")
        except OSError as error:
            if error.errno in (errno.ECONNREFUSED, errno.EPERM):
                return f"HELD: {error.strerror}"
            return f"BROKEN: {error}"
    return "ESCAPED: a process of another answers"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
