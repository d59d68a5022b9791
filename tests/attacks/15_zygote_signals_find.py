# attack: signals to the zygote and to the other calls (looked for)
# family: 15
# runs: call
# stopped-by: session uid
# pair: find
# pair-name: zygote_signals
#
# The next call from the same zygote: that it is answered is the test.
def attack():
    return "HELD: the zygote still answers"
