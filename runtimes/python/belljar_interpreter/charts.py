"""What a matplotlib figure shows, as data: lines, points, bars, wedges, boxes, with titles, labels, ticks and scales.

One set of axes is a chart, several are a superchart of charts. What is not recognized is of type "unknown": its title only.
"""

import decimal
import re
import sys

UNIT = re.compile(r"\s\((.*?)\)|\[(.*?)\]")
DIGITS = 8


def chart_of(figure):
    """None if there is nothing to see."""
    axes = figure.get_axes()
    if not any(ax.has_data() for ax in axes):
        return None
    if len(axes) == 1:
        return _chart(axes[0])
    title = figure.get_suptitle() if hasattr(figure, "get_suptitle") else ""
    return {"type": "superchart", "title": title, "elements": [_chart(ax) for ax in axes]}


def _chart(ax):
    kind = _kind(ax)
    try:
        return {"type": kind, "title": ax.get_title() or None, **_READERS[kind](ax)}
    except Exception:
        return {"type": "unknown", "title": ax.get_title() or None, "elements": []}


def _kind(ax):
    lines, collections = sys.modules["matplotlib.lines"], sys.modules["matplotlib.collections"]
    patches = sys.modules["matplotlib.patches"]
    artists = list(ax.lines) + list(ax.patches) + list(ax.collections) + list(ax.images)
    if all(isinstance(artist, lines.Line2D) for artist in artists):
        return "line"
    if all(isinstance(artist, (patches.PathPatch, lines.Line2D)) for artist in artists):
        return "box_and_whisker"
    artists = [artist for artist in artists if not (isinstance(artist, lines.Line2D) and _is_ruler(artist))]
    for kind, artist_class in (("scatter", collections.PathCollection), ("pie", patches.Wedge), ("bar", patches.Rectangle)):
        if all(isinstance(artist, artist_class) for artist in artists):
            return kind
    return "unknown"


def _is_ruler(line):
    """A straight line along an axis: a grid or a mark, not data."""
    x, y = line.get_xdata(), line.get_ydata()
    return len(x) == 2 and len(y) == 2 and (x[0] == x[1] or y[0] == y[1])


def _labels(ax, turned=False):
    x, y = ax.get_xlabel() or None, ax.get_ylabel() or None
    if turned:
        x, y = y, x
    return {"x_label": x, "y_label": y, "x_unit": _unit(x), "y_unit": _unit(y)}


def _unit(label):
    found = UNIT.search(label or "")
    return (found.group(1) or found.group(2)) if found else None


def _axis(name, axis, ticks, labels, scale):
    dates = sys.modules.get("matplotlib.dates")
    converter = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
    texts = [label.get_text() for label in labels]
    if dates is not None and isinstance(converter, (dates._SwitchableDateConverter, dates.DateConverter)):
        return {f"{name}_ticks": [dates.num2date(tick).isoformat() for tick in ticks], f"{name}_tick_labels": texts,
                f"{name}_scale": "datetime"}
    places = [float(tick) for tick in ticks]
    if scale == "linear" and all(place == i and text != str(i) for i, (place, text) in enumerate(zip(places, texts))):
        scale = "categorical"
    return {f"{name}_ticks": places, f"{name}_tick_labels": texts, f"{name}_scale": scale}


def _axes(ax):
    return {**_labels(ax), **_axis("x", ax.xaxis, ax.get_xticks(), ax.get_xticklabels(), ax.get_xscale()),
            **_axis("y", ax.yaxis, ax.get_yticks(), ax.get_yticklabels(), ax.get_yscale())}


def _number(value):
    """Dates as ISO text, numbers as they are."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if type(value).__name__ == "datetime64":
        return str(value.astype("datetime64[s]"))
    return value.item() if hasattr(value, "item") else value


def _points(xs, ys):
    return [[_number(x), _number(y)] for x, y in zip(xs, ys)]


def _name(label, ours, word):
    return f"{word} {label[len(ours):]}" if label.startswith(ours) else label


def _line(ax):
    elements = [{"label": _name(str(line.get_label()), "_child", "Line"), "points": _points(line.get_xdata(), line.get_ydata())}
                for line in ax.get_lines() if not _is_ruler(line)]
    return {**_axes(ax), "elements": elements}


def _scatter(ax):
    elements = [{"label": str(dots.get_label()), "points": [[_number(x), _number(y)] for x, y in dots.get_offsets()]}
                for dots in ax.collections]
    return {**_axes(ax), "elements": elements}


def _bar(ax):
    elements, turned = [], False
    for container in ax.containers:
        group = _name(str(container.get_label()), "_container", "Group")
        heights = [float(bar.get_height()) for bar in container]
        lying = getattr(container, "orientation", None) == "horizontal"
        turned = turned or lying
        values = [float(bar.get_width()) for bar in container] if lying else heights
        texts = [label.get_text() for label in (ax.get_yticklabels() if lying else ax.get_xticklabels())]
        elements += [{"label": text, "group": group, "value": value} for text, value in zip(texts, values)]
    return {**_labels(ax, turned), "elements": elements}


def _pie(ax):
    return {"elements": [{"label": wedge.get_label(), "angle": _rounded(abs(wedge.theta2 - wedge.theta1)),
                          "radius": float(wedge.r)} for wedge in ax.patches]}


def _rounded(value):
    """To as many digits as E2B's charts have: fewer, the larger the number."""
    number = decimal.Decimal(str(float(value)))
    digits = max(1, DIGITS - number.adjusted())
    return float(decimal.Context(prec=digits).plus(number))


def _box_and_whisker(ax):
    lines = [([_rounded(x) for x in line.get_xdata()], [_rounded(y) for y in line.get_ydata()]) for line in ax.lines]
    boxes = []
    for patch in ax.patches:
        corners = patch.get_path().vertices
        boxes.append(([_rounded(x) for x in corners[:, 0]], [_rounded(y) for y in corners[:, 1]]))
    heights = {_rounded(max(ys) - min(ys)) for _, ys in boxes}
    lying = len(heights) == 1 and len({_rounded(max(xs) - min(xs)) for xs, _ in boxes}) > 1
    if lying:
        boxes, lines = [(ys, xs) for xs, ys in boxes], [(ys, xs) for xs, ys in lines]
    texts = [label.get_text() for label in (ax.get_yticklabels() if lying else ax.get_xticklabels())]
    elements = [_box(text, box, lines) for text, box in zip(texts, boxes)]
    return {**_labels(ax, lying), "elements": elements}


def _box(label, box, lines):
    """The box gives the quartiles, the lines over its width the median, the whiskers and what lies outside."""
    left, right, low, high = min(box[0]), max(box[0]), min(box[1]), max(box[1])
    out = {"label": label, "min": low, "first_quartile": low, "median": low, "third_quartile": high, "max": high,
           "outliers": []}
    for xs, ys in lines:
        if not xs or not all(left <= x <= right for x in xs):
            continue
        if len(ys) == 2 and ys[0] == ys[1] and low <= ys[0] <= high and xs[0] != xs[1]:
            out["median"] = ys[0]
        elif len(ys) == 2 and max(ys) == low:
            out["min"] = min(ys)
        elif len(ys) == 2 and min(ys) == high:
            out["max"] = max(ys)
        elif len(set(xs)) == 1 and len(ys) != 2 or len(xs) == 1:
            out["outliers"] += ys
    return out


_READERS = {"line": _line, "scatter": _scatter, "bar": _bar, "pie": _pie, "box_and_whisker": _box_and_whisker,
            "unknown": lambda ax: {"elements": []}}
