"""The stories of the tool service once more, on PostgreSQL instead of SQLite."""

import os
import unittest

import durable_test
import letta_service_test as service
import tenants_test
from postgres import Postgres, why_not
from server_story import Server
from story import Story

database_server = None


def setUpModule():
    global database_server
    if why_not():
        raise unittest.SkipTest(why_not())
    database_server = Postgres()


def tearDownModule():
    if database_server:
        database_server.stop()


class OnPostgres:
    """Gives a class a database of its own. Commands and servers find it by their environment."""

    @classmethod
    def setUpClass(cls):
        cls.everywhere = {"BELLJAR_DATABASE": database_server.new_database()}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        left = os.path.exists(os.path.join(cls.data, "belljar.db"))
        super().tearDownClass()
        assert not left, "a SQLite database was made beside PostgreSQL's"


class SandboxConfigurations(OnPostgres, service.SandboxConfigurations):
    pass


class Runs(OnPostgres, service.Runs):
    test_letta_s_own_cases = None  # of the engine, whatever the database


class Memory(OnPostgres, service.Memory):
    pass


class Secrets(OnPostgres, service.Secrets):
    def places(self):
        return [self.data, database_server.data]


class Tenants(OnPostgres, tenants_test.Tenants):
    pass


class Durable(OnPostgres, durable_test.Durable):
    kills = min(durable_test.KILLS, 6)


class Moved(Story):
    """From SQLite to PostgreSQL, by the flag, with the same data directory."""

    def test_a_key_of_the_other_database_is_not_called_one(self):
        self.addCleanup(Server(self.data, self.scratch).stop)
        url = database_server.new_database()
        moved = Server(self.data, self.scratch, before=["--database", url])
        self.addCleanup(moved.stop)
        self.assertIn("opens nothing in this database: `belljar key create`", moved.said)
        self.assertEqual(moved.request("GET", "/v1/tools/")[0], 401)
        key = self.belljar("--database", url, "key", "create").stdout.decode().strip()
        self.assertEqual(moved.request("GET", "/v1/tools/", key=key)[0], 200)


if __name__ == "__main__":
    unittest.main()
