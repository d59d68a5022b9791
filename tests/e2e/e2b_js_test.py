"""E2B's official JavaScript SDK, unchanged, against Belljar."""

import unittest

from e2b_node_story import E2bNodeStory
from sdk import skip_without_node


@skip_without_node("e2b")
class E2bJavaScript(E2bNodeStory):
    def test_commands_terminals_files_and_lives(self):
        self.tell("e2b_story.mjs")

    def test_snapshots_forks_pauses_and_networks(self):
        self.tell("e2b_states_story.mjs")


if __name__ == "__main__":
    unittest.main()
