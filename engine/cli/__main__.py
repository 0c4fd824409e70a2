"""``python -m engine.cli`` is ``traderbench``."""

import sys

from engine.cli import main

sys.exit(main())
