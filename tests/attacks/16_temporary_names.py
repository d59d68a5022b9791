# attack: the same temporary names in two calls
# family: 16
# runs: call
# stopped-by: design
# compare: must-differ
#
# tempfile keeps a generator of its own.
import tempfile


def attack():
    return f"VALUE: {next(tempfile._get_candidate_names())}"
