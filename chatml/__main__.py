"""`python -m chatml` is the command `chatml`."""

import sys

from chatml.cli import main

sys.exit(main())
