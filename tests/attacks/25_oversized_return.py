# attack: a return value larger than allowed
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
# limits: return_bytes=1048576
#
# By the ordinary way: the tool returns it, and the caller gets an error that says so.
def attack():
    return "x" * (8 << 20)
