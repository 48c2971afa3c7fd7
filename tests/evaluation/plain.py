"""All metrics of one graph by simple loops in plain Python, from the page that defines them.

Traces come from the replay that the engines are tested against; nothing here knows of
`algotransfer.evaluation`.
"""

import itertools
import math

import numpy as np
from algorithms import oracles

COST = {"bfs": None, "dfs": None, "prim": "tree"}  # others: path


class Plain:
    """One graph, its true execution, and a given one: key, pointer, chosen, stop by step."""

    def __init__(self, name, graph, key, pointer, chosen=None, stop=None):
        self.name, self.rule, self.n = name, oracles.RULES[name], graph.num_nodes
        self.source = int(graph.source)
        self.around = oracles.neighbours(graph)
        self.hop = oracles.hops(graph)
        replay = oracles.Replay(name, graph)
        self.true_key, self.true_pred, self.visited = replay.arrays()
        self.length = replay.length
        self.key, self.pointer, self.chosen, self.stop = key, pointer, chosen, stop
        self.reached = [v for v in range(self.n) if self.true_pred[-1][v] >= 0]

    def seen(self, key):
        """A true key as the network sees it."""
        if math.isinf(key):
            finite = [float(k) for k in self.true_key[-1] if math.isfinite(k)]
            stand_in = {"prim": 2.0, "dfs": self.n + 1.0}
            key = stand_in.get(self.name, np.float32(1) + np.float32(max([*finite, 0.0])))
        return float(key) / (self.n if self.name == "dfs" else 1)

    def key_error(self, given, true):
        if self.name == "bfs":
            return float(given == true)
        error = (float(given) - self.seen(true)) ** 2
        return math.inf if math.isnan(error) else error

    def teacher_forced(self):
        values = self.sequential() if self.rule.sequential else self.parallel()
        first = next((t + 1 for t, logit in enumerate(self.stop) if logit > 0), self.n)
        values["term"] = 1 - abs(first - self.length) / self.length
        return values

    def sequential(self):
        wrong_next, key, pred, picked = [], [], [], []
        for t in range(self.length):
            before, after = self.visited[t], self.visited[t + 1]
            (node,) = [v for v in range(self.n) if after[v] and not before[v]]
            queue = [v for v in range(self.n) if self.true_pred[t][v] >= 0 and not before[v]]
            best = (min if self.rule.smaller else max)(self.true_key[t][v] for v in queue)
            choice = self.chosen[t]
            wrong_next.append(choice not in [v for v in queue if self.true_key[t][v] == best])
            key.append(self.key_error(self.key[t][node], self.true_key[t + 1][node]))
            pred.append(self.pointer[t][node] != self.true_pred[t + 1][node])
            picked.append(self.key_error(self.key[t][choice], self.true_key[-1][choice]))
        answer = [
            self.pointer[list(self.chosen).index(v)][v] if v in self.chosen else v
            for v in range(self.n)
        ]
        return {
            "next": mean(wrong_next),
            "key": mean(key),
            "pred": mean(pred),
            "key_picked": mean(picked),
            **self.of_answer(answer),
        }

    def parallel(self):
        keys, preds = [], []
        for t in range(1, self.length + 1):
            now = [v for v in range(self.n) if self.true_key[t][v] != self.rule.unreached]
            keys.append(
                mean([self.key_error(self.key[t - 1][v], self.true_key[t][v]) for v in now])
            )
            preds.append(mean([self.pointer[t - 1][v] != self.true_pred[t][v] for v in now]))
        last = self.at_last_step()
        values = {"key": mean(keys), "key_last": last["key"]}
        if self.name != "bfs":
            values |= {"pred": mean(preds), "pred_last": last["pred"]}
            values |= self.of_answer(self.pointer[self.length - 1])
        return values

    def at_last_step(self):
        t = self.length - 1
        wrong = [self.pointer[t][v] != self.true_pred[-1][v] for v in self.reached]
        key = [self.key_error(self.key[t][v], self.true_key[-1][v]) for v in self.reached]
        return {"key": mean(key), "pred": mean(wrong)}

    def no_algorithm(self):
        values = self.at_last_step()
        if self.name == "bfs":
            return {"key": values["key"]}
        return values | self.of_answer(self.pointer[self.length - 1])

    def path(self, pointer, node):
        """The nodes from the source to a node along its pointers, or None."""
        path = [node]
        while path[-1] != self.source:
            if len(path) > self.n:
                return None
            path.append(int(pointer[path[-1]]))
        return path[::-1]

    def of_answer(self, pointer):
        paths = {v: self.path(pointer, v) for v in self.reached}
        there = [v for v in self.reached if paths[v] is not None]
        tree = len(there) == len(self.reached) and pointer[self.source] == self.source
        values = {
            "no_path": 1 - len(there) / len(self.reached),
            "tree": float(tree),
            "exact": float(all(pointer[v] == self.true_pred[-1][v] for v in self.reached)),
        }
        true = [v if pred < 0 else pred for v, pred in enumerate(self.true_pred[-1])]
        values["micro_f1"] = mean([pointer[v] == true[v] for v in range(self.n)])
        others = [v for v in self.reached if v != self.source]
        cost = COST.get(self.name, "path")
        values["worse"] = self.share_of_worse(pointer, paths, cost)
        if cost == "path":
            values["cost"] = mean(
                [self.path_cost(paths[v]) for v in there if v != self.source], math.nan
            )
        elif cost == "tree":
            values["cost"] = math.nan
            if tree and others:
                weight = sum(float(self.around[v][pointer[v]]) for v in others)
                values["cost"] = weight / sum(float(self.true_key[-1][v]) for v in others)
        return values

    def share_of_worse(self, pointer, paths, cost):
        key, pred = self.true_key[-1], self.true_pred[-1]
        wrong = [v for v in self.reached if pointer[v] != pred[v]]
        if cost == "path":
            wrong = [v for v in wrong if paths[v] is None or not self.is_as_good(pointer, v)]
        if cost == "tree":
            inner = [v for v in self.reached if v != self.source]
            whole = pointer[self.source] == self.source and None not in paths.values()
            if whole and sum(self.around[v][pointer[v]] for v in inner) <= (1 + 1e-6) * sum(
                key[v] for v in inner
            ):
                wrong = []
        return len(wrong) / len(self.reached)

    def is_as_good(self, pointer, node):
        key = self.true_key[-1]
        if node == self.source:
            return False  # it has a predecessor other than itself
        through = self.rule.candidate(
            np.float32(key[pointer[node]]), self.around[node][pointer[node]]
        )
        return bool(np.isclose(through, key[node], rtol=1e-6, atol=0))

    def path_cost(self, path):
        key = np.float32(self.rule.source_key(self.n))
        for u, v in itertools.pairwise(path):
            key = self.rule.candidate(key, self.around[u][v])
        ours, best = float(key), float(self.true_key[-1][path[-1]])
        return ours / best if self.rule.smaller else best / ours


def mean(values, empty=None):
    return sum(map(float, values)) / len(values) if values else empty
