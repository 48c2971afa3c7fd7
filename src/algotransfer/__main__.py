"""Run the command line with `python -m algotransfer`."""

from algotransfer.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
