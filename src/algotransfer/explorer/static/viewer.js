"use strict";
// The page: one state (step, choice, node), one function that shows it, and what changes it.
// Names of nodes come from people's files: they are only ever set as text.

const BEAT = 900; // milliseconds of a step at speed 1

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const { graph, truths, networks } = data;
const count = graph.names.length;
const now = { step: 0, choice: 0, node: graph.source, keys: false, timer: null };

const truthAt = () => truths[networks.length ? 0 : now.choice];
const networkAt = () => networks[now.choice];
const last = (execution) => execution.key.length - 1;
const lastStep = () => Math.max(last(truthAt()), networkAt() ? last(networkAt()) : 0);
const clip = (execution, step) => Math.min(step, last(execution));
const name = (v) => (v < 0 ? "–" : graph.short[v]);

// Both kinds of canvas need their final size before Cytoscape measures them.
$("network").hidden = $("errors").hidden = $("verdict").hidden = !networks.length;
const places = spread(graph.places);
const panels = [new Panel($("truth"), graph, places, pick)];
if (networks.length) panels.push(new Panel($("network"), graph, places, pick));
const view = new View(panels);
const charts = networks.length
  ? new Charts(document.querySelector(".charts"), networks, truths[0].binary, Math.max(last(truths[0]), ...networks.map(last)))
  : null;

// ---- What a state looks like

function shade(truth, key) {
  const [low, high] = truth.range, x = read(key);
  let share = Number.isNaN(x) ? 1 : (x - low) / (high - low);
  if (!truth.smaller) share = 1 - share;
  const place = Math.min(Math.max(share, 0), 1) * (data.shades.length - 1);
  return data.shades[Math.round(place)];
}

function chosenBy(execution, step) {
  return execution.chosen && step > 0 && step <= last(execution) ? execution.chosen[step - 1] : -1;
}

function changed(execution, step) {
  if (step === 0 || step > last(execution)) return [];
  return execution.key[step].flatMap((key, v) => (key !== execution.key[step - 1][v] ? [v] : []));
}

// Whether the pointer of a node is another than the algorithm's: its last one if nodes are visited
// once and for all, the one of the same step if they change together.
function wrongPointer(execution, step, v) {
  const truth = truths[0], t = clip(execution, step), pred = execution.pred[t][v];
  const end = truth.sequential ? last(truth) : clip(truth, step);
  const settled = truth.sequential ? execution.state[t][v] === "2" || t === last(execution) : true;
  return settled && pred >= 0 && truth.pred[end][v] >= 0 && pred !== truth.pred[end][v];
}

// Whether the network has chosen a node that is not among the algorithm's best at this step.
function wrongChoice(network) {
  return network.right !== undefined && network.right[now.step - 1] === "0";
}

function drawPanel(panel, execution, isNetwork) {
  const truth = truthAt(), step = clip(execution, now.step);
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
    const text = now.keys ? (key === null ? (isNetwork ? "" : show(truth.unreached)) : show(key)) : graph.short[v];
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
  panel.draw(nodes, pointers, now.node);
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
  if (now.step > last(network)) return `ended after step ${last(network)}`;
  if (network.chosen?.[now.step - 1] === -1) return "has visited all nodes";
  const words = [];
  if (network.chosen) {
    const node = network.chosen[now.step - 1], p = chance(network, node);
    words.push(`chooses ${name(node)} (p ${p})`, `key ${show(network.key[now.step][node])}`);
  } else {
    const wrong = graph.names.filter((_, v) => wrongPointer(network, now.step, v)).length;
    words.push(truths[0].binary ? `${[...network.state[now.step]].filter((s) => s === "1").length} nodes reached`
      : `${wrong} ${wrong === 1 ? "pointer" : "pointers"} unlike the algorithm's`);
  }
  if (network.stop) words.push(`done p ${read(network.stop[now.step - 1]).toFixed(2)}`);
  return words.join(", ");
}

function chance(network, v) {
  if (!network.chance || now.step === 0 || now.step > last(network)) return "–";
  const found = network.chance[now.step - 1].find(([node]) => node === v);
  return found ? found[1].toFixed(2) : network.state[now.step - 1][v] === "2" ? "–" : "< 0.01";
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
  $("subtitle").textContent = `${data.title}, from node ${name(graph.source)}`;
  $("step").max = lastStep();
  now.step = Math.min(now.step, lastStep());
  const marks = [];
  if (network) {
    const { step, sentence } = network.divergence;
    $("sentence").textContent = sentence;
    $("go").hidden = step === null;
    $("verdict").classList.toggle("agrees", step === null);
    $("answer").textContent = network.wrong ? `In the end ${network.wrong[0]} of ${network.wrong[1]} predecessors differ, ${network.worse} of them worse.` : "";
    $("told").textContent = `${network.experiment}, seed ${network.seed}. ` + network.told.replace("#", show(network.infinity));
    if (step !== null) marks.push(mark("part", step, sentence));
    const stop = network.stop?.findIndex((p) => p > 0.5) ?? -1;
    if (stop >= 0) marks.push(mark("stop", stop + 1, `step ${stop + 1}: the network says that it is done`));
    if (!network.stop && last(network) < lastStep()) marks.push(mark("stop", last(network), `step ${last(network)}: the answer of the network is read`));
    if (last(truth) < lastStep()) marks.push(mark("end", last(truth), `step ${last(truth)}: the algorithm ends`));
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
  if (network?.chance) drawChances(network); else drawQueue(truth);
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
  now.node = (node + count) % count;
  draw();
}

function choose(choice) {
  const choices = networks.length || truths.length;
  now.choice = (choice + choices) % choices;
  document.querySelectorAll("#switch input")[now.choice].checked = true;
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
  l: () => { now.keys = !now.keys; draw(); },
};

document.addEventListener("keydown", (event) => {
  const kind = event.target.tagName, letter = event.key.length === 1 && event.key !== " ";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
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
$("who").addEventListener("change", () => pick(Number($("who").value)));
$("closer").addEventListener("click", () => view.zoom(1.4));
$("farther").addEventListener("click", () => view.zoom(1 / 1.4));
$("fit").addEventListener("click", () => view.fit());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { view.restyle(); drawChoice(); draw(); });
window.addEventListener("resize", () => charts?.draw(now.choice, now.step));

// ---- The start

const choices = networks.length ? networks.map((n) => n.label) : truths.map((t) => t.title);
$("switch-name").textContent = networks.length ? "Model" : "Algorithm";
$("switch").hidden = choices.length < 2;
choices.forEach((text, i) => {
  const label = document.createElement("label"), input = document.createElement("input");
  Object.assign(input, { type: "radio", name: "choice", checked: i === 0 });
  input.addEventListener("change", () => choose(i));
  label.append(input, ...(networks.length ? [swatch(i)] : []), text);
  $("switch").append(label);
});
graph.short.forEach((text, v) => $("who").append(Object.assign(document.createElement("option"), { value: String(v), textContent: text })));

const xs = graph.places.map(([x]) => x), ys = graph.places.map(([, y]) => y);
const aspect = (Math.max(...xs) - Math.min(...xs) + 1) / (Math.max(...ys) - Math.min(...ys) + 1);
$("panels").classList.toggle("stacked", aspect > 3); // long graphs lie below each other
$("panels").style.setProperty("--aspect", aspect);
document.querySelector("main").classList.toggle("alone", !networks.length);
document.querySelector(".with-network").hidden = !networks.length;
document.querySelector(".with-choice").hidden = choices.length < 2;

// A link may name where to begin: #step=7&choice=1&node=3
const wish = new URLSearchParams(location.hash.slice(1));
now.node = networks[0]?.divergence.node ?? graph.source;
for (const field of ["step", "choice", "node"]) {
  const value = Number(wish.get(field));
  if (wish.has(field) && Number.isInteger(value) && value >= 0) now[field] = value;
}
now.node %= count;
choose(now.choice);
view.fit();
document.body.dataset.ready = String(Math.round(performance.now()));
