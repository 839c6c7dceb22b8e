"""`python -m woodwind` is `ww`."""

from woodwind.cli.main import entry

if __name__ == "__main__":
    entry()
