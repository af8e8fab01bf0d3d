"""``python -m glassleak``."""

import sys

from glassleak.cli import main

sys.exit(main())
