# attack: memory without end
# family: 24
# runs: call exec root
# stopped-by: memory
# limits: memory_bytes=67108864
# expect: killed-by memory
#
# Every page is touched, so that it counts. Bounded at 512 MB.
def attack():
    held = []
    try:
        for _ in range(128):
            held.append(bytearray(b"x" * (4 << 20)))
    except MemoryError:
        return f"HELD: after {len(held) * 4} MB"
    return "ESCAPED: 512 MB in a sandbox of 64"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
