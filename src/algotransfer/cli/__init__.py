"""Command line: `algotransfer COMMAND …`, one module per command."""

from algotransfer.cli.main import main

__all__ = ["main"]
