"""Packs the files that go into sandboxes into one blob: pack.py OUTPUT NAME=PATH ... (a directory is packed whole)."""
import hashlib
import os
import struct
import sys


def files_of(name, path):
    if os.path.isfile(path):
        yield name, path
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        for file in sorted(names):
            full = os.path.join(folder, file)
            yield os.path.join(name, os.path.relpath(full, path)), full


def main(output, entries):
    blob = bytearray()
    for entry in entries:
        name, _, path = entry.partition("=")
        for inside, full in files_of(name, path):
            with open(full, "rb") as file:
                data = file.read()
            mode = 0o755 if os.access(full, os.X_OK) else 0o644
            encoded = inside.encode()
            blob += struct.pack("<III", mode, len(encoded), len(data)) + encoded + data
    with open(output, "wb") as file:
        file.write(hashlib.sha256(blob).hexdigest().encode() + blob)


main(sys.argv[1], sys.argv[2:])
