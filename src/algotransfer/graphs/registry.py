"""Families of random graphs by name. Importable without numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algotransfer.registry import Registry

if TYPE_CHECKING:
    from algotransfer.graphs.families import Sampler

FAMILIES: Registry[Sampler] = Registry(
    "graph family",
    {
        "er": "algotransfer.graphs.families:erdos_renyi",
        "ba": "algotransfer.graphs.families:barabasi_albert",
        "grid": "algotransfer.graphs.families:grid",
        "ws": "algotransfer.graphs.salsa_families:watts_strogatz",
        "delaunay": "algotransfer.graphs.salsa_families:delaunay",
    },
    {
        "er": ("Erdős–Rényi graphs: each pair of nodes is an edge with p = min(log₂(n)/n, 0.5).",),
        "ba": ("Barabási–Albert graphs: a star on m + 1 nodes; each new node joins m by degree.",),
        "grid": ("Grids of r × c = n nodes: a uniform shape with r ≥ 2, or the most square one.",),
    },
)
