"""Transfer methods as data: the processors of the target network, and which of them are trained.

Register another method with one entry of `METHODS`. Importable without jax.
"""

from dataclasses import dataclass

from algotransfer.errors import UserError
from algotransfer.registry import Registry


@dataclass(frozen=True)
class TransferMethod:
    """How a target network is built from fresh and pretrained processors."""

    processors: tuple[str, ...] = ("fresh",)  # origins, `fresh` or `base`; outputs are summed
    frozen: tuple[bool, ...] = (False,)  # for each processor, whether its weights stay fixed
    joint: bool = False  # whether the base algorithms are trained together with the target

    def __post_init__(self):
        if len(self.processors) != len(self.frozen) or {*self.processors} - {"fresh", "base"}:
            raise UserError(
                f"processors {self.processors}, frozen {self.frozen}; expected 'fresh' or 'base' "
                "for each processor, and True or False for each of them"
            )

    @property
    def pretrained(self) -> bool:
        """Whether a base model must be trained first."""
        return "base" in self.processors

    @property
    def needs_base(self) -> bool:
        """Whether the method uses base algorithms."""
        return self.pretrained or self.joint


ALONE, TOGETHER = "none", "multitask"  # methods that train base models: one algorithm, several

METHODS: Registry[TransferMethod] = Registry(
    "transfer method",
    {
        ALONE: TransferMethod(),
        "freeze": TransferMethod(("base",), (True,)),
        "fine_tune": TransferMethod(("base",), (False,)),
        "two_processor": TransferMethod(("base", "fresh"), (True, False)),
        TOGETHER: TransferMethod(joint=True),
    },
)
