"""The little of the `letta` package that tools use: `agent_state` with its memory, importable under the package's names.

A finder at the very end of the import path's list: an environment that has the real package gets that one. What a tool
receives as `agent_state` is always an object of here, since it is made from plain data and goes back as plain data.
"""

from belljar_runtime.own_builtins import OWN as __builtins__

import sys
from _frozen_importlib import ModuleSpec


class Record(dict):
    """A JSON object whose keys are attributes too; what is assigned becomes part of it."""

    def __init__(self, fields=(), **more):
        dict.__init__(self, fields, **more)
        for key, value in self.items():
            dict.__setitem__(self, key, _record(value))

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name)) from None

    def __setattr__(self, name, value):
        self[name] = value

    def model_dump(self, **options):
        return {key: _plain(value) for key, value in self.items()}

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % item for item in self.items()))


def _record(value):
    if type(value) is dict:
        return Record(value)
    return [_record(item) for item in value] if type(value) is list else value


def _plain(value):
    if isinstance(value, Record):
        return value.model_dump()
    return [_plain(item) for item in value] if type(value) is list else value


class Block(Record):
    """One block of memory. Its value never grows over its limit."""

    def __init__(self, fields=(), **more):
        Record.__init__(self, fields, **more)
        for key, value in (("id", None), ("label", None), ("value", ""), ("limit", None), ("description", None)):
            self.setdefault(key, value)
        self._check(self["value"])

    def __setitem__(self, key, value):
        if key == "value":
            self._check(value)
        Record.__setitem__(self, key, value)

    def _check(self, value):
        limit = self.get("limit")
        if type(limit) is int and isinstance(value, str) and len(value) > limit:
            raise ValueError("Edit failed: Exceeds %d character limit (requested %d)" % (limit, len(value)))


class Memory(Record):
    """The blocks in an agent's context."""

    def __init__(self, fields=(), **more):
        Record.__init__(self, fields, **more)
        given = self.get("blocks") or []
        dict.__setitem__(self, "blocks", [block if isinstance(block, Block) else Block(block) for block in given])

    def get_block(self, label):
        for block in self.blocks:
            if block.label == label:
                return block
        raise KeyError("Block field %s does not exist (available sections = %s)"
                       % (label, ", ".join(self.list_block_labels())))

    def get_blocks(self):
        return self.blocks

    def list_block_labels(self):
        return [block.label for block in self.blocks]

    def list_block_names(self):
        return self.list_block_labels()

    def set_block(self, block):
        for index, known in enumerate(self.blocks):
            if known.label == block.label:
                self.blocks[index] = block
                return
        self.blocks.append(block)

    def update_block_value(self, label, value):
        if not isinstance(value, str):
            raise ValueError("Provided value must be a string")
        for block in self.blocks:
            if block.label == label:
                block.value = value
                return
        raise ValueError("Block with label %s does not exist" % label)


class AgentState(Record):
    """The agent on whose behalf a tool runs."""

    def __init__(self, fields=(), **more):
        Record.__init__(self, fields, **more)
        memory = self.get("memory")
        dict.__setitem__(self, "memory", memory if isinstance(memory, Memory) else Memory(memory or ()))

    def __getattr__(self, name):
        if name in self:
            return self[name]
        if name in ("tools", "tool_rules", "secrets", "tool_exec_environment_variables"):
            return []
        if name in ("id", "name"):
            return None
        return Record.__getattr__(self, name)

    def get_agent_env_vars_as_dict(self):
        found = self.secrets or self.tool_exec_environment_variables
        return {one.key: one.value for one in found}


_CLASSES = {"AgentState": AgentState, "Memory": Memory, "BasicBlockMemory": Memory, "ChatMemory": Memory, "Block": Block}
NAMES = frozenset(_CLASSES)
_PACKAGES = frozenset(("letta", "letta.schemas"))
_MODULES = _PACKAGES | {"letta.schemas.agent", "letta.schemas.memory", "letta.schemas.block", "letta.memory", "letta.agent"}


class _Finder:
    """Both finder and loader of the modules above."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _MODULES or (name != "letta" and not hasattr(sys.modules.get("letta"), "__belljar__")):
            return None
        return ModuleSpec(name, _Finder, origin="belljar", is_package=name in _PACKAGES)

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        module.__belljar__ = True
        module.__dict__.update(_CLASSES)


def install():
    """To be called once in a child that runs a Letta tool; loads nothing."""
    sys.meta_path.append(_Finder)


def uninstall():
    sys.meta_path.remove(_Finder)


def import_name(name):
    """What `from letta import NAME` gives a tool that does not say so itself."""
    try:
        return getattr(__import__("letta"), name)
    except (ImportError, AttributeError):
        return _CLASSES[name]
