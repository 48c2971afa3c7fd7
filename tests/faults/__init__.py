"""Fault injection: `make faults` injects hundreds of faults, `make test-all` some of each kind."""
