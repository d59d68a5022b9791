"""Figures of matplotlib, if the cells use it: shown at the end of a cell, or by plt.show()."""

import io
import sys


def is_figure(value):
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def png_of(figure):
    """None for an empty one."""
    if not figure.axes and not figure.lines and not getattr(figure, "texts", None) and not figure.images:
        return None
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight", facecolor=figure.get_facecolor())
    return picture.getvalue()


def show_open_figures():
    """Shows and closes what pyplot holds open; nothing if the cells chose a backend of their own."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or "inline_backend" not in str(sys.modules["matplotlib"].rcParams["backend"]):
        return
    from belljar_interpreter import rich
    helpers = sys.modules["matplotlib._pylab_helpers"]
    try:
        for manager in helpers.Gcf.get_all_fig_managers():
            rich.display(manager.canvas.figure)
    finally:
        pyplot.close("all")
