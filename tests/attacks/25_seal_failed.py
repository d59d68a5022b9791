# attack: the message that only Belljar's own code may send: "could not be sealed"
# family: 25
# runs: call
# stopped-by: result
# expect: answer-refused
#
# Its text would be told to the caller as the platform's own words: here, sixteen megabytes of garbage and escape
# sequences.
import os
import struct
import time


def attack():
    text = b"\x1b]0;owned\x07\xff\xfe" * (1 << 20)
    frame = struct.pack("<I", len(text)) + b"F" + text
    while frame:
        frame = frame[os.write(3, frame):]
    time.sleep(5)
