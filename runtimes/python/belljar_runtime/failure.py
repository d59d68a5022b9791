"""An exception becomes name, message and a traceback of the tool's own frames.

`traceback` is not used: it brings some twenty modules into a call that has already failed, and runs code that the tool
may have replaced. Whatever an exception object does (a raising __str__, cycles of causes), this returns text.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

from belljar_runtime.jsontext import without_lone_surrogates

MOST_TRACEBACK_BYTES = 64 * 1024
MOST_MESSAGE_BYTES = 16 * 1024
MOST_SOURCE_BYTES = 4 << 20
MOST_FRAMES = 40        # at each end of one exception's traceback
MOST_CHAINED = 10
MOST_IN_GROUP = 15
MOST_GROUP_LEVELS = 4
REPEATS_SHOWN = 3
CUT = "\n[... cut ...]\n"

_OWN_DIRECTORY = __file__.rpartition("/")[0] + "/"
_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def describe(error, filename, source):
    """{"name", "message", "traceback"} of an exception that left the tool."""
    message = _exit_message(error) if isinstance(error, SystemExit) else message_of(error)
    try:
        traceback = "".join(_Formatter(filename, source).chain(error, 0))
    except Exception as trouble:
        traceback = "(the traceback could not be made: %s)\n" % type(trouble).__name__
    return {"name": name_of(error), "message": message, "traceback": bounded(traceback, MOST_TRACEBACK_BYTES)}


def errno_of(error):
    number = error.errno if isinstance(error, OSError) else None
    return number if type(number) is int else None


def name_of(error):
    kind = type(error)
    try:
        module, name = kind.__module__, kind.__qualname__
        return bounded(name if module in ("builtins", "__main__") else module + "." + name, 500)
    except Exception:
        return "Exception"


def message_of(error):
    try:
        if isinstance(error, MemoryError) and not error.args:
            return "the tool ran out of memory"
        return bounded(str(error), MOST_MESSAGE_BYTES)
    except Exception as trouble:
        return "(no message: str() of this exception raised %s)" % type(trouble).__name__


def bounded(text, most_bytes):
    """Valid UTF-8 text of at most so many bytes, with its middle cut out if need be."""
    text = str.__str__(text)
    if len(text) > most_bytes:
        text = text[:most_bytes] + text[-most_bytes:]
    data = without_lone_surrogates(text).encode()
    if len(data) <= most_bytes:
        return data.decode()
    half = (most_bytes - len(CUT)) // 2
    return data[:half].decode("utf-8", "ignore") + CUT + data[-half:].decode("utf-8", "ignore")


def _exit_message(error):
    code = error.code
    if code is None:
        return "the tool called sys.exit()"
    try:
        return bounded("the tool called sys.exit(%r)" % (code,), MOST_MESSAGE_BYTES)
    except Exception:
        return "the tool called sys.exit(...)"


class _Formatter:
    def __init__(self, filename, source):
        self._filename = filename
        self._lines = {filename: source.split("\n")}

    def chain(self, error, level):
        """The lines for an exception and what led to it, oldest first."""
        parts = []
        for link, one in _history(error):
            parts += self._one(one, level)
            if link:
                parts.append(link)
        return parts

    def _one(self, error, level):
        parts = []
        frames = self._frames(error.__traceback__)
        if frames:
            parts.append("Traceback (most recent call last):\n")
            parts += self._frame_lines(frames)
        message = message_of(error)
        parts.append(name_of(error) + (": " + message if message else "") + "\n")
        notes = getattr(error, "__notes__", None)
        if isinstance(notes, list):
            parts += [bounded(note, MOST_MESSAGE_BYTES) + "\n" for note in notes[:20] if isinstance(note, str)]
        members = getattr(error, "exceptions", None)
        if isinstance(members, tuple) and level < MOST_GROUP_LEVELS:
            parts += self._members(members, level)
        return parts

    def _members(self, members, level):
        parts = []
        for number, member in enumerate(members[:MOST_IN_GROUP], 1):
            if isinstance(member, BaseException):
                parts.append("  +---- %d of %d ----\n" % (number, len(members)))
                inner = "".join(self.chain(member, level + 1))
                parts += ["  | " + line + "\n" for line in inner.rstrip("\n").split("\n")]
        if len(members) > MOST_IN_GROUP:
            parts.append("  +---- and %d more ----\n" % (len(members) - MOST_IN_GROUP))
        return parts

    def _frames(self, traceback):
        """(file, line, function) from the tool's first frame on; frames of this package are nobody's business."""
        frames = []
        while traceback is not None:
            frames.append(traceback)
            traceback = traceback.tb_next
        start = 0
        for index, entry in enumerate(frames):
            if entry.tb_frame.f_code.co_filename == self._filename:
                start = index
                break
        described = []
        for entry in frames[start:]:
            code = entry.tb_frame.f_code
            if not code.co_filename.startswith(_OWN_DIRECTORY):
                described.append((code.co_filename, entry.tb_lineno or 0, code.co_name))
        return described

    def _frame_lines(self, frames):
        parts = self._collapsed(frames)
        omitted = len(parts) - 2 * MOST_FRAMES
        if omitted > 0:
            parts[MOST_FRAMES:-MOST_FRAMES] = ["  [%d frames left out]\n" % omitted]
        return parts

    def _collapsed(self, frames):
        """As the interpreter prints them: a frame that repeats is shown a few times and then counted."""
        parts = []
        previous, repeats = None, 0
        for frame in frames + [None]:
            if frame == previous:
                repeats += 1
                if repeats <= REPEATS_SHOWN:
                    parts.append(self._frame_text(*frame))
                continue
            if repeats > REPEATS_SHOWN:
                parts.append("  [Previous line repeated %d more times]\n" % (repeats - REPEATS_SHOWN))
            if frame is not None:
                parts.append(self._frame_text(*frame))
            previous, repeats = frame, 1
        return parts

    def _frame_text(self, filename, number, function):
        text = '  File "%s", line %d, in %s\n' % (filename, number, function)
        line = self._line(filename, number).strip()
        return text + "    " + line[:500] + "\n" if line else text

    def _line(self, filename, number):
        lines = self._lines.get(filename)
        if lines is None:
            lines = self._lines[filename] = _read_lines(filename)
        return lines[number - 1] if 0 < number <= len(lines) else ""


def _read_lines(filename):
    if not (filename.startswith("/") and filename.endswith(".py")):
        return []
    try:
        with open(filename, "rb") as file:
            return file.read(MOST_SOURCE_BYTES).decode("utf-8", "replace").split("\n")
    except Exception:
        return []


def _history(error):
    """[(how it led to the next one, exception)], oldest first."""
    history = [("", error)]
    seen = {id(error)}
    while len(history) < MOST_CHAINED:
        if error.__cause__ is not None:
            link, error = _CAUSE, error.__cause__
        elif error.__context__ is not None and not error.__suppress_context__:
            link, error = _CONTEXT, error.__context__
        else:
            break
        if id(error) in seen:
            break
        seen.add(id(error))
        history.append((link, error))
    history.reverse()
    return history
