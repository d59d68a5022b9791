"""Libraries that import most of themselves at their first use are used once in the zygote, or preloading would be idle."""

from belljar_runtime.own_builtins import OWN as __builtins__


_used = []


def use_once(name, module):
    """In the zygote, after the import; what the library raises counts as a failure of its preloading."""
    use = _USES.get(name)
    if use is not None:
        use(module)
        _used.append((use, module))


def use_again():
    """In a child that is being warmed: the pages a library writes to when it is used become the child's own."""
    for use, module in _used:
        use(module)


def _pydantic(pydantic):
    import typing

    fields = {"number": int, "text": str, "items": typing.List[int], "maybe": typing.Optional[float]}
    model = type("Model", (pydantic.BaseModel,), {
        "__annotations__": fields, "__module__": __name__, "maybe": pydantic.Field(None, description="any")})
    instance = model(number=1, text="a", items=[1])
    dump = getattr(instance, "model_dump_json", instance.json)  # version 2, else 1
    dump()
    try:
        model(number="x")
    except pydantic.ValidationError as error:
        error.errors()


_USES = {"pydantic": _pydantic}
