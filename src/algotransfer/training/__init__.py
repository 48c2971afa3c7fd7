"""Training: supervisions, transfer methods, all seeds in one program, run folders."""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy

if TYPE_CHECKING:
    from algotransfer.trained_models import committed_weights as committed_weights
    from algotransfer.trained_models import list_models as list_models
    from algotransfer.training.runs import Model as Model
    from algotransfer.training.runs import load_model as load_model
    from algotransfer.training.train import train as train

make_lazy(__name__)
