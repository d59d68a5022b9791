# attack: a process that nothing else may interrupt
# family: 24
# runs: call exec root
# stopped-by: caps rlimits
#
# A server whose user may use real-time priorities (audio, databases) hands that right down: SCHED_FIFO and a loop
# stop a whole CPU. Nothing spins here.
import os
import resource


def attack():
    for name in ("RLIMIT_RTPRIO", "RLIMIT_NICE"):
        number = getattr(resource, name, {"RLIMIT_RTPRIO": 14, "RLIMIT_NICE": 13}[name])
        soft, hard = resource.getrlimit(number)
        if (soft, hard) != (0, 0):
            return f"ESCAPED: {name} allows {hard}"
    for policy in (os.SCHED_FIFO, os.SCHED_RR):
        try:
            os.sched_setscheduler(0, policy, os.sched_param(1))
        except OSError:
            continue
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        return f"ESCAPED: scheduling policy {policy}"
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -5)
    except OSError:
        return "HELD: ordinary priorities only"
    return "ESCAPED: before everybody else"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
