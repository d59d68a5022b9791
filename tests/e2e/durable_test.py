"""kill -9 at random moments under load: what was acknowledged is there, what ran is gone, nothing is left behind."""

import json
import os
import random
import threading
import time
import unittest

from server_story import Server
from story import Story, groups_of, instances, processes_mentioning, until

KILLS = int(os.environ.get("BELLJAR_TEST_KILLS", "50"))
CLIENTS = 4
SLEEPER = "import time\ndef sleeper():\n    import subprocess\n    subprocess.Popen(['sleep', '7654399'])\n    time.sleep(30)\n"


class Load:
    """Clients that store tools and run a sleeping one until the server is gone; remembers what was acknowledged."""

    def __init__(self, server, turn):
        self.server, self.turn = server, turn
        self.acknowledged = []
        self.threads = [threading.Thread(target=self.store, args=(n,)) for n in range(CLIENTS)]
        self.threads.append(threading.Thread(target=self.run))
        for thread in self.threads:
            thread.start()

    def store(self, client):
        for count in range(1000):
            name = f"tool_{self.turn}_{client}_{count}"
            schema = {"name": name, "description": "", "parameters": {"type": "object", "properties": {}}}
            try:
                status, _, text = self.server.request("POST", "/v1/tools/", {
                    "source_code": f"def {name}(): pass", "json_schema": schema})
            except OSError:
                return
            except Exception:  # half an answer
                return
            if status == 200:
                self.acknowledged.append((json.loads(text)["id"], name))

    def run(self):
        try:
            self.server.request("POST", "/v1/tools/run", {"source_code": SLEEPER, "name": "sleeper", "args": {}})
        except Exception:
            return

    def wait(self):
        for thread in self.threads:
            thread.join()


class Durable(Story):
    kills = KILLS

    def test_every_acknowledged_write_survives_and_nothing_is_left(self):
        chance = random.Random(7)
        acknowledged, dead = [], []
        for turn in range(self.kills):
            server = Server(self.data, self.scratch, env=self.everywhere)
            dead += instances(self.data)
            load = Load(server, turn)
            time.sleep(chance.uniform(0.0, 0.4))  # the moment of the kill is what the test varies
            server.kill()
            load.wait()
            acknowledged += load.acknowledged
        server = Server(self.data, self.scratch, env=self.everywhere)
        self.addCleanup(server.stop)
        self.assertGreater(len(acknowledged), self.kills)
        stored = {}
        after = ""
        while True:
            page = json.loads(server.request("GET", f"/v1/tools/?limit=1000&order=asc{after}")[2])
            stored.update((tool["id"], tool["name"]) for tool in page)
            if len(page) < 1000:
                break
            after = "&after=" + page[-1]["id"]
        lost = [name for tool, name in acknowledged if stored.get(tool) != name]
        self.assertEqual(lost, [])
        until(lambda: processes_mentioning("7654399") == [])
        (alive,) = instances(self.data)
        self.assertEqual([group for instance in set(dead) - {alive} for group in groups_of(instance)], [])
        with open("/proc/self/mountinfo") as mounts:
            self.assertNotIn(self.data, mounts.read())


if __name__ == "__main__":
    unittest.main()
