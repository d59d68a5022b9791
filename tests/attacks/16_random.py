# attack: the same numbers from random in two calls
# family: 16
# runs: call
# stopped-by: design
# compare: must-differ
#
# Children of one zygote have the same memory: a generator that is not seeded anew gives all of them the
# same numbers (zeroboot).
import random


def attack():
    return f"VALUE: {random.random()}"
