"""Speed and memory measurements on the current device."""
