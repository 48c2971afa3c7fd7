"""How fast we are, measured on the device at hand."""
