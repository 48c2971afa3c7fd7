"""The step-by-step viewer: executions of algorithms and networks as one HTML page."""

from algotransfer.viewer.page import Viewer
from algotransfer.viewer.show import explore, write_example

__all__ = ["Viewer", "explore", "write_example"]
