"""`python -m samedevice`: the command line, where the script `samedevice` is not on the PATH."""

from samedevice.doors.cli import main

raise SystemExit(main())
