"""Runs cells in one namespace: the last expression's value is the cell's, `await` works at the top level."""

import ast
import asyncio
import builtins
import inspect
import linecache
import sys
import types
import __future__

from belljar_interpreter import magics, rich, source

FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
KEPT_CELLS = 1000  # whose lines tracebacks can show


class StdinNotImplementedError(NotImplementedError):
    """Nobody sits at a keyboard."""


def _no_input(prompt=""):
    raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")


class Cells:
    def __init__(self):
        self.names = {}  # file name of a cell -> its number
        self._futures = 0
        self._loop = None
        self.module = types.ModuleType("__main__")
        self.module.__dict__.update({"_": "", "__": "", "___": "", "__builtins__": builtins})
        sys.modules["__main__"] = self.module
        builtins.display = rich.display
        magics.install(lambda text: self.run(text, None)[1])
        builtins.input = _no_input

    def run(self, text, number):
        """(whether the cell has a value, the value). Raises what the cell raises."""
        filename = self._remember(text, number)
        tree = source.read(text, filename)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        parts = [self._compiled(tree, filename, "exec")] if tree.body else []
        if last is not None:
            parts.append(self._compiled(ast.Expression(last.value), filename, "eval"))
        # With an await anywhere all of the cell runs in the loop: tasks that it makes before belong there, too.
        waits = any(part.co_flags & inspect.CO_COROUTINE for part in parts)
        value = self._await(self._run_waiting(parts)) if waits else self._run(parts)
        return last is not None and value is not None and not source.ends_quietly(text, last), value

    def keep(self, value):
        """As `_`, and what that was as `__`."""
        space = self.module.__dict__
        space["___"], space["__"], space["_"] = space.get("__"), space.get("_"), value

    def pending_tasks(self):
        return bool(self._loop and asyncio.all_tasks(self._loop))

    def drop_loop(self):
        """The next await gets a loop of its own."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()

    def _remember(self, text, number):
        if number is None:
            return "<magic>"
        filename = f"<cell {number}>"
        self.names[filename] = number
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        self._forget(f"<cell {number - KEPT_CELLS}>")
        return filename

    def _forget(self, filename):
        self.names.pop(filename, None)
        linecache.cache.pop(filename, None)

    def _compiled(self, tree, filename, mode):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self._futures
        code = compile(tree, filename, mode, flags, dont_inherit=True)
        self._futures |= code.co_flags & FUTURES
        return code

    def _run(self, parts):
        value = None
        for part in parts:
            value = eval(part, self.module.__dict__)
        return value

    async def _run_waiting(self, parts):
        value = None
        for part in parts:
            value = eval(part, self.module.__dict__)
            if part.co_flags & inspect.CO_COROUTINE:
                value = await value
        return value

    def _await(self, coroutine):
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(coroutine)
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            if not task.done():  # interrupted
                task.cancel()
                try:
                    self._loop.run_until_complete(task)
                except BaseException:
                    pass
            raise
