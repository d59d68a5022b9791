# attack: every signal to process 1
# family: 15
# runs: exec root
# stopped-by: pidns
#
# Killing the warden ends the sandbox without its accounts; stopping it hangs the server. Process 1 of a
# namespace takes no signal from inside that it has no handler for.
import os
import signal
import subprocess


def attack():
    if os.path.exists("/proc/2/comm") and open("/proc/2/comm").read() == "kthreadd\n":
        return "ESCAPED: process 1 is the host's"  # and is left in peace
    for number in signal.valid_signals():
        try:
            os.kill(1, number)
        except (ProcessLookupError, PermissionError):
            pass
    with open("/proc/1/stat") as text:
        state = text.read().rpartition(")")[2].split()[0]
    if state in "TtZX":
        return f"ESCAPED: process 1 is in state {state}"
    if subprocess.run(["/bin/true"]).returncode != 0:
        return "BROKEN: nothing can be started any more"
    return "HELD: process 1 still lives"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
