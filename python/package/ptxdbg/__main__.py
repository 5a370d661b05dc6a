"""``python -m ptxdbg`` is the command ``ptxdbg``."""

from ._terminal import main

if __name__ == "__main__":
    main()
