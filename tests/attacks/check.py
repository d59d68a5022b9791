"""Checks the attacks themselves: headers, pairs, shape, and that no control is without one of its own.

    python3 tests/attacks/check.py
"""
import ast
import collections
import json
import os
import re
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
NOT_ATTACKS = {"check.py", "archives.py"}
ARCHIVE_FAMILIES = {5, 28}  # attacks of these are archives, made by archives.py
NETWORK_FAMILIES = {17, 18, 19, 20, 21, 22, 27}  # run behind a gate, among the servers of tests/e2e/network_world.py
FAMILIES = {1, *range(3, 13), 14, 15, 16, 24, 25, 28, 29} | NETWORK_FAMILIES

CONTROLS = set("""userns pidns mountns netns ipcns utsns cgroupns root idmap proc dev caps nnp seccomp landlock rlimits
memory cpu pids io disk fds uid hostname session environment wall output result reaper readonly mask
gate-refusal gate-admission gate-ownership gate-names gate-decision gate-private gate-pinning gate-hello gate-requests
gate-single gate-caps gate-turns""".split())
WITHOUT_AN_ATTACK = {
    "io": "what a sandbox writes lies in memory, so there is no disk to slow down",
    "gate-ownership": "behind it stands caps, which root inside lacks: 20_raw_sockets and 20_change_rules need both off",
}
SEEN_FROM_OUTSIDE = {"24_daemon_at_end.py", "24_deep_tree.py", "24_pipe_holder.py"}  # by what they leave or hold up
BY_DESIGN = "design"  # stopped by how things are built; nothing to switch off

KEYS = {"attack", "family", "runs", "stopped-by", "needs", "limits", "expect", "then", "pair", "pair-name", "compare",
        "network", "credential", "event"}
NEEDS = {"x86_64", "i386", "x32", "ioperm", "af_alg", "vsock", "rare_families", "sudo", "numpy"}
LIMITS = {"wall_ms", "cpu_ms", "cpus", "memory_bytes", "processes", "open_files", "disk_bytes", "output_bytes",
          "return_bytes"}
EXPECTATIONS = {"answer-refused", "killed-by wall", "killed-by cpu", "killed-by memory", "killed-by pids",
                "killed-by disk", "killed-by output", "policy-refused"}


def files():
    return sorted(name for name in os.listdir(HERE) if name.endswith((".py", ".sh", ".c")) and name not in NOT_ATTACKS)


def text(name):
    with open(os.path.join(HERE, name)) as file:
        return file.read()


def headers(name):
    """{key: [values]} of the comment lines at the top, up to the first that is empty."""
    found = collections.defaultdict(list)
    for line in text(name).splitlines():
        match = re.fullmatch(r"(?:#|//) ([a-z-]+): (.+)", line)
        if match is None:
            break
        found[match[1]].append(match[2])
    return found


class HeaderTest(unittest.TestCase):
    def for_each(self, check):
        for name in files():
            with self.subTest(name):
                check(name, headers(name))

    def test_names_say_the_family(self):
        def check(name, header):
            self.assertRegex(name, r"^\d\d_[a-z0-9_]+\.(py|sh|c)$")
            self.assertEqual(header["family"], [str(int(name[:2]))])
            self.assertIn(int(name[:2]), FAMILIES)
        self.for_each(check)

    def test_headers_are_complete_and_known(self):
        def check(_, header):
            self.assertLessEqual({"attack", "family", "runs", "stopped-by"}, set(header))
            self.assertLessEqual(set(header), KEYS)
            for key, values in header.items():
                self.assertEqual(len(values), 1, key)
        self.for_each(check)

    def test_values_are_known(self):
        def check(name, header):
            runs = header["runs"][0].split()
            self.assertLessEqual(set(runs), {"call", "exec", "root", "zygote"})
            self.assertFalse({"call", "zygote"} & set(runs) and not name.endswith(".py"), "a call is a Python file")
            stops = header["stopped-by"][0].split()
            self.assertTrue(stops == [BY_DESIGN] or set(stops) <= CONTROLS, stops)
            self.assertLessEqual(set(" ".join(header.get("needs", [])).split()), NEEDS)
            self.assertLessEqual(set(header.get("expect", [])), EXPECTATIONS)
            self.assertLessEqual(set(header.get("compare", [])), {"must-differ"})
            for limit in " ".join(header.get("limits", [])).split():
                self.assertRegex(limit, r"^[a-z_]+=[0-9.]+$")
                self.assertIn(limit.split("=")[0], LIMITS)
            for then in header.get("then", []):
                self.assertRegex(then, r"^(read|write|list) /\S+$")
                self.assertNotIn("call", runs, "a call has ended when the host would look")
        self.for_each(check)

    def test_pairs_have_two_halves(self):
        halves = collections.defaultdict(dict)

        def check(_, header):
            self.assertEqual("pair" in header, "pair-name" in header)
            if "pair" in header:
                halves[header["pair-name"][0]][header["pair"][0]] = header["runs"][0]
        self.for_each(check)
        for pair, runs in halves.items():
            self.assertEqual(set(runs), {"leave", "find"}, pair)
            self.assertEqual(runs["leave"], runs["find"], pair)


    def test_attacks_on_the_network_say_their_policy(self):
        def check(name, header):
            self.assertEqual("network" in header, int(name[:2]) in NETWORK_FAMILIES)
            self.assertTrue("network" in header or "event" not in header)
            json.loads(header.get("network", ["null"])[0])
        self.for_each(check)


class ProgramTest(unittest.TestCase):
    def test_python_attacks_have_the_shape_that_the_runner_wants(self):
        for name in (name for name in files() if name.endswith(".py")):
            with self.subTest(name):
                tree = ast.parse(text(name))
                functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
                public = [function for function in functions if not function.startswith("_")]
                self.assertEqual(public, ["attack"], "the one public function is attack()")
                run_alone = 'if __name__ == "__main__":' in text(name)
                runs = set(headers(name)["runs"][0].split())
                self.assertEqual(run_alone, bool(runs & {"exec", "root"}))

    def test_every_attack_can_end_either_way(self):
        for name in files():
            header = headers(name)
            if {"expect", "then", "pair", "compare"} & set(header):
                continue  # the runner, or the other half, decides
            if name in SEEN_FROM_OUTSIDE:
                continue
            with self.subTest(name):
                self.assertIn("HELD: ", text(name))
                self.assertIn("ESCAPED: ", text(name))


class CoverageTest(unittest.TestCase):
    def test_every_control_has_an_attack_that_it_alone_stops(self):
        alone = {headers(name)["stopped-by"][0] for name in files()}
        self.assertEqual(CONTROLS - alone, set(WITHOUT_AN_ATTACK))

    def test_every_family_has_several_attacks(self):
        found = collections.Counter(int(name[:2]) for name in files())
        for family in FAMILIES - ARCHIVE_FAMILIES:
            self.assertGreaterEqual(found[family], 3, f"family {family}")
        made = text("archives.py")
        for kind in ("tar", "docker", "oci"):
            for expectation in ("imported", "refused", "contained"):
                self.assertIn(f'"{kind}", "{expectation}"', made)

    def test_the_readme_names_every_attack(self):
        readme = text("README.md")
        for name in files():
            stem = re.sub(r"(_leave|_find)?\.\w+$", "", name)[3:]
            with self.subTest(name):
                self.assertTrue(re.search(rf"\b{stem}\b", readme), "not in README.md")


if __name__ == "__main__":
    unittest.main()
