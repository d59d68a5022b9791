# attack: the host's disk flushed by who may only read from it
# family: 24
# runs: call
# stopped-by: seccomp
#
# fsync(2) takes a descriptor for reading, of a mount that is read-only, and has the disk below it write out its caches,
# each time anew: in some threads it makes everybody on the machine wait who commits something. A pipe tells who answered:
# the kernel knows that it can't be written out.
import errno
import os


def attack():
    reader, _ = os.pipe()
    for write_out in (os.fsync, os.fdatasync):
        try:
            write_out(reader)
        except OSError as error:
            if error.errno != errno.EINVAL:
                return f"BROKEN: errno {error.errno}"
            return f"ESCAPED: {write_out.__name__} came to the kernel, and with it to the template's disk"
    return "HELD: nothing is written out"
