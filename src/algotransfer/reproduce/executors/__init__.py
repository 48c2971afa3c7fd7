"""Where steps run: threads, processes of one machine, or a Ray cluster."""
