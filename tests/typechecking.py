"""The checker that the import hook applies to every annotated function of the package."""

from beartype import BeartypeConf, beartype

# An int where a float is asked for is fine, as it is for pyright (PEP 484).
check = beartype(conf=BeartypeConf(is_pep484_tower=True))
# These check their fields themselves (`algotransfer.type_checks`) and raise a `UserError`.
CHECKED = {f"{name}.__init__" for name in ("Algorithm", "Dataset", "Experiment", "Model")}


def typechecker(function):
    """Check a function's arguments and result."""
    return function if function.__qualname__ in CHECKED else check(function)
