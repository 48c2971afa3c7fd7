"use strict";
// The frameworks of the paper: exact executions of algorithms that are given as data.

const round = Math.fround;

const OPERATIONS = {
  add: (a, b) => a + b, sub: (a, b) => a - b, mul: (a, b) => a * b, div: (a, b) => a / b,
  min: Math.min, max: Math.max, neg: (a) => -a, abs: Math.abs, sign: Math.sign, exp: Math.exp,
  log: Math.log, sqrt: Math.sqrt, pow: (a, b) => a ** b, lt: (a, b) => Number(a < b),
  le: (a, b) => Number(a <= b), gt: (a, b) => Number(a > b), ge: (a, b) => Number(a >= b),
  eq: (a, b) => Number(a === b), ne: (a, b) => Number(a !== b), select: (which, no, yes) => (which ? yes : no),
};

/** Turn an expression such as ["add", "key", "weight"] into a function of key and weight. */
function compile(expression) {
  if (expression === "key") return (key) => key;
  if (expression === "weight") return (key, weight) => weight;
  if (!Array.isArray(expression)) { const value = read(expression); return () => value; }
  const [name, ...operands] = expression, operation = OPERATIONS[name];
  const [a, b, c] = operands.map(compile);
  if (c) return (key, weight) => round(operation(a(key, weight), b(key, weight), c(key, weight)));
  if (b) return (key, weight) => round(operation(a(key, weight), b(key, weight)));
  return (key, weight) => round(operation(a(key, weight)));
}

/** An algorithm: how it relaxes an edge, where it starts, and what networks see of it. */
class Algorithm {
  constructor(data) {
    Object.assign(this, data);
    this.relax = data.trace ? null : compile(data.relax);
    this.unreached = read(data.unreached);
    this.interval = data.interval.map(read);
  }

  /** Whether key `a` is strictly better than key `b`. */
  better(a, b) {
    return this.smaller ? a < b : a > b;
  }

  improves(candidate, key) {
    return this.better(candidate, key) && (!this.once || key === this.unreached);
  }

  /** Keys of step 0, ∞ included. */
  initialKeys(graph) {
    const key = new Float32Array(graph.names.length).fill(this.unreached);
    key[graph.source] = affine(this.sourceKey, key.length);
    return key;
  }

  /** The number that keys are divided by for networks. */
  unit(count) {
    return affine(this.unitOfKeys, count);
  }

  /** What stands for ∞ in a graph with these final keys, before division by the unit. */
  standIn(finalKeys) {
    return this.infinity === "largest" ? largestPlusOne(finalKeys) : round(affine(this.infinity, finalKeys.length));
  }

  /** Say why this algorithm cannot run on a graph; null if it can. */
  complaint(graph) {
    if (this.graphs === "undirected" && graph.directed) return `${this.title} needs an undirected graph.`;
    const [low, high] = this.interval;
    const bad = graph.edges.find(([, , w]) => !(Number.isFinite(w) && w <= high && (low === 0 ? w >= 2 ** -126 : w >= low)));
    if (!bad) return null;
    const wanted = [low === 0 ? "above 0" : low > -Infinity ? `of at least ${low}` : "", high < Infinity ? `at most ${high}` : ""];
    return `${this.title} needs finite weights ${wanted.filter(Boolean).join(" and ")}; `
      + `the edge between ${shortened(graph.names[bad[0]])} and ${shortened(graph.names[bad[1]])} has ${bad[2]}.`;
  }
}

/** Evaluate [constant, per node], or a constant that JSON cannot hold. */
function affine([constant, slope], count) {
  return read(constant) + (slope ? slope * count : 0);
}

function largestPlusOne(keys) {
  return round(1 + keys.reduce((most, key) => (Number.isFinite(key) && key > most ? key : most), 0));
}

/**
 * Run an algorithm exactly, in float32, and return every state.
 *
 * @returns {{key: Float32Array[], pred: Int32Array[], visited: Uint8Array[]|null, chosen: number[]|null}}
 */
function runAlgorithm(algorithm, graph, layout = new Layout(graph)) {
  const count = graph.names.length, pred = new Int32Array(count).fill(-1);
  pred[graph.source] = graph.source;
  const start = { key: algorithm.initialKeys(graph), pred };
  if (!algorithm.sequential) return runParallel(algorithm, layout, start);
  let state = { ...start, visited: new Uint8Array(count) };
  const states = [state], chosen = [];
  for (let node = bestQueued(algorithm, state); node >= 0; node = bestQueued(algorithm, state)) {
    state = visit(algorithm, layout, state, node);
    states.push(state);
    chosen.push(node);
  }
  return { key: states.map((s) => s.key), pred: states.map((s) => s.pred), visited: states.map((s) => s.visited), chosen };
}

function runParallel(algorithm, layout, start) {
  const states = [start], weights = layout.features.weight;
  for (let improved = true, step = 0; improved && step < layout.count; step++) {
    const { key, pred } = states[step], next = { key: key.slice(), pred: pred.slice() };
    improved = false;
    for (let v = 0; v < layout.count; v++) {
      let best = algorithm.unreached, neighbour = -1;
      for (let e = layout.first[v]; e < layout.first[v + 1]; e++) {
        const u = layout.sender[e];
        if (u === v || key[u] === algorithm.unreached) continue;
        const candidate = algorithm.relax(key[u], weights[e]);
        if (neighbour < 0 || algorithm.better(candidate, best)) [best, neighbour] = [candidate, u];
      }
      if (neighbour >= 0 && algorithm.improves(best, key[v])) {
        next.key[v] = best;
        next.pred[v] = neighbour;
        improved = true;
      }
    }
    states.push(next);
  }
  return { key: states.map((s) => s.key), pred: states.map((s) => s.pred), visited: null, chosen: null };
}

/** The best reached node that is not visited yet (ties: lowest index), or -1. */
function bestQueued(algorithm, { key, visited }) {
  let best = -1;
  for (let v = 0; v < key.length; v++) {
    if (visited[v] || key[v] === algorithm.unreached) continue;
    if (best < 0 || algorithm.better(key[v], key[best])) best = v;
  }
  return best;
}

/** Visit a node and relax its edges. */
function visit(algorithm, layout, state, node) {
  const key = state.key.slice(), pred = state.pred.slice(), visited = state.visited.slice();
  visited[node] = 1;
  for (const [v, weight] of layout.leaving[node]) {
    if (visited[v]) continue;
    const candidate = algorithm.relax(state.key[node], weight);
    if (!algorithm.improves(candidate, key[v])) continue;
    key[v] = candidate;
    pred[v] = node;
  }
  return { key, pred, visited };
}
