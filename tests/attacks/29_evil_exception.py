# attack: an exception that fights back when it is described
# family: 29
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Formatting an error calls the tool's code: __str__, __class__, the source of its frames.
class _Evil(Exception):
    @property
    def args(self):
        raise SystemExit(0)

    def __str__(self):
        raise KeyboardInterrupt("\x1b[2J\n" * 1000)

    __repr__ = __str__


def attack():
    _Evil.__name__ = _Evil.__qualname__ = "\n\x1b]0;owned\x07" * 10000
    first, second = _Evil(), _Evil()
    first.__cause__, second.__cause__ = second, first  # a circle
    raise first
