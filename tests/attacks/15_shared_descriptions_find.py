# attack: flags of descriptors that all calls inherit (looked for)
# family: 15
# runs: call
# stopped-by: design
# pair: find
# pair-name: shared_descriptions
#
# The next call from the same zygote. Nobody of ours sets O_APPEND.
import fcntl
import os


def attack():
    for fd in range(64):
        try:
            flags = fcntl.fcntl(fd, fcntl.F_GETFL)
        except OSError:
            continue
        if flags & os.O_APPEND:
            return f"ESCAPED: descriptor {fd} is shared with other calls"
    return "HELD: every descriptor is the own"
