"""JSON by CPython's C scanner and encoder, without the `json` package.

`import json` brings `re`, `enum`, `functools` and `collections`: half as much memory again as the bare interpreter has,
to be copied at every fork. The C parts need none of it. An interpreter whose C parts are missing or behave otherwise
gets the package.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import sys
from _codecs import utf_16_le_decode, utf_16_le_encode


class _ScannerOptions:
    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo = {}

    @staticmethod
    def parse_constant(name):
        raise ValueError(name + " is not JSON")


class _LenientOptions(_ScannerOptions):
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


def _refuse(value):
    raise TypeError("not a plain JSON type")


def _c_codec():
    from _json import encode_basestring, make_encoder, make_scanner

    scan = make_scanner(_ScannerOptions)
    encode = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, False)
    join = "".join
    return scan, lambda value: join(encode(value, 0))


def _package_codec():
    import json

    scan = json.JSONDecoder(parse_constant=_ScannerOptions.parse_constant).raw_decode
    encoder = json.JSONEncoder(
        ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"), default=_refuse)
    return scan, encoder.encode


def _choose_codec():
    sample = '{"a":[1,2.5,null,true,"\u00e9"]}'
    try:
        scan, encode = _c_codec()
        if encode(scan(sample, 0)[0]) == sample:
            return scan, encode
    except Exception:
        pass
    return _package_codec()


_scan, _encode = _choose_codec()
# Python 3.11 (and patch releases before it) refuse to convert integers of more than 4,300 digits.
_set_digit_limit = getattr(sys, "set_int_max_str_digits", None)
_get_digit_limit = getattr(sys, "get_int_max_str_digits", None)


def parse(text):
    """The value of one JSON text; ValueError if it is none."""
    text = text.strip(" \t\r\n")
    digit_limit = _lift_digit_limit()
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError):  # see parse_lenient
        raise ValueError("not JSON") from None
    finally:
        if digit_limit:
            _set_digit_limit(digit_limit)
    if end != len(text):
        raise ValueError("more text after the JSON value")
    return value


def parse_lenient(text):
    """As `json.loads` does it: NaN and the infinities are accepted too. For text that a caller sent as an argument."""
    try:
        from _json import make_scanner

        scan = make_scanner(_LenientOptions)
    except ImportError:
        import json

        return json.loads(text)
    text = text.strip(" \t\r\n")
    try:
        value, end = scan(text, 0)
    except (StopIteration, SystemError):  # the latter before 3.13: the scanner looks for its error in the package
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("more text after the JSON value")
    return value


def dump(value):
    """UTF-8 JSON of a value made of plain types only.

    TypeError, ValueError or RecursionError for anything else, for NaN, for cycles and for very deep nesting.
    """
    digit_limit = _lift_digit_limit()
    try:
        text = _encode(value)
    finally:
        if digit_limit:
            _set_digit_limit(digit_limit)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_lone_surrogates(text).encode()


def without_lone_surrogates(text):
    """Pairs become the character they stand for, lone ones U+FFFD: what is left can be sent as UTF-8."""
    is_all = True
    return utf_16_le_decode(utf_16_le_encode(text, "surrogatepass")[0], "replace", is_all)[0]


def _lift_digit_limit():
    limit = _get_digit_limit and _get_digit_limit()
    if limit:
        _set_digit_limit(0)
    return limit
