"""NE and NE++ as PyTorch modules, written as their formulas are. Needs torch.

Features of nodes are [nodes, width], those of edges [edges, width]; node i receives, j sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from torch import Tensor, nn  # pyright: ignore[reportMissingImports]

from algotransfer.algorithms import Algorithm


class EdgeList(NamedTuple):
    """All edges in both directions, and an edge of features 0 from every node to itself."""

    receivers: Tensor
    senders: Tensor
    features: Tensor  # [edges, kinds]
    num_nodes: int

    def max(self, values: Tensor) -> Tensor:
        """Return the maximum over the edges that arrive at each node."""
        index = self.receivers.reshape(-1, *[1] * (values.dim() - 1)).expand_as(values)
        empty = values.new_zeros(self.num_nodes, *values.shape[1:])
        return empty.scatter_reduce(0, index, values, "amax", include_self=False)

    def best_senders(self, scores: Tensor, allowed: Tensor | None) -> Tensor:
        """Return the best-scored allowed neighbour of each node, the first of equal ones."""
        usable = self.receivers == self.senders
        usable = torch.ones_like(usable) if allowed is None else usable | allowed[self.senders]
        scores = scores.masked_fill(~usable, -torch.inf)
        is_best = usable & (scores == self.max(scores)[self.receivers])
        candidates = torch.where(is_best, self.senders, self.num_nodes)
        return -self.max(-candidates)

    def reach(self, nodes: Tensor) -> Tensor:
        """Return the nodes of a set and their neighbours."""
        return self.max(nodes[self.senders].to(torch.float32)) > 0

    def with_kinds(self, kinds: Sequence[int]) -> EdgeList:
        """Return the same edges with some of their features."""
        return self._replace(features=self.features[:, list(kinds)])


class Latent(NamedTuple):
    """What the heads of an algorithm read: inputs of the decoder, and the hidden state."""

    inputs: Tensor
    hidden: Tensor


class State(NamedTuple):
    """Keys, and nodes visited (sequential) or reached (parallel)."""

    key: Tensor
    visited: Tensor


def linear(matrix: Any) -> nn.Linear:
    """Return a layer without bias from a matrix that multiplies rows from the right."""
    weight = torch.from_numpy(np.array(matrix, np.float32).T.copy())
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight = nn.Parameter(weight)
    return layer


class MaxMPNN(nn.Module):
    """nodes'_i = U[nodes_i, max_j M inputs_ij]."""

    def __init__(self, weights: Any):
        super().__init__()
        self.message, self.update = linear(weights.message), linear(weights.update)

    def forward(self, nodes: Tensor, inputs: Tensor, edges: EdgeList) -> Tensor:
        return self.update(torch.cat([nodes, edges.max(self.message(inputs))], dim=-1))


class Heads(nn.Module):
    """Outputs, predecessor scores and termination of one algorithm."""

    def __init__(self, heads: Any, termination: Any):
        super().__init__()
        self.decoder, self.predecessor = linear(heads.decoder), linear(heads.predecessor)
        self.summary, self.stop = MaxMPNN(termination.processor), linear(termination.linear)

    def decode(self, latent: Latent) -> Tensor:
        """Return y_i = D[inputs_i, h'_i]."""
        return self.decoder(torch.cat(latent, dim=-1))

    def scores(self, latent: Latent, edge: Tensor, edges: EdgeList) -> Tensor:
        """Return s_ij = S[h'_j, e_ij]."""
        return self.predecessor(torch.cat([latent.hidden[edges.senders], edge], dim=-1))[:, 0]

    def terminate(self, latent: Latent, edge: Tensor, edges: EdgeList) -> Tensor:
        """Return the termination logit."""
        nodes = self.summary(latent.hidden, node_pairs(latent.hidden, edge, edges), edges)
        return self.stop(nodes.mean(dim=0))[0]


def node_pairs(nodes: Tensor, edge: Tensor, edges: EdgeList) -> Tensor:
    """Return [node_i, node_j, e_ij] on every edge."""
    return torch.cat([nodes[edges.receivers], nodes[edges.senders], edge], dim=-1)


class NE(nn.Module):
    """z_i = E[x_i, h_i]; h'_i = z_i + Σ U[z_i, max_j M[z_i, z_j, e_ij]]; y_i = D[z_i, h'_i]."""

    def __init__(self, network: Any):
        super().__init__()
        self.encoder, self.edge = linear(network.encoder), linear(network.edge)
        self.processors = nn.ModuleList(map(MaxMPNN, network.processors))
        self.heads = nn.ModuleList(Heads(heads, network.termination) for heads in network.heads)

    def start(self, num_nodes: int) -> list[Tensor]:
        """Return the hidden states before step 0."""
        weight = self.edge.weight
        return [weight.new_zeros(num_nodes, weight.shape[0])]

    def step(
        self, features: Sequence[Tensor], hidden: Sequence[Tensor], edges: EdgeList
    ) -> tuple[list[Tensor], list[Latent]]:
        """Return the new hidden states, and the latent of each algorithm."""
        z = self.encoder(torch.cat([*features, *hidden], dim=-1))
        inputs = node_pairs(z, self.edge(edges.features), edges)
        after = z + sum(processor(z, inputs, edges) for processor in self.processors)
        return [after], [Latent(z, after)] * len(self.heads)

    def edge_inputs(self, task: int, edges: EdgeList) -> tuple[Tensor, EdgeList]:
        """Return e_ij and the edges as an algorithm sees them."""
        return self.edge(edges.features), edges


class NEPlusPlus(nn.Module):
    """h'_i = Σ U[h_i, max_j M q_ij] with q_ij = L c_ij + W₂ relu(W₁ c_ij); y_i = D[x_i, h_i, h'_i].

    c_ij is [x_i, h_i, x_j, h_j, e_ij]. Only the processors are shared by the algorithms.
    """

    def __init__(self, network: Any):
        super().__init__()
        own = network.specialists
        self.edge = nn.ModuleList(linear(s.edge) for s in own)
        self.linear = nn.ModuleList(linear(s.encoder.linear) for s in own)
        self.first = nn.ModuleList(linear(s.encoder.first) for s in own)
        self.second = nn.ModuleList(linear(s.encoder.second) for s in own)
        self.processors = nn.ModuleList(map(MaxMPNN, network.processors))
        self.heads = nn.ModuleList(Heads(s.heads, s.termination) for s in own)
        kinds = ["weight" if a.weighted else "one" for a in network.algorithms]
        self.kinds = [network.kinds.index(kind) for kind in kinds]

    def start(self, num_nodes: int) -> list[Tensor]:
        """Return the hidden states before step 0."""
        weights = [layer.weight for layer in self.edge]
        return [weight.new_zeros(num_nodes, weight.shape[0]) for weight in weights]

    def step(
        self, features: Sequence[Tensor], hidden: Sequence[Tensor], edges: EdgeList
    ) -> tuple[list[Tensor], list[Latent]]:
        """Return the new hidden states, and the latent of each algorithm."""
        states, latents = [], []
        for task, (x, h) in enumerate(zip(features, hidden, strict=True)):
            nodes = torch.cat([x, h], dim=-1)
            edge, own = self.edge_inputs(task, edges)
            pairs = node_pairs(nodes, edge, own)
            encoded = self.linear[task](pairs)
            encoded = encoded + self.second[task](torch.relu(self.first[task](pairs)))
            states.append(sum(processor(h, encoded, own) for processor in self.processors))
            latents.append(Latent(nodes, states[-1]))
        return states, latents

    def edge_inputs(self, task: int, edges: EdgeList) -> tuple[Tensor, EdgeList]:
        """Return e_ij and the edges as an algorithm sees them."""
        edges = edges.with_kinds([self.kinds[task]])
        return self.edge[task](edges.features), edges


class Parallel:
    """x = [key]; every step updates all keys, or those of reached nodes."""

    @staticmethod
    def start(key: Tensor, source: int) -> State:
        visited = torch.zeros_like(key, dtype=torch.bool)
        visited[source] = True
        return State(key, visited)

    @staticmethod
    def features(state: State) -> Tensor:
        return state.key[:, None]

    @staticmethod
    def advance(
        algorithm: Algorithm, edges: EdgeList, state: State, y: Tensor, carry_all: bool
    ) -> State:
        key = (y[:, 0] > 0).to(y.dtype) if algorithm.binary else y[:, 0]
        if carry_all:
            return State(key, state.visited)
        reached = edges.reach(state.visited)
        return State(torch.where(reached, key, state.key), reached)

    @staticmethod
    def allowed(edges: EdgeList, state: State, source: int) -> Tensor | None:
        return None


class Sequential:
    """x = [visited, key]; every step visits the node with the largest first output."""

    @staticmethod
    def start(key: Tensor, source: int) -> State:
        return State(key, torch.zeros_like(key, dtype=torch.bool))

    @staticmethod
    def features(state: State) -> Tensor:
        return torch.stack([state.visited.to(state.key.dtype), state.key], dim=-1)

    @staticmethod
    def advance(
        algorithm: Algorithm, edges: EdgeList, state: State, y: Tensor, carry_all: bool
    ) -> State:
        if state.visited.all():
            return state
        chosen = torch.zeros_like(state.visited)
        chosen[y[:, 0].masked_fill(state.visited, -torch.inf).argmax()] = True
        key = y[:, 1] if carry_all else torch.where(chosen, y[:, 1], state.key)
        return State(key, state.visited | chosen)

    @staticmethod
    def allowed(edges: EdgeList, state: State, source: int) -> Tensor | None:
        allowed = edges.reach(state.visited)
        allowed[source] = True
        return allowed


FRAMEWORKS: Mapping[str, Any] = {"parallel": Parallel, "sequential": Sequential}


class Execution(NamedTuple):
    """The steps of an execution, in the units of the network."""

    key: Tensor  # [steps, nodes]
    pred: Tensor  # [steps, nodes]
    stop: Tensor  # [steps], logits of termination


class TorchExecutor(nn.Module):
    """A network that executes its target on its own outputs."""

    def __init__(self, network: nn.Module, algorithms: Sequence[Algorithm], kinds, carry_all):
        super().__init__()
        self.network = network
        self.algorithms, self.kinds, self.carry_all = tuple(algorithms), kinds, tuple(carry_all)

    def forward(
        self,
        edge_index: Tensor,
        edge_weight: Tensor,
        *,
        num_nodes: int,
        source: int,
        infinity: float | Sequence[float],
        num_steps: int,
    ) -> Execution:
        """Run the network free on one graph.

        **Arguments:**

        - `edge_index`, `edge_weight`: every edge in both directions, [2, edges] and [edges].
        - `infinity`: what stands for ∞, one number or one per algorithm.
        - `num_steps`: number of steps.

        **Returns:** keys, predecessors and termination logits after each step.
        """
        edges = self._edges(edge_index, edge_weight, num_nodes)
        constants = np.broadcast_to(infinity, len(self.algorithms)).tolist()
        states = [
            self._start(algorithm, num_nodes, source, constant)
            for algorithm, constant in zip(self.algorithms, constants, strict=True)
        ]
        hidden = self.network.start(num_nodes)
        recorded = []
        for _ in range(num_steps):
            frameworks = [FRAMEWORKS[a.framework.name] for a in self.algorithms]
            features = [f.features(s) for f, s in zip(frameworks, states, strict=True)]
            hidden, latents = self.network.step(features, hidden, edges)
            last, heads = latents[-1], self.network.heads[-1]
            edge, own = self.network.edge_inputs(len(latents) - 1, edges)
            allowed = None
            if not self.carry_all[-1]:
                allowed = frameworks[-1].allowed(own, states[-1], source)
            states = [
                f.advance(a, edges, state, h.decode(latent), carry)
                for f, a, state, h, latent, carry in zip(
                    frameworks,
                    self.algorithms,
                    states,
                    self.network.heads,
                    latents,
                    self.carry_all,
                    strict=True,
                )
            ]
            pred = own.best_senders(heads.scores(last, edge, own), allowed)
            recorded.append((states[-1].key, pred, heads.terminate(last, edge, own)))
        return Execution(*map(torch.stack, zip(*recorded, strict=True)))

    def _edges(self, edge_index: Tensor, edge_weight: Tensor, num_nodes: int) -> EdgeList:
        loops = torch.arange(num_nodes, device=edge_index.device)
        weight = edge_weight.reshape(-1)
        feature = {"weight": weight, "one": torch.ones_like(weight)}
        features = torch.stack([feature[kind] for kind in self.kinds], dim=-1)
        zeros = features.new_zeros(num_nodes, len(self.kinds))
        return EdgeList(
            receivers=torch.cat([edge_index[1], loops]),
            senders=torch.cat([edge_index[0], loops]),
            features=torch.cat([features, zeros]).to(torch.float32),
            num_nodes=num_nodes,
        )

    def _start(self, algorithm: Algorithm, num_nodes: int, source: int, infinity: float) -> State:
        key = np.array(algorithm.initial_key(source, num_nodes))
        key = np.where(np.isinf(key), infinity, key / algorithm.unit(num_nodes))
        device = next(self.parameters()).device
        key = torch.as_tensor(key, dtype=torch.float32, device=device)
        return FRAMEWORKS[algorithm.framework.name].start(key, source)
