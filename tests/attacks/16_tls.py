# attack: the same bytes from OpenSSL in two calls
# family: 16
# runs: call
# stopped-by: design
# compare: must-differ
#
# Equal TLS randoms and session keys: OpenSSL keeps a generator of its own, and notices a fork only by
# the process number, which is 1 in every call.
import ssl


def attack():
    return f"VALUE: {ssl.RAND_bytes(16).hex()}"
