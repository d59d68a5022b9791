"""matplotlib's backend in a context: pictures are drawn in memory, show() makes results of them."""

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

from belljar_interpreter import figures


class FigureManager(FigureManagerBase):
    @classmethod
    def pyplot_show(cls, *, block=None):
        figures.show_open_figures()

    def show(self):
        from belljar_interpreter import rich
        rich.display(self.canvas.figure)


class FigureCanvas(FigureCanvasAgg):
    manager_class = FigureManager


def show(*arguments, **options):
    figures.show_open_figures()
