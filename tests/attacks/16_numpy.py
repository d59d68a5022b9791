# attack: the same numbers from numpy in two calls
# family: 16
# runs: call
# stopped-by: design
# compare: must-differ
# needs: numpy
#
# numpy's global generator is not reseeded by Python at a fork.
import numpy


def attack():
    return f"VALUE: {numpy.random.random()}"
