# attack: a lease, which holds up whoever opens the file
# family: 24
# runs: call exec root
# stopped-by: seccomp
#
# The kernel lets the owner of a file take a lease on it, also through a read-only mount. Whoever opens the file for
# writing then waits, on the host too, until the lease is given back or its time is over.
import errno
import fcntl
import os
import tempfile


def attack():
    made, name = tempfile.mkstemp()
    os.close(made)  # there is none on what somebody writes to
    reader = os.open(name, os.O_RDONLY)
    try:
        fcntl.fcntl(reader, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return "HELD: there are no leases"
        return "BROKEN: " + os.strerror(error.errno)
    return "ESCAPED: it has a lease"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
