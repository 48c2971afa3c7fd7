"""The paper's experiments as a list, and the runner that works through it."""
