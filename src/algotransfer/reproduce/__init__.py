"""Reproduction of the paper's experiments as a graph of cached steps."""
