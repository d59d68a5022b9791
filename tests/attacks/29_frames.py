# attack: the runtime's secrets through frames and tracebacks
# family: 29
# runs: call
# stopped-by: design
#
# Every caller's variables can be read. The tool finds its own call there; it must not find another's,
# nor a way to the server.
import sys
import types


def _everything_above():
    frame = sys._getframe(2)  # the one that called attack()
    while frame is not None:
        yield from list(frame.f_locals.items()) + list(frame.f_globals.items())
        frame = frame.f_back


def attack():
    # In two halves, so that this source, which lies in those frames too, does not count.
    words = [first + second for first, second in (("private key", "-----"), ("belljar_api", "_key"), ("x-api", "-key"),
                                                  ("/ro", "ot/."), ("database", "_url"), ("aws_", "secret"))]
    for name, value in _everything_above():
        if isinstance(value, types.ModuleType):
            continue
        text = repr(value)[:100000].lower()
        for word in words:
            if word in text:
                return f"ESCAPED: {name} holds {word}"
    return "HELD: nothing but this call"
