"use strict";
// Free-running executions of networks: what they are told, every step, and when they are read.

const EXECUTORS = { ne: NE, "ne++": NEPlusPlus, relax: Relax };
const PATIENCE = 5; // steps without a changed pointer after which an answer counts as settled

/** A trained network with its tasks; the target is the last one. */
class Model {
  constructor(data) {
    Object.assign(this, data);
    this.tasks = data.tasks.map((task) => ({ ...task, algorithm: new Algorithm(task.algorithm) }));
    this.target = this.tasks[this.tasks.length - 1];
    const algorithms = this.tasks.map((task) => task.algorithm);
    this.network = data.recorded ? null : new EXECUTORS[data.kind](new Weights(data.arrays), algorithms);
  }

  /** Names of the halting rules that can be chosen. */
  get haltingRules() {
    if (!this.target.toldSteps) return this.target.algorithm.sequential ? ["told"] : ["told", "termination"];
    return this.horizon ? ["told", "horizon", "settled"] : ["told", "settled"];
  }
}

/**
 * Rescale weights outside the training range by a power of two, where the answer stays the same.
 * As in evaluation/training_range.py.
 *
 * @returns {{graph: object, factor: number, keyFactor: number, outside: boolean}}
 */
function fitGraph(model, graph) {
  const algorithms = model.tasks.map((task) => task.algorithm).filter((algorithm) => algorithm.weighted);
  const weights = graph.edges.map(([, , w]) => w).sort((a, b) => a - b);
  const same = { graph, factor: 1, keyFactor: 1, outside: false };
  if (!model.trained || !algorithms.length || !weights.length) return same;
  const [low, high] = model.trained, smallest = weights[0], largest = weights[weights.length - 1];
  if (smallest >= low && largest <= high) return same;
  const outside = largest * low > smallest * high; // the range is too wide for any factor
  if (!(smallest > 0) || algorithms.some(({ scaling }) => !scaling)) return { ...same, outside: true };
  const half = weights.length / 2, median = (weights[Math.floor(half)] + weights[Math.ceil(half) - 1]) / 2;
  const factor = 2 ** roundToEven(Math.log2((low + high) / 2 / median));
  const edges = graph.edges.map(([u, v, w]) => [u, v, round(w * factor)]);
  return { graph: { ...graph, edges }, factor, outside, keyFactor: model.target.algorithm.scaling === "linear" ? factor : 1 };
}

function roundToEven(x) {
  return Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
}

/** Keys along the paths with the fewest edges. */
function breadthFirstKeys(algorithm, graph, layout) {
  const key = algorithm.initialKeys(graph), depth = new Int32Array(layout.count).fill(-1);
  depth[graph.source] = 0;
  for (let level = 1, found = true; found; level++) {
    found = false;
    for (let v = 0; v < layout.count; v++) {
      if (depth[v] >= 0) continue;
      for (let e = layout.first[v]; e < layout.first[v + 1]; e++) {
        const u = layout.sender[e];
        if (depth[u] !== level - 1) continue;
        key[v] = algorithm.relax(key[u], layout.features.weight[e]);
        depth[v] = level;
        found = true;
        break;
      }
    }
  }
  return key;
}

/** What stands for ∞ in a task, in the units of the network. */
function chooseInfinity(model, task, graph, layout, blind) {
  const { algorithm, constant } = task, unit = round(algorithm.unit(layout.count));
  if (blind) {
    const key = breadthFirstKeys(algorithm, graph, layout);
    const bound = round(Math.max(algorithm.standIn(key), largestPlusOne(key)) / unit);
    return model.infinity === "instance" ? bound : Math.max(bound, round(constant));
  }
  if (model.infinity !== "instance") return round(round(model.infinity) / unit);
  const { key } = runAlgorithm(algorithm, graph, layout);
  return round(algorithm.standIn(key[key.length - 1]) / unit);
}

/** An execution on the network's own outputs, which can be continued step by step. */
class FreeRun {
  constructor(model, graph, blind = false) {
    const fitted = fitGraph(model, graph);
    this.model = model;
    this.graph = graph;
    this.layout = new Layout(fitted.graph);
    this.weightFactor = fitted.factor;
    this.outside = fitted.outside;
    this.infinity = model.tasks.map((task) => chooseInfinity(model, task, fitted.graph, this.layout, blind));
    /** The key that is 1 for the network. */
    this.unit = model.target.algorithm.unit(this.layout.count) / fitted.keyFactor;
    this.states = model.tasks.map(({ algorithm }, task) => startState(algorithm, graph, this.infinity[task]));
    this.memory = model.network.start(this.layout);
    this.start = this.states[this.states.length - 1].key;
    this.steps = []; // {key, pointer, chosen, visited, reached, probability, stop}
  }

  /** Run until that many steps are recorded. */
  extend(count) {
    while (this.steps.length < count) this.steps.push(this.step());
    return this;
  }

  step() {
    const { model: { network, tasks }, layout } = this, before = this.states;
    const features = tasks.map(({ algorithm }, task) => nodeFeatures(algorithm, before[task]));
    const { memory, latents } = network.process(features, this.memory, layout);
    this.memory = memory;
    const outputs = latents.map((latent, task) => network.decode(task, latent));
    this.states = tasks.map(({ algorithm, carriesAll }, task) => advance(algorithm, layout, before[task], outputs[task], carriesAll));
    const last = tasks.length - 1, { algorithm, carriesAll, toldSteps } = tasks[last];
    const now = before[last], then = this.states[last];
    let allowed = null;
    if (algorithm.sequential && !carriesAll) {
      allowed = layout.reach(now.visited);
      allowed[this.graph.source] = 1;
    }
    return {
      key: then.key,
      pointer: layout.bestSenders(network.scores(last, latents[last], layout), allowed),
      chosen: algorithm.sequential ? then.visited.findIndex((mark, v) => mark !== now.visited[v]) : null,
      visited: then.visited,
      reached: algorithm.sequential ? layout.reach(then.visited) : then.visited,
      probability: algorithm.sequential ? softmax(outputs[last], now.visited) : null,
      stop: toldSteps ? null : network.terminate(last, latents[last], layout),
    };
  }
}

function startState(algorithm, graph, infinity) {
  const unit = round(algorithm.unit(graph.names.length));
  const key = algorithm.initialKeys(graph).map((k) => (Number.isFinite(k) ? k / unit : infinity));
  const visited = new Uint8Array(key.length);
  if (!algorithm.sequential) visited[graph.source] = 1; // reached so far
  return { key, visited };
}

function nodeFeatures(algorithm, { key, visited }) {
  if (!algorithm.sequential) return new Matrix(key.length, 1, key);
  const x = new Matrix(key.length, 2);
  for (let v = 0; v < key.length; v++) x.data.set([visited[v], key[v]], 2 * v);
  return x;
}

/** Return the next state from the network's outputs y. */
function advance(algorithm, layout, state, y, carriesAll) {
  const width = y.columns, column = (c) => Float32Array.from({ length: layout.count }, (_, v) => y.data[v * width + c]);
  if (!algorithm.sequential) {
    const key = algorithm.binary ? column(0).map((logit) => Number(logit > 0)) : column(0);
    if (carriesAll) return { key, visited: state.visited };
    const reached = layout.reach(state.visited);
    return { key: key.map((k, v) => (reached[v] ? k : state.key[v])), visited: reached };
  }
  const chosen = indexOfBest(column(0), (v) => !state.visited[v]);
  if (chosen < 0) return state; // all nodes are visited
  const key = column(1), visited = state.visited.slice();
  visited[chosen] = 1;
  return { key: carriesAll ? key : state.key.map((k, v) => (v === chosen ? key[v] : k)), visited };
}

/** Probability of every node to be chosen. */
function softmax(y, visited) {
  const logits = Array.from(visited, (mark, v) => (mark ? -Infinity : y.data[v * y.columns]));
  const top = Math.max(...logits), shares = logits.map((logit) => Math.exp(logit - top));
  const sum = shares.reduce((a, b) => a + b, 0);
  return Float32Array.from(shares, (share) => share / sum);
}

/** After which step the answer is read, by a halting rule. */
function answerStep(rule, model, steps, length, count, blind) {
  const told = blind || (!model.target.toldSteps && model.target.algorithm.sequential) ? count : length;
  if (rule === "horizon") return model.horizon;
  if (rule === "termination") {
    const stop = steps.findIndex((step, t) => t < count && step.stop > 0);
    return stop < 0 ? count : stop + 1;
  }
  if (rule !== "settled") return told;
  let changed = 1;
  for (let t = 2; t <= Math.min(count, steps.length); t++) {
    const [before, now] = [steps[t - 2].pointer, steps[t - 1].pointer];
    if (now.some((to, v) => to !== before[v])) changed = t;
    if (t - changed >= PATIENCE) return t;
  }
  return count;
}

/**
 * Return an execution as the page draws it: keys in the algorithm's units (null where a node holds
 * none), predecessors (-1 for none), and a digit per node (0 unreached, 1 reached, 2 visited).
 */
function recordRun(run) {
  const { model, graph, unit, steps } = run, { algorithm, carriesAll } = model.target;
  const count = graph.names.length, { source } = graph, none = new Int32Array(count).fill(-1);
  none[source] = source;
  const chosenAt = new Map(); // the pointer of a node when it was chosen
  steps.forEach(({ chosen, pointer }) => { if (chosen >= 0 && chosen !== null) chosenAt.set(chosen, pointer[chosen]); });
  const isHeld = (step, v) => carriesAll || step.visited[v];
  const states = steps.map((step) => ({
    key: Array.from(step.key, (k, v) => (isHeld(step, v) ? k * unit : null)),
    pred: Int32Array.from(step.pointer, (to, v) => {
      if (!algorithm.predicts || !isHeld(step, v)) return -1;
      return algorithm.sequential && !carriesAll ? chosenAt.get(v) ?? v : to;
    }),
    state: Array.from(step.visited, (mark, v) => {
      if (algorithm.sequential) return mark ? 2 : step.reached[v];
      return carriesAll ? 1 : mark;
    }).join(""),
  }));
  const start = Array.from(run.start, (k, v) => (v === source ? k * unit : null));
  const first = { key: start, pred: none, state: start.map((k) => (k === null ? 0 : 1)).join("") };
  return recorded([first, ...states], {
    raw: [run.start, ...steps.map((step) => step.key)].map((row) => Array.from(row, (k) => k * unit)),
    chosen: algorithm.sequential ? steps.map((step) => step.chosen) : undefined,
    probability: algorithm.sequential ? steps.map((step) => step.probability) : undefined,
    stop: model.target.toldSteps ? undefined : steps.map((step) => 1 / (1 + Math.exp(-step.stop))),
  });
}

/** Return an exact execution as the page draws it. */
function recordTruth(algorithm, graph) {
  const trace = algorithm.trace ? knownTrace(algorithm.trace) : runAlgorithm(algorithm, graph);
  const states = trace.key.map((key, t) => ({
    key: Array.from(key, (k) => (k === algorithm.unreached ? null : k)),
    pred: trace.pred[t],
    state: Array.from(key, (k, v) => (trace.visited?.[t][v] ? 2 : k === algorithm.unreached ? 0 : 1)).join(""),
  }));
  return recorded(states, { chosen: trace.chosen ?? undefined });
}

/** A trace that Python has computed. */
function knownTrace({ key, pred, visited }) {
  const chosen = visited?.slice(1).map((row, t) => row.findIndex((mark, v) => mark && !visited[t][v]));
  return { key: key.map((row) => row.map(read)), pred, visited, chosen };
}

function recorded(states, more) {
  return { key: states.map((s) => s.key), pred: states.map((s) => s.pred), state: states.map((s) => s.state), ...more };
}
