"""`python -m samedevice.catalog`: exit 2 and a line for every mistake in the catalog, or 0 and what it holds."""

from samedevice.catalog.check import main

raise SystemExit(main())
