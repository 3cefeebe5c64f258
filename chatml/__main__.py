"""`python -m chatml` is the command `chatml`."""

import sys

from chatml_tools.commands import main

sys.exit(main())
