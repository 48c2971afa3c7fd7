"""Transfer methods as data: which processors the target network has, and which of them learn.

Adding a method is one entry of `METHODS`. This module imports nothing heavy, so that the command
line knows all methods at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from algotransfer.errors import UserError


@dataclass(frozen=True)
class TransferMethod:
    """How a target network is put together.

    **Arguments:**

    - `processors`: where each processor comes from, `fresh` or `base`; their outputs are summed.
    - `frozen`: for each processor, whether it stays exactly as it is.
    - `joint`: whether the base algorithms are trained together with the target.
    """

    processors: tuple[str, ...] = ("fresh",)
    frozen: tuple[bool, ...] = (False,)
    joint: bool = False

    def __post_init__(self):
        if len(self.processors) != len(self.frozen) or {*self.processors} - {"fresh", "base"}:
            raise UserError(
                f"processors {self.processors}, frozen {self.frozen}; expected 'fresh' or 'base' "
                "for each processor, and True or False for each of them"
            )

    @property
    def pretrained(self) -> bool:
        """Whether a base model must be trained before."""
        return "base" in self.processors

    @property
    def needs_base(self) -> bool:
        """Whether it is about base algorithms at all."""
        return self.pretrained or self.joint


ALONE, TOGETHER = "none", "multitask"  # how base models are trained: one algorithm, or several

METHODS: dict[str, TransferMethod] = {
    ALONE: TransferMethod(),
    "freeze": TransferMethod(("base",), (True,)),
    "fine_tune": TransferMethod(("base",), (False,)),
    "two_processor": TransferMethod(("base", "fresh"), (True, False)),
    TOGETHER: TransferMethod(joint=True),
}
