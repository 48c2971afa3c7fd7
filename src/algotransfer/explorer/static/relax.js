"use strict";
// The relaxation executor: a learned candidate for every edge, and a choice of the best one.
// Formulas and names of weights are those of networks/relax.py; every operation rounds to float32.

const DEAD_ZONE = 0.1, MIN_DIRECTION = 0.02, KEEP_GAIN = 1e7, TIE_MARGIN = 5;

class Relax {
  constructor(weights, algorithms) {
    this.weights = weights;
    this.algorithms = algorithms;
    this.kinds = algorithms.map((algorithm) => edgeKinds([algorithm])[0]);
    this.selections = Array.from({ length: weights.count("processors") }, (_, p) => {
      const get = (name) => weights.get(`processors.${p}.${name}`).data;
      return { choice: get("choice"), gain: round(Math.exp(get("gain")[0])), unvisited: round(Math.exp(get("unvisited")[0])), settled: round(Math.exp(get("settled")[0])) };
    });
    this.specialists = algorithms.map((_, task) => {
      const get = (name) => weights.get(`specialists.${task}.${name}`);
      const theta = get("relaxation.theta").data, direction = get("relaxation.direction").data[0];
      const terms = theta.map((t) => t * round(Math.max(round(Math.abs(t) - round(DEAD_ZONE)), 0)));
      return { terms, direction, decided: Math.abs(direction) > MIN_DIRECTION, bit: get("bit").data, first: get("stop.first"), second: get("stop.second").data };
    });
  }

  start() {
    return null;
  }

  process(features, memory, layout) {
    return { memory: null, latents: features.map((x, task) => this.step(task, x, layout)) };
  }

  /** One step of an algorithm; its latent keeps the features, the pointer scores and y. */
  step(task, x, layout) {
    const { direction, decided, bit } = this.specialists[task], { sequential, binary } = this.algorithms[task];
    const count = layout.count, last = x.columns - 1;
    const own = Float32Array.from({ length: count }, (_, v) => x.data[v * x.columns + last]);
    const visited = sequential ? Float32Array.from({ length: count }, (_, v) => x.data[v * x.columns]) : null;
    const candidates = this.candidates(task, own, layout);
    const scores = this.selections.map((selection) => selectionScores(selection, candidates, direction, own, visited, layout))
      .reduce((sum, more) => sum.map((score, e) => score + more[e]));
    const key = decided ? valuesAtBest(layout, scores, candidates) : softValues(layout, scores, candidates);
    if (!sequential) return { x, scores, y: new Matrix(count, 1, binary ? key.map((k) => round(bit[0] * k) + bit[1]) : key) };
    const y = new Matrix(count, 2);
    for (let v = 0; v < count; v++) {
      const logits = this.selections.map(({ choice }) => round(round(round(round(Math.exp(choice[0])) * Math.sign(direction)) * key[v]) + round(choice[1] * visited[v])) + choice[2]);
      y.data[2 * v] = logits.reduce((sum, logit) => round(sum + round(logit)));
      y.data[2 * v + 1] = key[v];
    }
    return { x, scores, y };
  }

  candidates(task, key, layout) {
    const [one, same, along, times, over] = this.specialists[task].terms, weights = layout.features[this.kinds[task]];
    const result = new Float32Array(layout.sender.length);
    for (let i = 0; i < layout.count; i++) {
      for (let e = layout.first[i]; e < layout.first[i + 1]; e++) {
        const x = key[layout.sender[e]], w = weights[e];
        let change = one;
        change = round(change + round(same * x));
        change = round(change + round(along * w));
        change = round(change + round(times * round(x * round(w - 1))));
        change = round(change + round(over * Math.max(round(x - w), 0)));
        result[e] = layout.sender[e] === i ? x : round(x + change);
      }
    }
    return result;
  }

  decode(task, { y }) {
    return y;
  }

  scores(task, { scores }) {
    return scores;
  }

  terminate(task, { x, y }) {
    const { first, second } = this.specialists[task], last = x.columns - 1, width = first.columns;
    const units = new Float64Array(width);
    for (let v = 0; v < x.rows; v++) {
      const key = y.data[v * y.columns + y.columns - 1];
      const inputs = [...x.row(v), key, Math.abs(round(key - x.data[v * x.columns + last])), 1];
      for (let c = 0; c < width; c++) {
        const unit = inputs.reduce((sum, input, k) => sum + input * first.data[k * width + c], 0);
        if (unit > units[c]) units[c] = unit;
      }
    }
    return units.reduce((sum, unit, c) => sum + unit * second[c], 0);
  }
}

/** Pointer scores of a `Selection`: candidates in units of their spread, and staying as it is. */
function selectionScores(selection, candidates, direction, own, visited, layout) {
  const result = new Float32Array(candidates.length);
  for (let i = 0; i < layout.count; i++) {
    const start = layout.first[i], end = layout.first[i + 1];
    let high = -Infinity, low = Infinity, bestKept = -Infinity, bestScore = -Infinity, loop = start;
    for (let e = start; e < end; e++) {
      high = Math.max(high, candidates[e]);
      low = Math.min(low, candidates[e]);
    }
    const spread = round(round(round(high - low) + round(round(0.1) * Math.max(high, -low))) + round(1e-20));
    for (let e = start; e < end; e++) {
      const j = layout.sender[e];
      const better = round(round(direction * round(candidates[e] - own[i])) / spread);
      const penalty = visited ? round(selection.unvisited * round(1 - visited[j])) : 0;
      result[e] = round(round(selection.gain * better) - penalty);
      if (j === i) { loop = e; continue; }
      bestKept = Math.max(bestKept, round(round(KEEP_GAIN * better) - penalty));
      bestScore = Math.max(bestScore, result[e]);
    }
    if (bestKept === -Infinity) bestKept = bestScore = 0;
    for (let e = start; e < end; e++) result[e] = round(result[e] - bestScore);
    let stay = round(Math.min(Math.max(-bestKept, -2 * TIE_MARGIN), 2 * TIE_MARGIN) - TIE_MARGIN);
    if (visited) stay = round(stay + round(selection.settled * visited[i]));
    result[loop] = stay;
  }
  return result;
}

/** The value on the edge with the best score of every node; ties take the lowest sender. */
function valuesAtBest(layout, scores, values) {
  return Float32Array.from({ length: layout.count }, (_, i) => {
    let best = layout.first[i];
    for (let e = best + 1; e < layout.first[i + 1]; e++) if (scores[e] > scores[best]) best = e;
    return values[best];
  });
}

/** The mean of the values under a softmax of the scores, before a direction is decided. */
function softValues(layout, scores, values) {
  return Float32Array.from({ length: layout.count }, (_, i) => {
    let top = -Infinity, sum = 0, share = 0;
    for (let e = layout.first[i]; e < layout.first[i + 1]; e++) top = Math.max(top, scores[e]);
    for (let e = layout.first[i]; e < layout.first[i + 1]; e++) {
      const part = Math.exp(scores[e] - top);
      share += part;
      sum += part * values[e];
    }
    return sum / share;
  });
}
