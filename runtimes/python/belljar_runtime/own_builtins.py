"""A private copy of the builtins.

A module whose global `__builtins__` is this dictionary keeps working after a tool has replaced `builtins.len`.
Each module of this package takes it in its first line.
"""

import builtins

OWN = dict(vars(builtins))
