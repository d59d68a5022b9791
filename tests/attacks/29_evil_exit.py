# attack: ends that are no exceptions: SystemExit, GeneratorExit, KeyboardInterrupt
# family: 29
# runs: call
# stopped-by: result
# expect: answer-refused
#
# `except Exception` misses them; exit status 0 looks like success.
class _Quiet(BaseException):
    code = 0


def attack():
    try:
        raise SystemExit(0)
    except SystemExit as error:
        raise _Quiet from error
