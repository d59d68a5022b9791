"""Values as notebooks show them: a bundle of representations by MIME type, the plain text always among them."""

import base64
import inspect
import json
import os
import pprint
import sys
import types

from belljar_interpreter import charts, figures

DATA = "application/vnd.belljar.data+json"    # a table: columns to lists
CHART = "application/vnd.belljar.chart+json"  # what a figure shows, as data
METHODS = {
    "_repr_html_": "text/html", "_repr_markdown_": "text/markdown", "_repr_svg_": "image/svg+xml", "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg", "_repr_pdf_": "application/pdf", "_repr_latex_": "text/latex",
    "_repr_json_": "application/json", "_repr_javascript_": "application/javascript"}
CANARY = "_ipython_canary_method_should_not_exist_"
LINE_WIDTH = 79
MOST_ITEMS = 1000
MOST_DEPTH = 100

_publish = None  # set by the context: takes a bundle
most_bytes = 8 << 20  # of one bundle; set by the context


def use(publish, bytes_at_most):
    global _publish, most_bytes
    _publish, most_bytes = publish, bytes_at_most


class DisplayHandle:
    """What display(..., display_id=...) gives. What was shown can't be changed: an update shows nothing."""

    def __init__(self, display_id=None):
        self.display_id = display_id or os.urandom(16).hex()

    def display(self, value, **options):
        display(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        update_display(value, display_id=self.display_id, **options)


def display(*values, display_id=None, update=False, **options):
    """Shows each value as a result of the running cell; with an id, it gives a handle."""
    for value in () if update else values:
        raw = options.get("raw") and isinstance(value, dict)
        publish(dict(value) if raw else bundle_of(value))
    if display_id:
        return DisplayHandle(None if display_id is True else display_id)


def update_display(value, *, display_id, **options):
    display(value, display_id=display_id, update=True, **options)


def publish(data, metadata=None, **_):
    if _publish is not None and data:
        _publish(fitting({str(mime): _carried(mime, item) for mime, item in data.items()}))


def bundle_of(value):
    bundle = {"text/plain": plain_text(value)}
    if not isinstance(value, type):  # the methods of a class are not its own representation
        for add in (_add_methods, _add_mimebundle, _add_table, _add_figure):
            try:
                add(value, bundle)
            except Exception:
                pass  # a representation that fails is none
    return fitting(bundle)


def plain_text(value):
    kind = type(value)
    if kind is type:
        return _full_name(value)
    if kind in (types.FunctionType, types.BuiltinFunctionType):
        return f"<function {_full_name(value)}{_signature(value)}>"
    if kind in (list, tuple, set, frozenset, dict) and len(value) > 0:
        return _container_text(kind, value)
    return repr(value)


def _full_name(value):
    name, module = value.__qualname__, value.__module__
    return name if module in (None, "builtins") else f"{module}.{name}"


def _signature(function):
    try:
        return str(inspect.signature(function))
    except (ValueError, TypeError):
        return ""


def _container_text(kind, value):
    more = len(value) > MOST_ITEMS
    if more:
        items = value.items() if kind is dict else value
        value = kind(item for item, _ in zip(items, range(MOST_ITEMS)))
    text = repr(value)
    if len(text) > LINE_WIDTH:
        text = pprint.pformat(value, width=LINE_WIDTH, sort_dicts=False)
    return text[:-1].rstrip(",") + ",\n ..." + text[-1] if more else text


def _method(value, name):
    """A method that the value really has: some objects answer to every name."""
    if getattr(value, CANARY, None) is not None:
        return None
    method = getattr(value, name, None)
    return method if callable(method) else None


def _add_methods(value, bundle):
    for name, mime in METHODS.items():
        method = _method(value, name)
        if method is None:
            continue
        try:
            shown = method()
        except Exception:
            continue
        if isinstance(shown, tuple) and len(shown) == 2:
            shown = shown[0]  # the other is metadata
        if shown is not None:
            bundle[mime] = _carried(mime, shown)


def _add_mimebundle(value, bundle):
    method = _method(value, "_repr_mimebundle_")
    shown = method(include=None, exclude=None) if method else None
    if isinstance(shown, tuple):
        shown = shown[0]
    for mime, item in (shown or {}).items():
        if item is not None:
            bundle[str(mime)] = _carried(mime, item)


def _carried(mime, item):
    """As JSON carries it: bytes in base64, numbers of numpy as numbers."""
    if isinstance(item, (bytes, bytearray)):
        return base64.b64encode(item).decode()
    if isinstance(item, str):
        return item
    return plain_data(item)


def _add_table(value, bundle):
    pandas = sys.modules.get("pandas")
    frame = getattr(pandas, "DataFrame", None)
    if frame is not None and isinstance(value, frame):
        bundle[DATA] = {str(name): plain_data(value.iloc[:, at].tolist()) for at, name in enumerate(value.columns)}


def _add_figure(value, bundle):
    if figures.is_figure(value):
        picture = figures.png_of(value)
        if picture is not None:
            bundle["image/png"] = base64.b64encode(picture).decode()
        chart = charts.chart_of(value)
        if chart is not None:
            bundle[CHART] = plain_data(chart)


def plain_data(value, depth=0):
    """What JSON can carry: no NaN, dates as ISO text, the rest as its text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 63 else str(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else None
    if depth < MOST_DEPTH:
        if isinstance(value, dict):
            return {str(key): plain_data(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [plain_data(item, depth + 1) for item in value]
        if hasattr(value, "tolist"):
            return plain_data(value.tolist(), depth + 1)
    if value != value:
        return None  # pandas' NaT
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def fitting(bundle):
    """Leaves out what is too large, the largest first; of the plain text, what is too much of it."""
    sizes = {mime: len(item) if isinstance(item, str) else len(json.dumps(item)) for mime, item in bundle.items()}
    while sum(sizes.values()) > most_bytes:
        largest = max(sizes, key=sizes.get)
        if largest == "text/plain":
            bundle[largest] = bundle[largest][:most_bytes // 8] + "..."
            sizes[largest] = len(bundle[largest])
            if len(sizes) == 1:
                break
        else:
            del bundle[largest], sizes[largest]
    return bundle
