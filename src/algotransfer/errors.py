"""Errors caused by the user, and short descriptions of values for their messages."""

import reprlib
from typing import Any


class UserError(ValueError):
    """A mistake of the caller: what came, what was expected, what to do.

    The command line prints exactly these in one sentence and exits with status 2. Every other
    exception is a bug and keeps its traceback.
    """


def shown(value: Any) -> str:
    """Return a short `repr` of any value, in one line."""
    try:
        text = reprlib.repr(value)
        return f"{type(value).__name__}(…)" if "\n" in text else text
    except ValueError:  # integers of thousands of digits
        return "a huge number"
