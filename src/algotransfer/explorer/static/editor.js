"use strict";
// Editing: every edit makes a new graph, which algorithm and network answer at once; and its history.

const NEW_WEIGHT = 0.6;
const past = [], future = []; // graphs before and after the present one
const MOST_UNDONE = 200;

/** Replace the graph by what `change` returns, or say why that is impossible. */
function edit(change, after = () => {}) {
  try {
    const next = change();
    const complaint = algorithms.map((algorithm) => algorithm.complaint(next)).find(Boolean);
    if (complaint) throw new Error(complaint);
    past.push(graph);
    if (past.length > MOST_UNDONE) past.shift();
    future.length = 0;
    after(next);
    present(next);
    notify("");
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "Error") throw error;
    notify(error.message);
    draw();
  }
}

function present(next) {
  const fresh = next.places.length !== graph.places.length && next.names !== graph.names;
  graph = next;
  if (now.edge && findEdge(graph, ...now.edge) < 0) now.edge = null;
  answer();
  if (fresh && view.fitted) frame();
}

function undo() {
  if (!past.length) return;
  future.push(graph);
  present(past.pop());
}

function redo() {
  if (!future.length) return;
  past.push(graph);
  present(future.pop());
}

/** Show a message, or remove it; it may hold names, so it is text. */
function notify(text, good = false) {
  $("notice").textContent = text;
  $("notice").hidden = !text;
  $("notice").classList.toggle("good", good);
}

// ---- Nodes and edges

/** Move a node in all panels; the last place is an edit. */
function move(node, place, isLast) {
  for (const panel of panels) panel.place(node, place);
  if (isLast) edit(() => Edit.moveNode(graph, node, place), () => { now.node = node; });
}

/** Add an edge between the selected node and another, or select it. */
function connect(node) {
  if (node === now.node) return;
  const ends = [now.node, node];
  if (findEdge(graph, ...ends) >= 0) { now.edge = ends; draw(); return; }
  edit(() => Edit.setEdge(graph, ...ends, NEW_WEIGHT), () => { now.edge = ends; });
}

function addNodeBeside() {
  const [x, y] = graph.places[now.node], apart = space(graph.names.length), angle = 2.4 * graph.names.length;
  edit(() => {
    const grown = Edit.addNode(graph, [x + apart * Math.cos(angle), y + apart * Math.sin(angle)]);
    return Edit.setEdge(grown, now.node, grown.names.length - 1, NEW_WEIGHT);
  }, (next) => { now.edge = [now.node, next.names.length - 1]; });
}

const deleteNode = () => edit(() => Edit.deleteNode(graph, now.node), () => { now.edge = null; });
const deleteEdge = () => { if (now.edge) edit(() => Edit.setEdge(graph, ...now.edge, null)); };
const makeSource = () => edit(() => Edit.setSource(graph, now.node));

/** Set the weight of the selected edge; the steps of one drag of the slider are one edit. */
function setWeight(text, isLast = true) {
  if (!now.edge) return;
  const weight = text.trim() === "" ? NaN : Number(text);
  if (isLast) {
    if (setWeight.before) { graph = setWeight.before; setWeight.before = null; }
    edit(() => Edit.setEdge(graph, ...now.edge, weight));
  } else {
    setWeight.before ??= graph;
    graph = Edit.setEdge(graph, ...now.edge, weight);
    answer();
  }
}

/** Fill the lists of nodes. */
function fillNodes() {
  if ($("who").dataset.names === short.join("\n")) return;
  $("who").dataset.names = short.join("\n");
  for (const list of [$("who"), $("other")]) {
    list.replaceChildren(...short.map((text, v) => Object.assign(document.createElement("option"), { value: String(v), textContent: text })));
  }
}

/** Show the selected edge, and what can be undone. */
function drawEditor() {
  if (!data.live) return;
  const index = now.edge ? findEdge(graph, ...now.edge) : -1, weight = index < 0 ? "" : shortest(graph.edges[index][2]);
  const other = now.edge ? now.edge.find((v) => v !== now.node) ?? now.edge[1] : (now.node + 1) % graph.names.length;
  $("other").value = String(other);
  $("weight").disabled = $("slide").disabled = $("cut").disabled = index < 0;
  $("join").disabled = index >= 0 || other === now.node;
  if (document.activeElement !== $("weight")) $("weight").value = weight;
  $("slide").max = Math.max(algorithms.every((a) => a.interval[1] <= 1) ? 1 : 2, 2 * Number(weight) * (Number(weight) > 2));
  if (document.activeElement !== $("slide") || !setWeight.before) $("slide").value = weight || NEW_WEIGHT;
  $("source").disabled = now.node === graph.source;
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
}

// ---- Other graphs

function replaceGraph(make) {
  edit(make, (next) => { Object.assign(now, { step: 0, node: next.source, edge: null }); });
  frame();
}

function sample() {
  const family = $("family").value, count = Number($("size").value);
  replaceGraph(() => ({ ...sampleGraph(family, count), title: `${family} graph of ${count} nodes, sampled here` }));
}

async function openFile(file) {
  let read;
  try { const found = await readGraphFile(file); read = () => ({ ...found, title: file.name }); } catch (error) { read = () => { throw error; }; }
  replaceGraph(read);
}

/** Begin with the graph of a link, if it holds one that can be shown. */
function openLink(text) {
  if (!text || !data.live) return;
  try {
    const found = decodeGraph(text), complaint = algorithms.map((algorithm) => algorithm.complaint(found)).find(Boolean);
    if (complaint) throw new Error(complaint);
    graph = { ...found, title: "graph of a link" };
  } catch (error) { notify(error.message); }
}

function shareLink() {
  const fields = new URLSearchParams({ step: now.step, choice: now.choice, node: now.node, graph: encodeGraph(graph) });
  try { history.replaceState(null, "", `#${fields}`); } catch { // a page without an address
    notify("In a notebook the page has no address: save it as a file with .save(path) to share links, or download the graph.");
    return;
  }
  const elsewhere = window === window.top ? "The address of this page is now a link to this graph." : "The link could not be copied: open the page alone to share it.";
  const done = (copied) => notify(copied ? "The link is copied." : elsewhere, true);
  if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(() => done(true), () => done(false)); else done(false);
}

function download(text, ending, kind) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  Object.assign(document.createElement("a"), { href: address, download: `graph.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// ---- Hard graphs

const TRIES = 40, MOST_SECONDS = 20, SIZES = [0.02, 0.05, 0.1, 0.2, 0.35]; // of relative changes of weights

/** Search weights near the present ones for which the network errs more than now. */
async function findHardGraph() {
  const model = networkAt().model, before = graph, already = mistakes(model, graph), began = performance.now();
  $("hard").disabled = true;
  let found = null, tries = 0, size;
  for (size of SIZES) {
    for (let k = 0; k < TRIES && !found && graph === before && performance.now() - began < 1000 * MOST_SECONDS; k++, tries++) {
      const candidate = Edit.setWeights(before, before.edges.map(([, , w]) => nearWeight(w, size)));
      if (mistakes(model, candidate) > already) found = candidate;
      if (performance.now() - began > 50 * (tries + 1) || tries % 4 === 3) {
        notify(`Searching: ${tries + 1} graphs tried, weights changed by up to ${Math.round(100 * size)} % …`, true);
        await new Promise((resume) => setTimeout(resume));
      }
    }
    if (found || graph !== before || performance.now() - began > 1000 * MOST_SECONDS) break;
  }
  $("hard").disabled = false;
  if (graph !== before) { notify(""); return; }
  if (!found) { notify(`None of ${tries} graphs with weights changed by up to ${Math.round(100 * size)} % makes it err more.`); return; }
  edit(() => found);
  notify(`Found after ${tries} ${tries === 1 ? "graph" : "graphs"}, with weights changed by up to ${Math.round(100 * size)} %. Undo goes back.`, true);
}

function nearWeight(weight, size) {
  const most = Math.min(...algorithms.map((algorithm) => algorithm.interval[1]));
  return Math.min(weight * (1 + size * (2 * Math.random() - 1)), most);
}

/** Wrong predecessors (or keys, where there are none) of a network's answer on a graph. */
function mistakes(model, candidate) {
  const { algorithm } = truths[0], truth = recordTruth(algorithm, candidate);
  const rule = haltingRule(model), count = candidate.names.length, run = new FreeRun(model, candidate, now.blind);
  const told = answerStep(rule, model, [], last(truth), count, now.blind);
  run.extend(rule === "told" ? told : Math.max(count, model.horizon ?? 0));
  const end = answerStep(rule, model, run.steps, last(truth), count, now.blind), execution = recordRun(run);
  if (algorithm.predicts) return countAnswers(algorithm, candidate, new Layout(candidate), truth, execution.pred[end]).worse;
  return candidate.names.filter((_, v) => (execution.key[end][v] ?? 0) !== (truth.key[last(truth)][v] ?? 0)).length;
}

// ---- Keys, buttons, files that are dropped

const EDIT_KEYS = data.live ? {
  a: addNodeBeside, s: makeSource, Delete: () => (now.edge ? deleteEdge() : deleteNode()), Backspace: () => (now.edge ? deleteEdge() : deleteNode()),
} : {};

/** Undo or redo if an event asks for it. */
function undoKey(event) {
  const letter = event.key.toLowerCase();
  if (!data.live || !(event.ctrlKey || event.metaKey) || event.target.type === "number" || !["z", "y"].includes(letter)) return false;
  event.preventDefault();
  if (letter === "y" || event.shiftKey) redo(); else undo();
  return true;
}

if (data.live) {
  const click = { "add-node": addNodeBeside, "delete-node": deleteNode, source: makeSource, cut: deleteEdge, undo, redo, sample, link: shareLink, hard: findHardGraph,
    join: () => connect(Number($("other").value)), csv: () => download(writeCsv(graph), "csv", "text/csv"), graphml: () => download(writeGraphml(graph), "graphml", "application/xml"),
    open: () => $("file").click() };
  for (const [id, action] of Object.entries(click)) $(id).addEventListener("click", () => action());
  $("other").addEventListener("change", () => { now.edge = [now.node, Number($("other").value)]; draw(); });
  $("weight").addEventListener("change", () => setWeight($("weight").value));
  $("slide").addEventListener("input", () => setWeight($("slide").value, false));
  $("slide").addEventListener("change", () => setWeight($("slide").value));
  $("file").addEventListener("change", () => { if ($("file").files[0]) openFile($("file").files[0]); $("file").value = ""; });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]);
  });
}
