"""Why a tensor is where it is, and the line to change."""
