# attack: another call's data in the memory of the interpreter (left)
# family: 29
# runs: call
# stopped-by: design
# pair: leave
# pair-name: memory_residue
#
# Fills memory with a mark. Children share the zygote's pages, never each other's.
def attack():
    mark = "belljar" + "-memory-" + "residue"
    held = [(mark + str(number)).encode() * 64 for number in range(20000)]
    return f"HELD: {len(held)} marks in memory"
