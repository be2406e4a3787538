"""``python3 -m graphmill`` is the program ``graphmill`` that belongs to this
package; a wheel also installs it as a command."""

import os
import sys

from ._engine import find_program
from .errors import Error


def main() -> None:
    """Becomes the program, with the arguments of this process."""
    try:
        os.execv(find_program("graphmill"), ["graphmill", *sys.argv[1:]])
    except (Error, OSError) as cause:
        sys.exit(f"graphmill: {cause}")


if __name__ == "__main__":
    main()
