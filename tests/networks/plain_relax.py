"""The relaxation executor in plain NumPy: loops over nodes and neighbours, all in float64."""

import numpy as np


def coefficient(theta: float) -> float:
    return theta * max(0.0, abs(theta) - 0.1)


def plain_step(theta, direction, selections, graph, kind, key, visited=None):
    """One step of a network whose direction is decided: new keys, pointer scores, next logits.

    `selections` are dictionaries of `choice`, `gain`, `unvisited` and `settled`.
    """
    n = graph.num_nodes
    a = [coefficient(t) for t in theta]
    scores, new_key = np.full((n, n), np.nan), np.zeros(n)
    for i in range(n):
        candidates = {}
        for j, (w,) in graph.senders(i, (kind,)):
            x = key[j]
            change = a[0] + a[1] * x + a[2] * w + a[3] * x * (w - 1) + a[4] * max(0.0, x - w)
            candidates[j] = x if i == j else x + change
        high, low = max(candidates.values()), min(candidates.values())
        spread = high - low + 0.1 * max(high, -low) + 1e-20
        better = {j: direction * (c - key[i]) / spread for j, c in candidates.items()}
        total = dict.fromkeys(candidates, 0.0)
        for one in selections:
            late = {
                j: 0.0 if visited is None else np.exp(one["unvisited"]) * (1 - visited[j])
                for j in candidates
            }
            others = [j for j in candidates if j != i]
            score = {j: np.exp(one["gain"]) * better[j] - late[j] for j in others}
            best = max(score.values(), default=0.0)
            margin = max((1e7 * better[j] - late[j] for j in others), default=0.0)
            stay = np.clip(-margin, -10, 10) - 5
            if visited is not None:
                stay += np.exp(one["settled"]) * visited[i]
            total[i] += stay
            for j in others:
                total[j] += score[j] - best
        for j, score in total.items():
            scores[i, j] = score
        pointer = max(sorted(total), key=lambda j: total[j])
        new_key[i] = candidates[pointer]
    logits = np.zeros(n)
    if visited is not None:
        for one in selections:
            of_key, of_visited, bias = one["choice"]
            logits += np.exp(of_key) * np.sign(direction) * new_key + of_visited * visited + bias
    return new_key, scores, logits
