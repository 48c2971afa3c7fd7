"use strict";
// The state of the page, and what algorithms and networks answer on its graph.

// Milliseconds of the network at the start and after an edit, before the rest, of a piece of the rest.
const [START, FIRST_SLICE, PAUSE, SLICE] = [1500, 120, 40, 50];

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const algorithms = data.algorithms.map((algorithm) => new Algorithm(algorithm));
const models = data.models.map((model) => new Model(model));
const now = { step: 0, choice: 0, node: data.graph.source, edge: null, keys: false, past: false, halt: data.halt, blind: data.blind, timer: null };
let graph = { ...data.graph, places: placeNodes(data.graph) };
let short = graph.names.map(shortened);
let truths = [], networks = [], jobs = [], later = null;

const truthAt = () => truths[models.length ? 0 : now.choice];
const networkAt = () => networks[now.choice];
const endOf = (execution) => (now.past ? last(execution) : execution.end ?? last(execution));
const lastStep = () => Math.max(endOf(truthAt()), networkAt() ? endOf(networkAt()) : 0);
const at = (execution, step) => Math.min(step, endOf(execution));
const name = (v) => (v < 0 ? "–" : short[v]);

// ---- Answers

/** Run the algorithms and the chosen network on the present graph; the others follow a bit later. */
function answer(slice = FIRST_SLICE) {
  const began = performance.now();
  short = graph.names.map(shortened);
  now.node = Math.min(now.node, graph.names.length - 1);
  truths = algorithms.map((algorithm) => ({ ...algorithm, algorithm, ...recordTruth(algorithm, graph) }));
  for (const truth of truths) truth.range = keyRange(truth);
  [jobs, networks] = [models.map(() => null), models.map(() => null)];
  if (models.length) begin(now.choice, slice);
  panels.forEach((panel) => panel.load(graph));
  fillNodes();
  drawChoice();
  draw();
  document.body.dataset.answered = (performance.now() - began).toFixed(1);
  clearTimeout(later);
  later = setTimeout(proceed, PAUSE);
}

/** Run a network as far as an edit may take; large graphs go on in `proceed`. */
function begin(index, slice = FIRST_SLICE) {
  jobs[index] ??= startJob(models[index]);
  if (!networks[index]) runFor(jobs[index], slice);
  networks[index] ??= describe(jobs[index]);
}

/** Run networks for a moment: the chosen one, its steps past the end, then the others. */
function proceed() {
  const order = models.length ? [now.choice, ...models.keys()] : [];
  const index = order.find((i) => !networks[i]?.complete);
  if (index === undefined) return;
  jobs[index] ??= startJob(models[index]);
  if (runFor(jobs[index], SLICE)) {
    networks[index] = describe(jobs[index]);
    drawChoice();
    draw();
  } else if (index === now.choice && networks[index]?.running) $("sentence").textContent = aboutRunning(jobs[index]);
  later = setTimeout(proceed);
}

/** An execution that is under way: until its answer is read, and then past its end. */
function startJob(model) {
  const count = graph.names.length, rule = haltingRule(model);
  const run = model.network ? new FreeRun(model, graph, now.blind) : recordedRun(model);
  const told = answerStep(rule, model, [], last(truths[0]), count, now.blind);
  return { model, run, rule, goal: rule === "told" ? told : Math.max(count, model.horizon ?? 0), end: null, complete: false };
}

/** The chosen rule, or the usual one of a model. */
function haltingRule(model) {
  const rule = now.halt ?? (now.blind ? model.blindHalt : "told");
  return model.haltingRules.includes(rule) ? rule : "told";
}

/** Run for some milliseconds, at least a step; return whether the answer or the last step is there. */
function runFor(job, milliseconds) {
  const { model, run } = job, until = performance.now() + milliseconds, length = last(truths[0]), count = graph.names.length;
  const goal = model.network ? job.goal : run.steps.length;
  while (run.steps.length < goal && performance.now() < until) run.extend(run.steps.length + 1);
  if (run.steps.length < goal) return false;
  if (job.end !== null) job.complete = true;
  else job.end = Math.min(answerStep(job.rule, model, run.steps, length, count, now.blind), run.steps.length);
  job.goal = Math.max(goal, 2 * length, length + 10, count);
  return true;
}

function recordedRun(model) {
  const known = (row) => row.map(read), { start, steps, ...more } = model.recorded;
  return { model, graph, ...more, start: known(start), infinity: [model.recorded.infinity],
    steps: steps.map((step) => ({ ...step, key: known(step.key), probability: step.probability && known(step.probability) })) };
}

function aboutRunning({ run, goal }) {
  return `The network is running: step ${run.steps.length} of ${goal} …`;
}

/** Compare a network's execution, as far as it is known, with the algorithm's. */
function describe(job) {
  const { model, run, complete } = job, running = job.end === null, end = job.end ?? run.steps.length;
  const truth = truths[0], { algorithm } = truth, execution = { ...recordRun(run), end };
  const infinity = run.infinity[run.infinity.length - 1] * run.unit, layout = new Layout(graph);
  const waiting = { step: null, node: null, sentence: aboutRunning(job) };
  return {
    ...execution, model, run, infinity, running, complete,
    divergence: running ? waiting : findDivergence(algorithm, graph, truth, execution, short),
    answers: algorithm.predicts && !running ? countAnswers(algorithm, graph, layout, truth, execution.pred[end]) : null,
    errors: running ? {} : errorsByStep(algorithm, truth, execution, infinity, run.unit),
    right: execution.chosen && rightChoices(truth, execution),
  };
}

/** The smallest and largest finite key, between which colours are spread. */
function keyRange(truth) {
  let [low, high] = [Infinity, -Infinity];
  for (const row of truth.key) for (const key of row) if (Number.isFinite(key)) { low = Math.min(low, key); high = Math.max(high, key); }
  if (low > high) [low, high] = [0, 1];
  return [low, high > low ? high : low + 1];
}
