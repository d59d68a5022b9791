"""The two ways a call ends without a value that are not an exception of the tool itself."""

from belljar_runtime.own_builtins import OWN as __builtins__


class Verdict(Exception):
    def __init__(self, name, message, traceback=""):
        Exception.__init__(self, message)
        self.name = name
        self.message = message
        self.traceback = traceback


class Invalid(Verdict):
    """The caller's mistake: the message is one sentence that says what to do."""

    status = "invalid"


class Failed(Verdict):
    """The tool's source or its return value is at fault."""

    status = "error"
