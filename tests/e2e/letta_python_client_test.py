"""Letta's official Python client, unchanged, against Belljar."""

import os
import sys
import unittest

from server_story import ServerStory
from sdk import python_sdk, skip_without

ROLL = '''
def roll_dice(sides: int, times: int = 1) -> dict:
    """Roll dice.

    Args:
        sides (int): How many sides a die has.
        times (int): How often to roll.
    """
    return {"sides": sides, "rolls": [min(sides, 4)] * times}
'''

REMEMBER = '''
def remember(agent_state: "AgentState", fact: str) -> str:
    """Remember a fact.

    Args:
        fact (str): What to remember.
    """
    block = agent_state.memory.get_block("human")
    agent_state.memory.update_block_value("human", block.value + " " + fact)
    import os
    return os.environ["TOKEN"] + " for " + os.environ["LETTA_AGENT_ID"]
'''

SIMPLE = 'def {name}() -> str:\n    """Say {name}."""\n    return "{name}"\n'


@skip_without("letta-client")
class LettaPythonClient(ServerStory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.path.insert(0, python_sdk("letta-client"))
        from letta_client import Letta
        cls.client = Letta(base_url=cls.server.url, api_key=cls.server.key)

    def test_health(self):
        self.assertEqual(self.client.health().status, "ok")

    def test_a_tool_is_created_with_a_schema_from_its_docstring(self):
        tool = self.client.tools.create(source_code=ROLL)
        self.assertEqual((tool.name, tool.tool_type, tool.source_type), ("roll_dice", "custom", "python"))
        self.assertEqual(tool.json_schema["parameters"]["required"], ["sides"])
        self.assertEqual(self.client.tools.retrieve(tool.id).source_code, ROLL)

    def test_upsert_keeps_the_id_and_update_changes_fields(self):
        first = self.client.tools.upsert(source_code=SIMPLE.format(name="again"))
        second = self.client.tools.upsert(source_code=SIMPLE.format(name="again"), description="twice")
        self.assertEqual(first.id, second.id)
        changed = self.client.tools.update(first.id, return_char_limit=99, tags=["x"])
        self.assertEqual((changed.return_char_limit, changed.tags, changed.description), (99, ["x"], "twice"))

    def test_pages_of_tools_are_walked_without_a_gap(self):
        names = {f"paged_{n}" for n in range(7)}
        for name in names:
            self.client.tools.create(source_code=SIMPLE.format(name=name))
        seen = [tool.name for tool in self.client.tools.list(limit=3) if tool.name.startswith("paged_")]
        self.assertEqual(sorted(seen), sorted(names))
        found = self.client.tools.list(search="PAGED_3")
        self.assertEqual([tool.name for tool in found], ["paged_3"])

    def test_a_deleted_tool_is_gone(self):
        from letta_client import NotFoundError
        tool = self.client.tools.create(source_code=SIMPLE.format(name="short_lived"))
        self.client.tools.delete(tool.id)
        with self.assertRaises(NotFoundError):
            self.client.tools.retrieve(tool.id)

    def test_an_agent_runs_a_tool_with_its_memory_and_its_secrets(self):
        tool = self.client.tools.upsert(source_code=REMEMBER)
        agent = self.client.agents.create(name="ada", tool_ids=[tool.id], secrets={"TOKEN": "s3cret"},
                                          memory_blocks=[{"label": "human", "value": "Likes tea."}])
        result = self.client.agents.tools.run("remember", agent_id=agent.id, args={"fact": "Likes Oslo."})
        self.assertEqual((result.status, result.func_return), ("success", f"s3cret for {agent.id}"), result)
        self.assertEqual(self.client.agents.blocks.retrieve("human", agent_id=agent.id).value, "Likes tea. Likes Oslo.")
        self.assertEqual([t.name for t in self.client.agents.tools.list(agent.id)], ["remember"])

    def test_tools_are_attached_and_detached(self):
        tool = self.client.tools.upsert(source_code=ROLL)
        agent = self.client.agents.create(name="grace")
        self.client.agents.tools.attach(tool.id, agent_id=agent.id)
        result = self.client.agents.tools.run("roll_dice", agent_id=agent.id, args={"sides": "6", "times": 2})
        self.assertEqual(result.func_return, {"sides": 6, "rolls": [4, 4]})
        self.client.agents.tools.detach(tool.id, agent_id=agent.id)
        from letta_client import NotFoundError
        with self.assertRaises(NotFoundError):
            self.client.agents.tools.run("roll_dice", agent_id=agent.id, args={"sides": 6})

    def test_agents_are_listed_updated_and_deleted(self):
        agent = self.client.agents.create(name="linus", description="first", tags=["a"])
        self.assertEqual(self.client.agents.update(agent.id, description="second").description, "second")
        self.assertIn(agent.id, [a.id for a in self.client.agents.list()])
        self.client.agents.delete(agent.id)
        self.assertNotIn(agent.id, [a.id for a in self.client.agents.list()])

    def test_blocks_can_be_shared(self):
        block = self.client.blocks.create(label="shared", value="one")
        agent = self.client.agents.create(name="bob", block_ids=[block.id])
        self.client.blocks.update(block.id, value="two")
        self.assertEqual(self.client.agents.blocks.retrieve("shared", agent_id=agent.id).value, "two")

    def test_a_wrong_key_is_unauthorized(self):
        from letta_client import AuthenticationError, Letta
        with self.assertRaises(AuthenticationError):
            Letta(base_url=self.server.url, api_key="wrong").tools.list()


if __name__ == "__main__":
    unittest.main()
