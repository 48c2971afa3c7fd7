"""`algotransfer certify`: prove that a learned step is right on graphs of every size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from algotransfer.cli.options import Json, check_file, check_input, optional
from algotransfer.errors import UserError

if TYPE_CHECKING:
    from algotransfer.symbolic.certificate import Certificate

NETWORK = (
    "The proof covers the step that the network has learned, executed by the exact framework. "
    "The network itself treats keys within 5e-7 of the spread of a node's candidates as equal."
)


@dataclass(frozen=True)
class CertifyCommand:
    """Print a learned step as a program, and prove it for all graphs with the solver z3.

    The exit status is 2 if something is not proven.
    """

    model: Positional[str]
    """Program of `algotransfer discover` (.json), or a trained relax model by name or path."""
    model_seed: Annotated[int | None, optional("INT", "all")] = None
    """Seed of a trained model."""
    weights: tuple[float, float] = (0.2, 1.0)
    """Interval of weights for which rounding errors are bounded."""
    out: Annotated[Path | None, optional("PATH")] = None
    """File (.json) for the certificate of one program."""
    json: Json = False

    def run(self) -> None:
        """Prove, print, write the certificate."""
        is_program = Path(self.model).suffix == ".json"
        if is_program and self.model_seed is not None:
            raise UserError(
                f"--model-seed chooses a network of a trained model; {self.model} is one program"
            )
        if is_program:
            check_input(Path(self.model))
        check_file(self.out, [".json"], [Path(self.model)])
        from algotransfer.cli.console import announce, next_step, output, print_json, wrote

        announce(f"proving the step of {self.model}, in seconds")
        from algotransfer.symbolic.certificate import certify
        from algotransfer.symbolic.program import StepProgram

        if is_program:
            programs = {None: StepProgram.load(self.model)}
        else:
            programs = self._network_programs()
        if self.out is not None and len(programs) > 1:
            raise UserError(
                f"--out {self.out} holds one certificate, but {self.model} has seeds "
                f"{', '.join(map(str, programs))}; choose one with --model-seed"
            )
        refused, proven = [], []
        for seed, program in programs.items():
            certificate = certify(program, self.weights)
            _show(certificate, "" if seed is None else f"seed {seed}: ")
            proven.append({"seed": seed, **certificate.to_json()})
            if not certificate.certified:
                refused.append(self.model if seed is None else f"seed {seed}")
            if self.out is not None:
                certificate.save(self.out)
                wrote(self.out)
        if self.json:
            print_json(proven)
        if None not in programs:
            output.print(NETWORK)
        if refused:
            raise UserError(f"not certified: {', '.join(refused)}; the reasons are above")
        from algotransfer.symbolic.check_certificate import TARGETS

        if self.out is not None and {program.target for program in programs.values()} <= {*TARGETS}:
            next_step(f"python -m algotransfer.symbolic.check_certificate {self.out}")

    def _network_programs(self):
        from algotransfer.symbolic.from_network import network_programs
        from algotransfer.training import load_model

        programs = network_programs(load_model(self.model))
        if self.model_seed is None:
            return programs
        if self.model_seed not in programs:
            raise UserError(
                f"--model-seed {self.model_seed}: {self.model} has seeds "
                f"{', '.join(map(str, programs))}"
            )
        return {self.model_seed: programs[self.model_seed]}


def _show(certificate: Certificate, label: str) -> None:
    """Print the program, what is proven, the verdict, and the bounds of rounding errors."""
    from algotransfer.cli.console import output
    from algotransfer.cli.tables import titled
    from algotransfer.evaluation.result_tables import plain_table
    from algotransfer.symbolic.expressions import as_text
    from algotransfer.symbolic.proofs import STATEMENTS

    step = as_text(certificate.program.step)
    source = certificate.program.source()
    output.print(f"{label}candidate = {step}\n\n{source}", soft_wrap=True)  # code stays valid
    table = plain_table(("statement, for all keys and weights", "result"), ())
    for claim in certificate.claims:
        values = ", ".join(f"{name} = {value}" for name, value in claim.refuted_by.items())
        result = "proven" if claim.proven else f"not proven {values}"
        table.add_row(STATEMENTS[claim.name], result)
    output.print(titled("Proofs with real numbers", table))
    verdict = "certified" if certificate.certified else "not certified"
    output.print(f"{verdict}: {certificate.reason}", style="green" if certificate.certified else "")
    if (example := certificate.counterexample) is not None:
        edges = ", ".join(f"{u}–{v}: {weight}" for (u, v), weight in example.edges.items())
        output.print(
            f"counterexample: edges {edges}; from source 0, node {example.node} ends with the "
            f"predecessor {example.pred} instead of {example.target_pred}"
        )
    if certificate.rounding:
        low, high = certificate.weights
        table = plain_table((), ("nodes up to", "difference"))
        for row in certificate.rounding:
            gap = "not bounded" if row.gap is None else f"{row.gap:.2g}"
            table.add_row(f"{row.num_nodes:,}", gap)
        title = (
            "Smallest relative difference of two candidates that float32 orders correctly, "
            f"weights {low:g} to {high:g}"
        )
        output.print(titled(title, table))
        if any(row.gap is None for row in certificate.rounding):
            output.print("Not bounded: keys may leave the range of float32, or the step subtracts.")
