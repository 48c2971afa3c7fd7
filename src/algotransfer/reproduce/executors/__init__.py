"""Executors of steps, by the name that `--executor` takes."""

from algotransfer.reproduce.executors.processes import ProcessExecutor
from algotransfer.reproduce.executors.ray import RayExecutor
from algotransfer.reproduce.executors.step_executor import StepExecutor
from algotransfer.reproduce.executors.threads import ThreadExecutor

EXECUTORS: dict[str, type[StepExecutor]] = {
    "threads": ThreadExecutor,
    "processes": ProcessExecutor,
    "ray": RayExecutor,
}
