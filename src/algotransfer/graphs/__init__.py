"""Graphs: the `Graph` pytree, random families, readers, writers and converters."""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy

if TYPE_CHECKING:
    from algotransfer.graphs.convert import from_networkx as from_networkx
    from algotransfer.graphs.convert import from_pyg as from_pyg
    from algotransfer.graphs.convert import from_scipy as from_scipy
    from algotransfer.graphs.convert import to_networkx as to_networkx
    from algotransfer.graphs.convert import to_scipy as to_scipy
    from algotransfer.graphs.formats import read_graph as read_graph
    from algotransfer.graphs.formats import write_graph as write_graph
    from algotransfer.graphs.graph import Graph as Graph
    from algotransfer.graphs.graph import concatenate as concatenate
    from algotransfer.graphs.graph import from_edges as from_edges
    from algotransfer.graphs.graph_like import GraphLike as GraphLike
    from algotransfer.graphs.graph_like import to_graph as to_graph
    from algotransfer.graphs.graph_like import to_named_graph as to_named_graph
    from algotransfer.graphs.named import NamedGraph as NamedGraph
    from algotransfer.graphs.registry import FAMILIES as FAMILIES
    from algotransfer.graphs.sampling import sample_graphs as sample_graphs

make_lazy(__name__)
