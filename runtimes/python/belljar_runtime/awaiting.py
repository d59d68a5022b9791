"""Async tools: what an `async def` hands back is run to its end. asyncio is imported only for them."""

from belljar_runtime.own_builtins import OWN as __builtins__


def is_async(value):
    kind = type(value)
    return hasattr(kind, "__await__") or hasattr(kind, "__anext__")


def run_to_end(value, most_items):
    """The result of an awaitable, or the list of what an async generator yields."""
    import asyncio

    return asyncio.run(_collect(value, most_items) if hasattr(type(value), "__anext__") else _finish(value))


async def _finish(awaitable):
    return await awaitable


async def _collect(items, most_items):
    collected = []
    async for item in items:
        collected.append(item)
        if len(collected) > most_items:  # already too large to be returned; the encoder will say so
            break
    return collected
