"use strict";
// Compare a network's execution with the exact one: first divergence, errors by step, final answer.

const last = (execution) => execution.key.length - 1;
const clip = (execution, step) => Math.min(step, last(execution));
const isReached = (execution, step, v) => execution.state[step][v] !== "0";

/** Whether each choice is a queued node with the true best key of its step. */
function rightChoices(truth, network) {
  const both = Math.min(last(truth), network.chosen.length);
  return Array.from({ length: both }, (_, t) => {
    const mine = network.chosen[t], theirs = truth.chosen[t];
    return mine >= 0 && truth.state[t][mine] === "1" && truth.key[t][mine] === truth.key[t][theirs];
  });
}

/**
 * Errors after each step, over the nodes that the algorithm has done by then: visited ones if it is
 * sequential, else reached ones. Keys are divided by `unit`.
 */
function errorsByStep(algorithm, truth, network, infinity, unit) {
  const curves = { key: [], pred: [] }, done = algorithm.sequential ? "2" : "1";
  for (let step = 1; step <= Math.max(last(truth), last(network)); step++) {
    const t = clip(truth, step), s = clip(network, step);
    let apart = 0, other = 0, count = 0;
    for (let v = 0; v < truth.key[t].length; v++) {
      if (truth.state[t][v] !== done) continue;
      const wanted = truth.key[t][v] === Infinity ? infinity : truth.key[t][v];
      const mine = network.raw[s][v]; // also where the network does not hold a key
      apart += algorithm.binary ? Number(mine !== wanted) : ((mine - wanted) / unit) ** 2;
      other += network.pred[s][v] !== truth.pred[t][v];
      count++;
    }
    curves.key.push(apart / count);
    curves.pred.push(other / count);
  }
  if (!algorithm.predicts) delete curves.pred;
  if (network.chosen) {
    let wrong = 0;
    curves.next = rightChoices(truth, network).map((right, t) => (wrong += !right) / (t + 1));
  }
  return curves;
}

/** Count reached nodes with another predecessor than the algorithm's, worse ones, and all. */
function countAnswers(algorithm, graph, layout, truth, pred) {
  const end = last(truth), wanted = truth.pred[end], key = truth.key[end];
  const reached = Array.from(wanted.keys()).filter((v) => wanted[v] >= 0);
  const other = reached.filter((v) => pred[v] !== wanted[v]);
  const pointer = Array.from(pred, (to, v) => (to < 0 ? v : to));
  const arrives = arriving(pointer, graph.source);
  const close = (a, b) => a === b || Math.abs(a - b) <= 1e-6 * Math.abs(b);
  let worse = other;
  if (algorithm.cost === "path") {
    worse = other.filter((v) => {
      const through = pointer[v] === v ? NaN : algorithm.relax(key[pointer[v]] ?? algorithm.unreached, weightBetween(layout, v, pointer[v]));
      return !(arrives[v] && (close(through, key[v]) || algorithm.better(through, key[v])));
    });
  } else if (algorithm.cost === "tree") {
    const inner = reached.filter((v) => wanted[v] !== v);
    const weigh = (to) => inner.reduce((sum, v) => sum + (to[v] === v ? Infinity : weightBetween(layout, v, to[v])), 0);
    if (reached.every((v) => arrives[v]) && weigh(pointer) <= weigh(wanted) * (1 + 1e-6)) worse = [];
  }
  return { wrong: other.length, worse: worse.length, reached: reached.length };
}

/** Whether the pointers of each node lead to the source. */
function arriving(pointer, source) {
  return pointer.map((_, v) => {
    for (let steps = 0; steps <= pointer.length && v !== source; steps++) v = pointer[v];
    return v === source;
  });
}

function weightBetween(layout, i, j) {
  for (let e = layout.first[i]; e < layout.first[i + 1]; e++) if (layout.sender[e] === j) return layout.features.weight[e];
  return NaN;
}

/** The first step at which a network differs from the algorithm (null: never), in words. */
function findDivergence(algorithm, graph, truth, network, names) {
  const found = algorithm.sequential ? sequentialDivergence(algorithm, graph, truth, network, names)
    : parallelDivergence(algorithm, truth, network, names);
  return found ?? { step: null, node: null, sentence: "The network follows the algorithm to its last step." };
}

/**
 * Follow the network's choices as long as the algorithm could have made them too. Any of several
 * best nodes may be next; the network is then compared with the algorithm continued from its choice.
 */
function sequentialDivergence(algorithm, graph, truth, network, names) {
  if (algorithm.trace) return tracedDivergence(truth, network, names);
  const layout = new Layout(graph), end = Math.min(network.end ?? last(network), last(network));
  const source = new Int32Array(layout.count).fill(-1);
  source[graph.source] = graph.source;
  let state = { key: algorithm.initialKeys(graph), pred: source, visited: new Uint8Array(layout.count) };
  for (let step = 1; step <= end; step++) {
    const node = network.chosen[step - 1], best = bestQueued(algorithm, state);
    if (best < 0 || node < 0) break;
    const { key, pred } = state, queued = key[node] !== algorithm.unreached && !state.visited[node];
    if (!queued || key[node] !== key[best]) {
      const [given, wanted] = [node, best].map((v) => network.probability[step - 1][v].toFixed(2));
      return { step, node, sentence: `step ${step}: chose ${names[node]} (p ${given}) instead of ${names[best]} (p ${wanted})` };
    }
    const pointer = network.pred[step][node];
    if (network.stop && pointer !== pred[node] && pointer !== truth.pred[last(truth)][node]) {
      return wrongPointerSentence(step, node, pointer, pred[node], names);
    }
    state = visit(algorithm, layout, state, node);
  }
  const wanted = truth.pred[last(truth)], given = network.pred[end];
  const unlike = wanted.findIndex((to, v) => to >= 0 && given[v] !== to);
  return unlike < 0 ? null : wrongPointerSentence(end, unlike, given[unlike], wanted[unlike], names);
}

/** The first choice that differs from the trace of an algorithm that only Python can run. */
function tracedDivergence(truth, network, names) {
  const wrong = rightChoices(truth, network).indexOf(false);
  if (wrong < 0) return null;
  const [node, best] = [network.chosen[wrong], truth.chosen[wrong]];
  return { step: wrong + 1, node, sentence: `step ${wrong + 1}: chose ${names[node]} instead of ${names[best]}` };
}

function parallelDivergence(algorithm, truth, network, names) {
  const end = Math.min(network.end ?? last(network), last(network));
  for (let step = 1; step <= Math.max(last(truth), end); step++) {
    const t = clip(truth, step), s = Math.min(step, end);
    const differs = (v) => (algorithm.binary ? (network.key[s][v] ?? 0) !== (truth.key[t][v] ?? 0)
      : isReached(truth, t, v) && network.pred[s][v] !== truth.pred[t][v]);
    const unlike = names.map((_, v) => v).filter(differs);
    if (!unlike.length) continue;
    const [node, ...others] = unlike;
    const more = others.length ? ` (and ${others.length} more ${others.length > 1 ? "nodes" : "node"})` : "";
    if (!algorithm.binary) return wrongPointerSentence(step, node, network.pred[s][node], truth.pred[t][node], names, more);
    const said = network.key[s][node] > 0 ? "reached" : "not reached";
    return { step, node, sentence: `step ${step}: says that ${names[node]} is ${said}${more}` };
  }
  return null;
}

function wrongPointerSentence(step, node, mine, theirs, names, more = "") {
  const name = (other) => (other < 0 ? "nothing" : other === node ? "itself" : names[other]);
  return { step, node, sentence: `step ${step}: ${names[node]} points at ${name(mine)} instead of ${name(theirs)}${more}` };
}
