"""Time a step of NE's max-MPNN on a large graph in PyTorch Geometric. Runs inside `.venv-pyg`.

    pyg_step.py GRAPH.npz HIDDEN     edge_index [2, edges] (senders, receivers) and edge_weight

Reads questions on stdin, one JSON object a line: {"backward": true}; answers with seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import MessagePassing


class MaxMPNN(MessagePassing):
    """z = E[x, h], m_i = max_j M[z_i, z_j, A w_ij], h' = U[z, m] + z, in idiomatic PyG."""

    def __init__(self, features: int, hidden: int):
        super().__init__(aggr="max")
        self.encode = nn.Linear(features + hidden, hidden, bias=False)
        self.embed_weight = nn.Linear(1, hidden, bias=False)
        self.to_message = nn.Linear(3 * hidden, hidden, bias=False)
        self.to_hidden = nn.Linear(2 * hidden, hidden, bias=False)

    def forward(self, x, hidden, edge_index, edge_weight):
        z = self.encode(torch.cat([x, hidden], -1))
        message = self.propagate(edge_index, x=z, edge_attr=self.embed_weight(edge_weight))
        return self.to_hidden(torch.cat([z, message], -1)) + z

    def message(self, x_i, x_j, edge_attr):
        return self.to_message(torch.cat([x_i, x_j, edge_attr], -1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", metavar="GRAPH.npz")
    parser.add_argument("hidden", metavar="HIDDEN", type=int)
    arguments = parser.parse_args()
    with np.load(arguments.graph) as file:
        edge_index = torch.from_numpy(file["edge_index"].astype(np.int64))
        edge_weight = torch.from_numpy(file["edge_weight"])[:, None]
    num_nodes = int(edge_index.max()) + 1
    torch.manual_seed(0)
    network = MaxMPNN(features=2, hidden=arguments.hidden)
    x = torch.randn(num_nodes, 2)
    hidden = torch.randn(num_nodes, arguments.hidden, requires_grad=True)  # of an earlier step

    for line in sys.stdin:
        backward = json.loads(line)["backward"]
        start = time.perf_counter()
        with torch.set_grad_enabled(backward):
            after = network(x, hidden, edge_index, edge_weight)
        if backward:
            torch.autograd.grad(after.square().mean(), [hidden, *network.parameters()])
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main()
