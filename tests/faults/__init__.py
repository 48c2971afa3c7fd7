"""Fault injection: `make faults` injects hundreds of faults, `make test` some of each kind."""
