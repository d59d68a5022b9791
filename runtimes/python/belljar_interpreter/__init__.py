"""Stateful Python contexts: cells run one after another in one namespace, with results that notebooks know.

One process a context, forked from the zygote (zygote.py). Any CPython from 3.9 on, standard library only; pandas and
matplotlib are understood where the cells import them, and never imported by us.
"""
