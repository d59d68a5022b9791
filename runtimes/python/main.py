"""The Python zygote: imports done once, then one sealed single-use child for each call.

Started as `python3 -I -S main.py CONFIG`, CONFIG being JSON:
{"control_fd": 3, "site_dirs": ["/usr/lib/python3/dist-packages"], "preload": ["pydantic"]}
"""

import sys


def start_zygote(config_text):
    own_directory = __file__.rpartition("/")[0] or "."
    sys.path.insert(0, own_directory)
    import belljar_zygote
    from belljar_runtime import child, jsontext, own_end, preparation
    # Everything of ours is loaded: a tool must neither import from here nor find a file of its own name here.
    sys.path.remove(own_directory)

    own_end.arrange()
    config = jsontext.parse(config_text)
    surroundings, report = preparation.prepare(config.get("site_dirs") or (), config.get("preload") or ())
    # Never returns in the zygote; each return is one forked and sealed child.
    channel_fd, warm = belljar_zygote.serve(config["control_fd"], report)
    child.live(channel_fd, warm, surroundings)


if __name__ == "__main__":
    start_zygote(sys.argv.pop())  # a tool that reads its command line finds none
