// Cases of comparison.js for test_engine.py, on the graphs of its page.

const graph = GRAPHS[3];
const layout = new Layout(graph);
const names = graph.names.map((name) => `v${name}`);
const FOLLOWS = "The network follows the algorithm to its last step.";

/** The algorithm itself in the role of a network that is taught by steps. */
function perfect(algorithm, on = graph, stop = true) {
  const truth = recordTruth(algorithm, on);
  const network = structuredClone(truth);
  network.raw = truth.key.map((row) => row.map((key) => (Number.isFinite(key ?? NaN) ? key : 5)));
  network.probability = truth.chosen?.map((node) => on.names.map((_, v) => (v === node ? 0.8 : 0.1)));
  if (stop) network.stop = truth.key.slice(1).map(() => 0.1);
  return [truth, network];
}

function say(algorithm, truth, network, on = graph) {
  return findDivergence(algorithm, on, truth, network, names).sentence;
}

function agreement(algorithm) {
  const [truth, network] = perfect(algorithm);
  const { wrong, worse } = countAnswers(algorithm, graph, layout, truth, network.pred.at(-1));
  const errors = Object.values(errorsByStep(algorithm, truth, network, 5, 1)).flat();
  return [say(algorithm, truth, network) === FOLLOWS, wrong, worse, errors.every((error) => error === 0)];
}

/** Pairs of what is found and what is right, for a sequential algorithm. */
function sequentialCases(algorithm) {
  const [truth, network] = perfect(algorithm);
  const swapped = structuredClone(network);
  const [a, b] = swapped.chosen.slice(4, 6);
  [swapped.chosen[4], swapped.chosen[5]] = [b, a];
  Object.assign(swapped.probability[4], { [b]: 0.48, [a]: 0.41 });

  const lost = structuredClone(network);
  const node = truth.chosen[3];
  lost.pred.slice(4).forEach((row) => { row[node] = node; });
  const { wrong, worse } = countAnswers(algorithm, graph, layout, truth, lost.pred.at(-1));

  const [, detour] = perfect(algorithm, graph, false);
  detour.pred.slice(2, -1).forEach((row) => { row[node] = node; });

  const edges = [1, 2, 3, 4, 5].map((v) => [0, v, 0.5]);
  const star = { names: [..."012345"], source: 0, edges };
  const [ends, backwards] = perfect(algorithm, star);
  backwards.chosen = [0, 5, 4, 3, 2, 1];
  backwards.pred.forEach((row) => row.fill(0));
  return [
    [say(algorithm, truth, swapped), `step 5: chose v${b} (p 0.48) instead of v${a} (p 0.41)`],
    [say(algorithm, truth, lost), `step 4: v${node} points at itself instead of v${truth.pred.at(-1)[node]}`],
    [wrong, 1],
    [worse, 1],
    [errorsByStep(algorithm, truth, lost, 5, 1).pred[3], 0.25],
    [say(algorithm, truth, detour), FOLLOWS],
    [say(algorithm, ends, backwards, star), FOLLOWS],
  ];
}

function lostPointers(algorithm) {
  const [truth, network] = perfect(algorithm);
  const some = names.map((_, v) => v).filter((v) => v !== graph.source && isReached(truth, 2, v));
  network.pred.slice(2).forEach((row) => some.slice(0, 3).forEach((v) => { row[v] = -1; }));
  return say(algorithm, truth, network);
}

function lostBits(algorithm) {
  const [truth, network] = perfect(algorithm);
  network.key[1].fill(null);
  return say(algorithm, truth, network);
}

function haltingSteps() {
  const steps = [0, 1, 2, 2, 2, 2, 2, 2, 3].map((to, t) => ({ pointer: [to], stop: t - 3.5 }));
  const na = { target: { toldSteps: true, algorithm: {} }, horizon: 4 };
  const tf = { target: { toldSteps: false, algorithm: { sequential: false } } };
  const read = (rule, model, blind = false) => answerStep(rule, model, steps, 6, 9, blind);
  return [read("told", na), read("told", na, true), read("horizon", na), read("settled", na),
    read("termination", tf), read("told", tf)];
}
