"""An exception as a notebook shows it: the cell's own frames, a few lines of each, arrows at the lines that failed."""

import linecache
import traceback

WIDTH = 75
AROUND = 2          # lines shown before and after
MOST_FRAMES = 20    # then the middle is left out
MOST_BYTES = 64 * 1024
MOST_CAUSES = 8
OURS = __file__.rpartition("/")[0]


def describe(error, cells):
    """(name, value, traceback) of an exception; `cells` maps file names of cells to their numbers."""
    name = type(error).__name__
    return name, _cut(_text_of(error)), _cut("\n".join(_chain(error, cells)))


def _text_of(error):
    try:
        return str(error)
    except BaseException:
        return "<its text can't be made>"


def _cut(text):
    return text if len(text) <= MOST_BYTES else text[:MOST_BYTES // 2] + "\n...\n" + text[-MOST_BYTES // 2:]


def _chain(error, cells):
    links, seen = [], set()
    while error is not None and id(error) not in seen and len(links) < MOST_CAUSES:
        seen.add(id(error))
        links.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    lines = []
    for later, earlier in zip([None] + links[:-1], links):
        between = [] if later is None else [
            "", "The above exception was the direct cause of the following exception:" if later.__cause__ is earlier
            else "During handling of the above exception, another exception occurred:", ""]
        lines = _one(earlier, cells) + between + lines
    return lines


def _one(error, cells):
    name = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename in cells:
        return [f"  Cell In[{cells[error.filename]}], line {error.lineno}"] + _only(error)[1:]
    head = "Traceback (most recent call last)"
    lines = ["-" * WIDTH, name + head.rjust(max(WIDTH - len(name), len(head) + 1))]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(OURS)]
    if len(frames) > MOST_FRAMES:
        half = MOST_FRAMES // 2
        for frame in frames[:half]:
            lines += _frame(frame, cells)
        lines += [f"    [... skipping {len(frames) - 2 * half} frames]", ""]
        frames = frames[-half:]
    for frame in frames:
        lines += _frame(frame, cells)
    return lines + _only(error)


def _only(error):
    try:
        return "".join(traceback.format_exception_only(type(error), error)).rstrip("\n").split("\n")
    except BaseException:
        return [f"{type(error).__name__}: <its text can't be made>"]


def _frame(frame, cells):
    number = cells.get(frame.filename)
    where = f"Cell In[{number}], line {frame.lineno}" if number is not None else f"File {frame.filename}:{frame.lineno}"
    if number is None or frame.name != "<module>":
        where += f", in {frame.name}"
    lines = [where]
    for at in range(max(1, frame.lineno - AROUND), frame.lineno + AROUND + 1):
        text = linecache.getline(frame.filename, at)
        if text:
            mark = "-" * max(0, 5 - len(str(at))) + "> " if at == frame.lineno else " " * max(0, 7 - len(str(at)))
            lines.append(f"{mark}{at} {text.rstrip()}")
    return lines + [""]
