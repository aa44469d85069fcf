"""`python -m writepath <command> [NAME=value ...]`."""

import sys

from writepath.cli import main

if __name__ == "__main__":
    sys.exit(main())
