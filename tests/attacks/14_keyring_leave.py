# attack: a key in the user's keyring (left)
# family: 14
# runs: call
# stopped-by: seccomp uid
# pair: leave
# pair-name: keyring
# needs: x86_64
#
# Keyrings live in the kernel by user id: a recycled id finds the keys of its predecessor.
import ctypes

_libc = ctypes.CDLL(None, use_errno=True)
_ADD_KEY, _USER_KEYRING = 248, -4


def attack():
    _libc.syscall(_ADD_KEY, b"user", b"belljar-residue", b"secret", ctypes.c_size_t(6), _USER_KEYRING)
    return "HELD: left, where the kernel let it"
