"""The command line: `algotransfer COMMAND …`; one small module per command."""

from algotransfer.cli.main import main

__all__ = ["main"]
