# attack: memory as files in /dev/shm
# family: 24
# runs: call exec root
# stopped-by: memory disk
# limits: memory_bytes=67108864 disk_bytes=33554432
#
# A tmpfs is memory: a file in it belongs to no process and stays when all are dead.
import os


def attack():
    written = 0
    try:
        for number in range(128):
            with open(f"/dev/shm/bomb{number}", "wb") as file:
                file.write(b"x" * (2 << 20))
            written += 2
    except OSError as error:
        return f"HELD: after {written} MB: {error.strerror}"
    finally:
        for name in os.listdir("/dev/shm"):
            os.unlink("/dev/shm/" + name)
    return "ESCAPED: 256 MB of shared memory"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
