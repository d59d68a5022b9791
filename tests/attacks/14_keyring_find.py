# attack: a key in the user's keyring (looked for)
# family: 14
# runs: call
# stopped-by: seccomp uid
# pair: find
# pair-name: keyring
# needs: x86_64
#
# The next call.
import ctypes

_libc = ctypes.CDLL(None, use_errno=True)
_KEYCTL, _SEARCH, _INVALIDATE, _USER_KEYRING = 250, 10, 21, -4


def attack():
    key = _libc.syscall(_KEYCTL, _SEARCH, _USER_KEYRING, b"user", b"belljar-residue", 0)
    if key >= 0:
        _libc.syscall(_KEYCTL, _INVALIDATE, key)
        return "ESCAPED: a key of another call is there"
    return "HELD: nothing is left"
