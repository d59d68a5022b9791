# attack: secrets and sockets among all objects of the interpreter
# family: 29
# runs: call
# stopped-by: design
#
# gc.get_objects sees what no name leads to: what the zygote read before the fork, and every open file.
import gc
import io
import socket


def attack():
    # Backwards, so that this list is not what is found.
    wanted = ("-----YEK ETAVIRP", "YEK_IPA_RAJLLEB", "YEK_SSECCA_TERCES_SWA", "$:toor")
    for thing in gc.get_objects():
        if isinstance(thing, socket.socket) and thing.fileno() > 3:
            return f"ESCAPED: an open socket: {thing!r}"
        if isinstance(thing, io.FileIO) and not thing.closed and thing.fileno() > 3:
            return f"ESCAPED: an open file: {thing!r}"
        values = thing.values() if type(thing) is dict else thing if type(thing) in (list, tuple) else ()
        for value in values:
            if type(value) is str and any(word[::-1] in value for word in wanted):
                return f"ESCAPED: {value[:20]!r}"
    return "HELD: no secret and no foreign descriptor"
