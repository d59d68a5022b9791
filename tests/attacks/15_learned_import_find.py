# attack: a module of one's own, learned and preloaded for everybody (looked for)
# family: 15
# runs: call
# stopped-by: design
# pair: find
# pair-name: learned_import
#
# A later call.
import sys


def attack():
    if "belljar_learned_residue" in sys.modules:
        return "ESCAPED: the module of another call is loaded"
    try:
        __import__("belljar_learned_residue")
    except ModuleNotFoundError:
        return "HELD: nothing is left"
    return "ESCAPED: the module of another call can be imported"
