"""Fails on an #include between two folders of src that the arrows in docs/architecture.md do not allow.

The drawing is the rule: a folder may include what its arrows lead to, over any number of steps. Folders of src/api are
protocols, which do not know each other. Run by `./dev lint` from the top of the tree."""
import pathlib
import re
import sys

INCLUDE = re.compile(r'#include "([a-z0-9_]+)/(?:([a-z0-9_]+)/)?')


def drawn():
    """The folders that each folder's own arrows point at. A line draws chains, apart by blanks: `a → b → c   d → e`."""
    arrows = {}
    for line in pathlib.Path("docs/architecture.md").read_text().splitlines():
        if not line.startswith("    ") or "→" not in line:
            continue
        for chain in re.split(r" {2,}", line.strip()):
            names = chain.split(" → ")
            for left, right in zip(names, names[1:]):
                arrows.setdefault(left, set()).add(right)
    return arrows


def reach(arrows, folder):
    found, waiting = set(), [folder]
    while waiting:
        for next_one in arrows.get(waiting.pop(), set()) - found:
            found.add(next_one)
            waiting.append(next_one)
    return found


def wrong_includes(arrows):
    folders = {path.name for path in pathlib.Path("src").iterdir() if path.is_dir()}
    allowed = {folder: reach(arrows, folder) for folder in folders}
    for folder in sorted(folders):
        if folder in allowed[folder]:
            yield f"docs/architecture.md: the arrows lead from {folder} back to {folder}"
    for path in sorted(pathlib.Path("src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        folder, protocol = path.parts[1], path.parts[2]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match[1] not in folders:
                continue
            if match[1] != folder and match[1] not in allowed[folder]:
                yield f"{path}:{number}: no arrow leads from {folder} to {match[1]} (docs/architecture.md)"
            if folder == match[1] == "api" and match[2] and match[2] != protocol:
                yield f"{path}:{number}: the protocol {protocol} must not know {match[2]}"


def main():
    arrows = drawn()
    if "base" not in reach(arrows, "cli"):
        sys.exit("docs/architecture.md: no arrows found")
    wrong = list(wrong_includes(arrows))
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
