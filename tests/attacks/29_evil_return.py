# attack: a return value whose every method lies
# family: 29
# runs: call
# stopped-by: result
#
# Encoding a value calls the tool's code too. What arrives must be data of the declared kind, or an error.
class _EvilText(str):
    def __str__(self):
        raise SystemExit(0)

    def encode(self, *_):
        return b'"ESCAPED: the encoder was fooled"'

    def __iter__(self):
        return iter(["ESCAPED: the encoder was fooled"])

    __format__ = __repr__ = __len__ = __str__


def attack():
    return _EvilText("HELD: the text itself arrived")
