# attack: the channel closed, the process alive
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
# limits: wall_ms=1000
#
# End of file is not an answer, and the process must not be left running.
import os
import time


def attack():
    os.closerange(0, 64)
    time.sleep(30)
