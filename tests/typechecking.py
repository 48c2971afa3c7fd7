"""The checker that the import hook applies to every annotated function of the package."""

from beartype import BeartypeConf, beartype

# An int where a float is asked for is fine, as it is for pyright (PEP 484).
typechecker = beartype(conf=BeartypeConf(is_pep484_tower=True))
