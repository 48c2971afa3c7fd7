"""Faults on purpose: `make faults` injects hundreds, `make test` some of each kind."""
