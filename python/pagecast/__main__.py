"""``python -m pagecast`` is the ``pagecast`` command."""

from pagecast.cli import main

if __name__ == "__main__":
    main()
