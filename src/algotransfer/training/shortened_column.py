"""`ShortenedColumn`: text in a progress bar that gives way where the line is too long."""

from rich.progress import ProgressColumn, Task
from rich.table import Column
from rich.text import Text


class ShortenedColumn(ProgressColumn):
    """Text of a task, cut off with `…` before columns of other kinds lose their text."""

    def __init__(self, text_format: str = "{task.description}", style: str = ""):
        self.text_format, self.style = text_format, style
        # Rich narrows columns that may wrap first; the text itself does not wrap.
        super().__init__(table_column=Column(no_wrap=False))

    def render(self, task: Task) -> Text:
        """Return the text as it is, without markup."""
        text = self.text_format.format(task=task)
        return Text(text, style=self.style, no_wrap=True, overflow="ellipsis")
