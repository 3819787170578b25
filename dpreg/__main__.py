"""The command line: `python -m dpreg --help` says what there is."""

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.exit(import_module("dpreg.estimators.command").main())
