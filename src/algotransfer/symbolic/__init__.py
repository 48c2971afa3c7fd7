"""Steps of relaxation algorithms as expressions: learn them from answers, and prove them."""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy

if TYPE_CHECKING:
    from algotransfer.symbolic.certificate import Certificate as Certificate
    from algotransfer.symbolic.certificate import certify as certify
    from algotransfer.symbolic.discover import discover as discover
    from algotransfer.symbolic.from_network import network_programs as network_programs
    from algotransfer.symbolic.grammar import grammar as grammar
    from algotransfer.symbolic.program import StepProgram as StepProgram

make_lazy(__name__)
