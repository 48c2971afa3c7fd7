"use strict";
// The page: one state (step, choice, node), one function that shows it, and what changes it.
// Names of nodes come from people's files: they are only ever set as text.

const BEAT = 900; // milliseconds of a step at speed 1
// From matplotlib's viridis, which is even in lightness; the best keys are the lightest.
const SHADES = ["#ece51b", "#c0df25", "#93d741", "#6ccd5a", "#48c16e", "#2db27d", "#1fa287", "#20938c", "#25838e", "#2c738e", "#33638d", "#3b528b"];
const RULES = { told: "the algorithm's steps", horizon: "the longest training", settled: "once predecessors settle", termination: "when it says so" };

// Both kinds of canvas need their final size before Cytoscape measures them.
$("network").hidden = $("errors").hidden = $("verdict").hidden = !models.length;
const actions = { pick, pickEdge, ...(data.live && { move, connect, add: (place) => edit(() => Edit.addNode(graph, place), (g) => { now.node = g.names.length - 1; }) }) };
const panels = [new Panel($("truth"), actions)];
if (models.length) panels.push(new Panel($("network"), actions));
const view = new View(panels);
const charts = models.length ? new Charts(document.querySelector(".charts")) : null;

// ---- What a state looks like

function shade(truth, key) {
  const [low, high] = truth.range, x = read(key);
  let share = Number.isNaN(x) ? 1 : (x - low) / (high - low);
  if (!truth.smaller) share = 1 - share;
  const place = Math.min(Math.max(share, 0), 1) * (SHADES.length - 1);
  return SHADES[Math.round(place)];
}

function chosenBy(execution, step) {
  return execution.chosen && step > 0 && step <= endOf(execution) ? execution.chosen[step - 1] : -1;
}

function changed(execution, step) {
  if (step === 0 || step > endOf(execution)) return [];
  return execution.key[step].flatMap((key, v) => (key !== execution.key[step - 1][v] ? [v] : []));
}

// Whether the pointer of a node is another than the algorithm's: its last one if nodes are visited
// once and for all, the one of the same step if they change together.
function wrongPointer(execution, step, v) {
  const truth = truths[0], t = at(execution, step), pred = execution.pred[t][v];
  const end = truth.sequential ? last(truth) : clip(truth, step);
  const settled = truth.sequential ? execution.state[t][v] === "2" || (t >= execution.end && !execution.running) : true;
  return settled && pred >= 0 && truth.pred[end][v] >= 0 && pred !== truth.pred[end][v];
}

// Whether the network has chosen a node that is not among the algorithm's best at this step.
function wrongChoice(network) {
  return network.right !== undefined && network.right[now.step - 1] === false;
}

function drawPanel(panel, execution, isNetwork) {
  const truth = truthAt(), step = at(execution, now.step);
  const chosen = chosenBy(execution, now.step), theirs = chosenBy(truth, now.step);
  const fresh = truth.sequential ? [chosen] : isNetwork ? [] : changed(execution, now.step);
  const another = isNetwork && wrongChoice(execution);
  const nodes = graph.names.map((_, v) => {
    const key = execution.key[step][v], state = execution.state[step][v];
    const classes = [];
    if (key === null) classes.push("empty");
    if (v === graph.source) classes.push("source");
    if (state === "1" && truth.sequential) classes.push("reached");
    if (state === "2") classes.push("visited");
    if (fresh.includes(v)) classes.push("now");
    if (another && v === chosen) classes.push("wrong");
    if (another && v === theirs) classes.push("theirs");
    if (v === now.node) classes.push("selected");
    const text = now.keys ? (key === null ? (isNetwork ? "" : show(truth.unreached)) : show(key)) : short[v];
    if (text.length > 5) classes.push("long");
    return { fill: key === null ? "#ffffff" : shade(truth, key), text: text.length > 14 ? `${text.slice(0, 13)}…` : text, classes: classes.join(" ") };
  });
  const pointers = graph.names.map((_, v) => {
    const to = execution.pred[step][v];
    if (to < 0) return null;
    const wrong = isNetwork && wrongPointer(execution, now.step, v);
    const waiting = truth.sequential && execution.state[step][v] !== "2";
    return { to, self: wrong, classes: wrong ? "wrong" : waiting ? "waiting" : "" };
  });
  panel.draw(nodes, pointers, now.node, now.edge ? findEdge(graph, ...now.edge) : -1);
}

// ---- What is said about it

function aboutTruth(truth) {
  if (now.step === 0) return `starts at ${name(graph.source)}`;
  if (now.step > last(truth)) return `ended after step ${last(truth)}`;
  const news = changed(truth, now.step).length;
  const improved = news === 1 ? "improves 1 key" : `improves ${news} keys`;
  if (!truth.sequential) return news ? improved : "changes nothing, and ends";
  const node = truth.chosen[now.step - 1];
  return `visits ${name(node)}, key ${show(truth.key[now.step][node])}` + (news ? `, ${improved}` : "");
}

function aboutNetwork(network) {
  if (now.step === 0) return `starts at ${name(graph.source)}`;
  if (now.step > endOf(network)) return network.running ? "is still running" : `ended after step ${endOf(network)}`;
  if (network.chosen?.[now.step - 1] === -1) return "has visited all nodes";
  const words = now.step > network.end ? [`past its end at step ${network.end}`] : [];
  if (network.chosen) {
    const node = network.chosen[now.step - 1], p = chance(network, node);
    words.push(`chooses ${name(node)} (p ${p})`, `key ${show(network.key[now.step][node])}`);
  } else {
    const wrong = graph.names.filter((_, v) => wrongPointer(network, now.step, v)).length;
    words.push(truths[0].binary ? `${[...network.state[now.step]].filter((s) => s === "1").length} nodes reached`
      : `${wrong} ${wrong === 1 ? "pointer" : "pointers"} unlike the algorithm's`);
  }
  if (network.stop) words.push(`done p ${network.stop[now.step - 1].toFixed(2)}`);
  return words.join(", ");
}

function chance(network, v) {
  if (!network.probability || now.step === 0 || now.step > endOf(network)) return "–";
  const p = network.probability[now.step - 1][v];
  return network.state[now.step - 1][v] === "2" ? "–" : p < 0.005 ? "< 0.01" : p.toFixed(2);
}

function aboutAnswers({ wrong, worse, reached }) {
  if (!wrong) return `In the end all ${reached} predecessors are right.`;
  return `In the end ${wrong} of ${reached} predecessors differ, ${worse} of them worse.`;
}

function aboutTold({ model, infinity, run, end }) {
  const { toldSteps } = model.target, steps = toldSteps && !now.blind && haltingRule(model) === "told" ? " and the number of steps" : "";
  const words = [now.blind ? `It is told nothing of the answer; ∞ is ${show(infinity)} to it.` : `It is told the stand-in for ∞ (${show(infinity)})${steps}.`];
  if (run.weightFactor !== 1) words.push(`Weights are multiplied by ${run.weightFactor} for it, to be like those of its training.`);
  if (run.outside) words.push(`Its training had weights from ${show(model.trained[0])} to ${show(model.trained[1])}: expect more mistakes.`);
  words.push(`Its answer is read after step ${end}.`);
  return words.join(" ");
}

/** The final mistakes of a network, for the list of models: all of them answer every edit. */
function tally(network) {
  if (!network || network.running) return "…";
  return !network.answers ? "" : network.answers.worse ? `${network.answers.worse} wrong` : "all right";
}

// ---- What is the same for all steps of a choice

function mark(kind, step, title) {
  const place = document.createElement("i");
  place.className = kind;
  place.title = title;
  place.style.setProperty("--at", step / Math.max(lastStep(), 1));
  place.addEventListener("click", () => go(step));
  return place;
}

function drawChoice() {
  const truth = truthAt(), network = networkAt();
  $("heading").textContent = truth.title;
  $("subtitle").textContent = `${graph.title ?? data.title}, from node ${name(graph.source)}`;
  $("step").max = lastStep();
  now.step = Math.min(now.step, lastStep());
  const marks = [];
  if (network) {
    const { step, sentence } = network.divergence, { answers, end, model } = network;
    $("sentence").textContent = sentence;
    $("go").hidden = step === null;
    $("verdict").classList.toggle("agrees", step === null);
    $("answer").textContent = answers ? aboutAnswers(answers) : "";
    $("told").textContent = `${model.experiment}, seed ${model.seed}. ${aboutTold(network)}`;
    if (step !== null && step <= lastStep()) marks.push(mark("part", step, sentence));
    const stop = network.stop?.findIndex((p) => p > 0.5) ?? -1;
    if (stop >= 0 && stop < lastStep()) marks.push(mark("stop", stop + 1, `step ${stop + 1}: the network says that it is done`));
    else if (!network.stop && !network.running && end < lastStep()) marks.push(mark("stop", end, `step ${end}: the answer of the network is read`));
    if (last(truth) < lastStep()) marks.push(mark("end", last(truth), `step ${last(truth)}: the algorithm ends`));
    charts.load(networks.map((each) => each ?? { errors: {} }), truth.binary, networks.map((each) => each?.end ?? 1));
    fillRules(model);
    document.querySelectorAll("#switch small").forEach((place, i) => { place.textContent = tally(networks[i]); });
  }
  $("marks").replaceChildren(...marks);
  drawLegend(truth, network);
}

function draw() {
  const truth = truthAt(), network = networkAt();
  drawPanel(panels[0], truth, false);
  panels[0].say(aboutTruth(truth));
  if (network) {
    drawPanel(panels[1], network, true);
    panels[1].say(aboutNetwork(network), network.divergence.step === now.step || wrongChoice(network));
    charts.draw(now.choice, now.step);
  }
  if (network?.probability) drawChances(network); else drawQueue(truth);
  drawNode();
  $("step").value = now.step;
  $("count").textContent = `step ${now.step} of ${lastStep()}`;
  $("step").setAttribute("aria-valuetext", `step ${now.step} of ${lastStep()}`);
  if (now.timer === null) $("status").textContent = `Step ${now.step}. The algorithm ${aboutTruth(truth)}.` + (network ? ` The network ${aboutNetwork(network)}.` : "");
}

// ---- What changes it

function go(step) {
  now.step = Math.min(Math.max(step, 0), lastStep());
  draw();
}

function pick(node) {
  const count = graph.names.length;
  now.node = (node + count) % count;
  now.edge = null;
  draw();
}

function pickEdge(index) {
  now.edge = graph.edges[index].slice(0, 2);
  now.node = now.edge[0];
  draw();
}

function choose(choice) {
  const choices = models.length || truths.length;
  now.choice = (choice + choices) % choices;
  document.querySelectorAll("#switch input")[now.choice].checked = true;
  if (models.length) begin(now.choice);
  drawChoice();
  draw();
}

/** Show the steps past the end, or stop there. */
function setPast(wanted) {
  now.past = wanted;
  $("past").checked = wanted;
  drawChoice();
  draw();
}

function play(wanted = now.timer === null) {
  clearInterval(now.timer);
  now.timer = null;
  if (wanted) {
    if (now.step === lastStep()) now.step = 0;
    now.timer = setInterval(() => (now.step < lastStep() ? go(now.step + 1) : play(false)), BEAT / Number($("speed").value));
  }
  $("play").textContent = wanted ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", wanted ? "Pause" : "Play");
  draw();
}

function part() {
  const network = networkAt();
  if (!network || network.divergence.step === null) return;
  play(false);
  now.node = network.divergence.node;
  go(network.divergence.step);
}

const KEYS = {
  ArrowRight: () => go(now.step + 1), ArrowLeft: () => go(now.step - 1), Home: () => go(0), End: () => go(lastStep()),
  " ": () => play(), d: part, m: () => choose(now.choice + 1), n: () => pick(now.node + 1), N: () => pick(now.node - 1),
  l: () => { now.keys = !now.keys; draw(); }, p: () => setPast(!now.past), ...EDIT_KEYS,
};

document.addEventListener("keydown", (event) => {
  const kind = event.target.tagName, letter = event.key.length === 1 && event.key !== " ";
  if (undoKey(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (kind === "INPUT" && ["text", "number"].includes(event.target.type)) return;
  // A list, a slider and radio buttons have their own arrow keys; a button has its own space bar.
  if (kind === "SELECT" || (kind === "INPUT" && !letter && event.key !== " ") || (kind === "BUTTON" && event.key === " ")) return;
  const action = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (action) { event.preventDefault(); action(); }
});

$("step").addEventListener("input", () => go(Number($("step").value)));
$("back").addEventListener("click", () => go(now.step - 1));
$("forward").addEventListener("click", () => go(now.step + 1));
$("play").addEventListener("click", () => play());
$("speed").addEventListener("change", () => { if (now.timer !== null) play(true); });
$("go").addEventListener("click", part);
$("past").addEventListener("change", () => setPast($("past").checked));
$("halt").addEventListener("change", () => { now.halt = $("halt").value; answer(); });
$("blind").addEventListener("change", () => { now.blind = $("blind").checked; answer(); });
$("who").addEventListener("change", () => pick(Number($("who").value)));
$("closer").addEventListener("click", () => view.zoom(1.4));
$("farther").addEventListener("click", () => view.zoom(1 / 1.4));
$("fit").addEventListener("click", () => view.fit());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { view.restyle(); drawChoice(); draw(); });
window.addEventListener("resize", () => charts?.draw(now.choice, now.step));

// ---- The start

/** The halting rules of a model, as choices. */
function fillRules(model) {
  const texts = model.haltingRules.map((rule) => (rule === "told" && now.blind ? "a step for each node" : RULES[rule]));
  if ($("halt").dataset.texts !== texts.join()) { // an open list stays open
    $("halt").replaceChildren(...texts.map((text, i) => new Option(text, model.haltingRules[i])));
    $("halt").dataset.texts = texts.join();
  }
  $("halt").value = haltingRule(model);
}

/** Lay panels out for a new graph, and show all of it. */
function frame() {
  const [xs, ys] = [0, 1].map((k) => graph.places.map((place) => place[k])), apart = space(graph.names.length);
  const aspect = (Math.max(...xs) - Math.min(...xs) + apart) / (Math.max(...ys) - Math.min(...ys) + apart);
  $("panels").classList.toggle("stacked", aspect > 3); // long graphs lie below each other
  $("panels").style.setProperty("--aspect", aspect);
  panels.forEach((panel) => panel.cy.resize());
  view.fit();
}

const choices = models.length ? models.map((model) => model.label) : algorithms.map((algorithm) => algorithm.title);
$("switch-name").textContent = models.length ? "Model" : "Algorithm";
$("switch").hidden = choices.length < 2;
choices.forEach((text, i) => {
  const label = document.createElement("label"), input = document.createElement("input");
  Object.assign(input, { type: "radio", name: "choice", checked: i === 0 });
  input.addEventListener("change", () => choose(i));
  label.append(input, ...(models.length ? [swatch(i)] : []), text, document.createElement("small"));
  $("switch").append(label);
});
document.querySelector("main").classList.toggle("alone", !models.length);
for (const element of document.querySelectorAll(".with-network")) element.hidden = !models.length;
document.querySelector(".with-choice").hidden = choices.length < 2;
for (const element of document.querySelectorAll(".with-edit")) element.hidden = !data.live;
$("blind").checked = now.blind;
$("blind").disabled = !data.live;

// A link may name where to begin, and hold a graph: #step=7&choice=1&node=3&graph=…
const wish = new URLSearchParams(location.hash.slice(1));
openLink(wish.get("graph"));
const wished = (field) => (wish.has(field) && Number.isInteger(Number(wish.get(field))) ? Math.max(Number(wish.get(field)), 0) : null);
now.choice = (wished("choice") ?? 0) % choices.length;
answer(START);
now.node = (wished("node") ?? networkAt()?.divergence.node ?? graph.source) % graph.names.length;
now.step = Math.min(wished("step") ?? 0, lastStep());
frame();
choose(now.choice);
document.body.dataset.ready = String(Math.round(performance.now()));
