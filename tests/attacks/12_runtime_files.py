# attack: Belljar's own files inside, changed for the next call
# family: 12
# runs: call exec root
# stopped-by: design
#
# /opt/belljar holds the code that reads every tool's arguments. Root inside owns nothing there.
import os


def attack():
    seen = 0
    for folder, _, names in os.walk("/opt/belljar"):
        for path in [f"{folder}/{name}" for name in names]:
            seen += 1
            try:
                os.close(os.open(path, os.O_WRONLY))
                return f"ESCAPED: {path} can be written"
            except OSError:
                pass
        try:
            os.close(os.open(folder + "/zz", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.unlink(folder + "/zz")
            return f"ESCAPED: {folder} takes new files"
        except OSError:
            pass
    return f"HELD: none of {seen} files can be changed" if seen else "BROKEN: there is no /opt/belljar"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
