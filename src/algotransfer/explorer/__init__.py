"""Step-by-step executions of algorithms and networks as one HTML page."""

from algotransfer.explorer.explore import explore
from algotransfer.explorer.page import Viewer

__all__ = ["Viewer", "explore"]
