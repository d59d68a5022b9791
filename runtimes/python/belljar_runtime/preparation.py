"""The zygote's work before it serves: import path, preloaded modules, and a heap that stays still."""

from belljar_runtime.own_builtins import OWN as __builtins__

import builtins
import gc
import sys

from belljar_runtime import jsontext
from belljar_runtime.first_use import use_once
from belljar_runtime.rehearsal import rehearse
from belljar_runtime.surroundings import Surroundings

# Compiling for the first time makes the interpreter's syntax tree types, and code that has run some times is
# rewritten in place to a faster form: done here once, or else by every child on its own copy of the pages.
ZYGOTE_REHEARSALS = 16


def prepare(site_dirs, preload):
    """(Surroundings, report): what the children need to know, and JSON for the engine."""
    gc.disable()
    _complete_builtins()
    _print_line_by_line()
    if site_dirs:
        _add_site_dirs(site_dirs)
    loaded, failed = _import_all(preload)
    surroundings = Surroundings()
    for _ in range(ZYGOTE_REHEARSALS):
        rehearse(surroundings)
    _flush_output()
    # Frozen objects are never visited by a child's collector, so their pages stay shared.
    gc.collect()
    gc.freeze()
    report = {"version": list(sys.version_info[:3]), "failed": failed, "loaded": loaded}
    return surroundings, jsontext.dump(report)


def _complete_builtins():
    # `exit` and `quit` are made by site.main(), which -S leaves out; code expects them.
    builtins.exit = builtins.quit = sys.exit


def _print_line_by_line():
    # What a tool printed before it was killed must not be lost in a buffer.
    if sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)


def _add_site_dirs(site_dirs):
    # Under -S the import alone does nothing: no user site, no sitecustomize, no usercustomize.
    import site

    for directory in site_dirs:
        site.addsitedir(directory)


def _import_all(names):
    loaded, failed = [], {}
    for name in names:
        try:
            __import__(name)
            use_once(name, sys.modules[name])
            loaded.append(name)
        except BaseException as error:  # an import may well call sys.exit
            failed[name] = jsontext.without_lone_surrogates(_one_line(error))
    return loaded, failed


def _one_line(error):
    try:
        return (type(error).__name__ + ": " + " ".join(str(error).split()))[:500]
    except Exception:
        return type(error).__name__


def _flush_output():
    # What an import printed would otherwise be printed again by every child.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
