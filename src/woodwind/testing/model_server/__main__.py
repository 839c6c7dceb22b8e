"""`python -m woodwind.testing.model_server [PORT]`: the scripted model as a process; prints where it is."""

import sys

from woodwind.testing.model_server.server import ModelServer


def main() -> None:
    """Serve until the process is ended."""
    model = ModelServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(model.url, flush=True)
    model.serve()


if __name__ == "__main__":
    main()
