"""What runs around a tool inside its sandbox. Loaded whole by the zygote: a child reads no file of ours.

Imports at module level are limited to built-in C modules: every page the zygote holds is paid for at each fork.
"""
