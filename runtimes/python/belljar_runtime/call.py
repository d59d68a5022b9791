"""One call, from the engine's JSON to the answer's JSON."""

from belljar_runtime.own_builtins import OWN as __builtins__

import sys
from posix import environ, putenv

from belljar_runtime import failure, jsontext, letta_mode, letta_values
from belljar_runtime.arguments import bind
from belljar_runtime.awaiting import is_async, run_to_end
from belljar_runtime.tool import Tool
from belljar_runtime.values import encode_return
from belljar_runtime.verdicts import Invalid, Verdict

_LAST_RESORT = {"name": "RuntimeError", "message": "The answer could not be made.", "traceback": ""}

_modules = sys.modules
_set_recursion_limit, _recursion_limit = sys.setrecursionlimit, sys.getrecursionlimit()
_set_trace, _set_profile = sys.settrace, sys.setprofile
_filesystem_encoding = sys.getfilesystemencoding()


class Call:
    """Makes one call. Hostile code runs inside `answer`; whatever it does, bytes come out."""

    def __init__(self, payload, surroundings):
        self._surroundings = surroundings
        self._tool = None
        self._modules_before = len(_modules)
        try:
            self._request = jsontext.parse(str(payload, "utf-8"))
            self._nonce = self._request["nonce"]
            self._is_letta = self._request.get("letta") is not None
        except Exception:
            self._request, self._nonce, self._is_letta = None, "", False

    def answer(self):
        try:
            status, body = self._outcome()
        except BaseException:  # even out of memory while telling so
            _take_back_control()
            status, body = "error", _error_body(_LAST_RESORT, None)
        return b'{"nonce":%b,"status":"%b",%b,"imports":%b}' % (
            jsontext.dump(self._nonce), status.encode(), body, jsontext.dump(self._imports()))

    def forget(self):
        if self._tool is not None:
            self._tool.forget()
        if self._is_letta:
            letta_mode.clean_up()

    def _outcome(self):
        try:
            encoded = self._run()
        except Verdict as verdict:
            _take_back_control()
            return verdict.status, self._verdict_body(verdict)
        except BaseException as error:
            _take_back_control()
            if self._is_letta and isinstance(error, SystemExit) and (error.code is None or error.code == 0):
                return "ok", b'"return":null'
            return "error", self._exception_body(error)
        return "ok", b'"return":' + encoded

    def _run(self):
        request = self._request
        if request is None:
            raise Invalid("InvalidCall", "The call is not a JSON object with a nonce; this is a fault of the engine.")
        most_bytes = request["max_return_bytes"]
        _set_environment(request["env"])
        if self._is_letta:
            return self._run_letta(most_bytes)
        self._tool = tool = Tool(request["source"], request["filename"], self._surroundings)
        tool.run()
        function = tool.function(request["name"])
        positional, keywords = bind(function, request["args"])
        value = function(*positional, **keywords)
        if is_async(value):
            value = run_to_end(value, most_bytes)
        _take_back_control()
        return encode_return(value, most_bytes)

    def _run_letta(self, most_bytes):
        """The return value, and after it what only Letta's calls have: its text, the agent's state."""
        request = self._request
        handlers_before = letta_mode.count_exit_handlers()
        self._tool = letta_mode.make_tool(request, self._surroundings)
        call = letta_mode.LettaCall(self._tool, request)
        value = call.value()
        _take_back_control()
        encoded, text = letta_values.encode(value, most_bytes)
        if text is not None:
            encoded += b',"text":' + text
        if call.state is not None:
            encoded += b',"agent_state":' + letta_values.encode_state(call.state, most_bytes)
        letta_mode.run_exit_handlers(handlers_before)
        _take_back_control()
        return encoded

    def _imports(self):
        try:
            own_name = self._tool and self._tool.module_name
            return self._surroundings.worth_preloading(self._modules_before, own_name)
        except Exception:  # a tool may put anything into sys.modules
            return []

    def _verdict_body(self, verdict):
        return _error_body({
            "name": verdict.name,
            "message": failure.bounded(verdict.message, failure.MOST_MESSAGE_BYTES),
            "traceback": failure.bounded(verdict.traceback, failure.MOST_TRACEBACK_BYTES)}, None)

    def _exception_body(self, error):
        request = self._request
        return _error_body(failure.describe(error, request["filename"], request["source"]), failure.errno_of(error))


def _error_body(error, errno):
    return b'"error":%b,"errno":%b' % (jsontext.dump(error), jsontext.dump(errno))


def _take_back_control():
    """Undoes what a tool may have set for the whole interpreter and what would hinder its own answer."""
    _set_recursion_limit(_recursion_limit)
    _set_trace(None)
    _set_profile(None)


def _set_environment(variables):
    # posix.environ is what `os.environ` holds, or will be made from when a tool imports `os`.
    for name, value in variables.items():
        try:
            key, data = (text.encode(_filesystem_encoding, "surrogateescape") for text in (name, value))
            putenv(key, data)
        except (AttributeError, ValueError, OSError):
            raise Invalid("InvalidEnvironment", "The environment variable %.100r cannot be set: names and values must be"
                          " text without NUL, and a name must not contain '='." % (name,)) from None
        environ[key] = data
