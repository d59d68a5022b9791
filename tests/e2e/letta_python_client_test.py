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

    def test_a_tool_cannot_take_another_s_name(self):
        from letta_client import BadRequestError
        self.client.tools.upsert(source_code=SIMPLE.format(name="taken"))
        mine = self.client.tools.upsert(source_code=SIMPLE.format(name="mine"))
        with self.assertRaisesRegex(BadRequestError, "another tool"):
            self.client.tools.update(mine.id, json_schema={"name": "taken"})
        self.assertEqual(self.client.tools.retrieve(mine.id).name, "mine")

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

    def test_agents_are_found_by_tags_names_and_projects(self):
        both = self.client.agents.create(name="Found Both", tags=["red", "blue"], project_id="project-f")
        one = self.client.agents.create(name="found one", tags=["red"])

        def found(**conditions):
            return [agent.name for agent in self.client.agents.list(order="asc", **conditions) if agent.id in (both.id, one.id)]

        self.assertEqual(found(tags=["blue", "red"]), ["Found Both", "found one"])
        self.assertEqual(found(tags=["blue", "red"], match_all_tags=True), ["Found Both"])
        self.assertEqual(found(tags=["Red"]), [])
        self.assertEqual(found(query_text="FOUND"), ["Found Both", "found one"])
        self.assertEqual(found(project_id="project-f"), ["Found Both"])
        newest_first = [agent.id for agent in self.client.agents.list() if agent.id in (both.id, one.id)]
        self.assertEqual(newest_first, [one.id, both.id])
        oldest_first = [agent.id for agent in self.client.agents.list(ascending=True) if agent.id in (both.id, one.id)]
        self.assertEqual(oldest_first, [both.id, one.id])

    def test_what_an_agent_has_comes_in_pages(self):
        tools = [self.client.tools.create(source_code=SIMPLE.format(name=f"of_agent_{n}")) for n in range(3)]
        blocks = [self.client.blocks.create(label=f"label_{n}", value="v") for n in range(3)]
        agent = self.client.agents.create(name="pages", tool_ids=[t.id for t in tools], block_ids=[b.id for b in blocks])
        page = self.client.agents.tools.list(agent.id, limit=2, order="asc")
        self.assertEqual([tool.name for tool in page.items], ["of_agent_0", "of_agent_1"])
        self.assertEqual([tool.name for tool in page], [f"of_agent_{n}" for n in range(3)])
        self.assertEqual([block.label for block in self.client.agents.blocks.list(agent.id, limit=1)],
                         ["label_2", "label_1", "label_0"])

    def test_an_agent_s_blocks_are_replaced_as_a_whole_or_not_at_all(self):
        from letta_client import NotFoundError
        block = self.client.blocks.create(label="new", value="v")
        agent = self.client.agents.create(name="kept", memory_blocks=[{"label": "old", "value": "v"}])
        with self.assertRaises(NotFoundError):
            self.client.agents.update(agent.id, name="lost", block_ids=["block-00000000-0000-4000-8000-000000000000"])
        seen = self.client.agents.retrieve(agent.id)
        self.assertEqual((seen.name, [b.label for b in seen.blocks]), ("kept", ["old"]))
        self.client.agents.update(agent.id, block_ids=[block.id])
        self.assertEqual([b.label for b in self.client.agents.retrieve(agent.id).blocks], ["new"])
        self.assertEqual([a.name for a in self.client.blocks.agents.list(block.id)], ["kept"])

    def test_an_agent_s_run_tells_why_it_failed(self):
        tool = self.client.tools.upsert(source_code=ROLL)
        agent = self.client.agents.create(name="clumsy", tool_ids=[tool.id])
        result = self.client.agents.tools.run("roll_dice", agent_id=agent.id, args={"sides": "many"})
        self.assertEqual((result.status, result.func_return), ("error", None))
        self.assertEqual(result.stderr, ["ValueError: invalid literal for int() with base 10: 'many'\n"])

    def test_blocks_are_found_by_parts_of_them(self):
        self.client.blocks.create(label="needle", value="In a HAYSTACK.", description="Sharp")
        for condition in ({"label_search": "need"}, {"value_search": "haystack"}, {"description_search": "sharp"}):
            self.assertEqual([block.label for block in self.client.blocks.list(**condition)], ["needle"])
        self.assertEqual([block.label for block in self.client.blocks.list(value_search="no such")], [])

    def test_tools_are_searched_by_their_tags(self):
        self.client.tools.create(source_code=SIMPLE.format(name="tagged"), tags=["rare"])
        self.assertEqual([hit.tool.name for hit in self.client.tools.search(query="tag", tags=["rare"])], ["tagged"])
        self.assertEqual(self.client.tools.search(query="tag", tags=["other"]), [])

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
