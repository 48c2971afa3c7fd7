"use strict";
// The cards below the graph: probabilities or queue, and the selected node; and the legend.

const LISTED = 6;

function line(who, share, value, classes, tag) {
  const item = document.createElement("li"), bar = document.createElement("span");
  const [left, right] = [who, value].map((text) => Object.assign(document.createElement("span"), { textContent: text }));
  item.className = classes;
  left.className = "who";
  left.title = who;
  bar.className = "bar";
  bar.style.width = `${Math.max(100 * share, 0)}%`;
  if (tag) right.append(" ", Object.assign(document.createElement("em"), { textContent: tag }));
  item.append(left, bar, right);
  return item;
}

function drawChances(network) {
  const truth = truthAt(), theirs = chosenBy(truth, now.step), mine = chosenBy(network, now.step);
  const all = now.step > 0 && now.step <= endOf(network) && mine >= 0 ? network.probability[now.step - 1] : [];
  const listed = Array.from(all.keys()).filter((v) => all[v] >= 0.0005).sort((a, b) => all[b] - all[a] || a - b).slice(0, LISTED);
  if (theirs >= 0 && all.length && !listed.includes(theirs)) listed.splice(LISTED - 1, 1, theirs);
  const rows = listed.map((v) => line(name(v), all[v], network.state[now.step - 1][v] === "2" ? "visited before" : chance(network, v),
    [v === mine ? "mine" : "", v === mine && wrongChoice(network) ? "wrong" : "", v === theirs ? "true" : ""].join(" "),
    v === theirs ? "true" : ""));
  fillQueue("Probability of being next", rows, all.length ? "" : network.running && now.step ? "The network is still running." : now.step ? "All nodes are visited." : "No choice has been made yet.");
}

function drawQueue(truth) {
  const t = clip(truth, now.step);
  const better = (a, b) => (truth.smaller ? a - b : b - a);
  if (truth.sequential) {
    const waiting = graph.names.map((_, v) => v).filter((v) => truth.state[t][v] === "1")
      .sort((a, b) => better(truth.key[t][a], truth.key[t][b]) || a - b);
    const most = Math.max(...waiting.map((v) => truth.key[t][v]).filter(Number.isFinite), 1e-9);
    const rows = waiting.slice(0, LISTED).map((v, i) => line(name(v), Math.min(truth.key[t][v] / most, 1), show(truth.key[t][v]), i ? "" : "mine", i ? "" : "next"));
    const more = waiting.length - rows.length;
    fillQueue("Queue, best key first", rows, waiting.length ? (more > 0 ? `and ${more} more` : "") : "The queue is empty: the algorithm has ended.");
  } else {
    const news = changed(truth, now.step);
    const rows = news.slice(0, LISTED).map((v) => line(name(v), 0, `${truth.key[t - 1][v] === null ? show(truth.unreached) : show(truth.key[t - 1][v])} → ${show(truth.key[t][v])}`, "plain", `from ${name(truth.pred[t][v])}`));
    const more = news.length - rows.length;
    fillQueue("Keys that change in this step", rows, now.step === 0 ? "Nothing has changed yet." : news.length ? (more > 0 ? `and ${more} more` : "") : "None: the algorithm ends.");
  }
}

function fillQueue(title, rows, note) {
  const box = $("queue");
  box.querySelector("h2").textContent = title;
  box.querySelector("ol").replaceChildren(...rows);
  box.querySelector(".note").textContent = note;
}

const STATES = { 0: "unreached", 1: "queued", 2: "visited" };

function drawNode() {
  const truth = truthAt(), network = networkAt(), v = now.node;
  const t = clip(truth, now.step), s = network && at(network, now.step);
  const word = (state) => (truth.sequential ? STATES[state] : state === "0" ? "unreached" : "reached");
  const rows = [
    ["Key", truth.key[t][v] === null ? show(truth.unreached) : show(truth.key[t][v]), network && show(network.key[s][v])],
    ["Predecessor", name(truth.pred[t][v]), network && name(network.pred[s][v]), network && wrongPointer(network, now.step, v)],
    ["State", word(truth.state[t][v]), network && word(network.state[s][v])],
  ];
  if (network?.probability) rows.push(["Probability", "", chance(network, v)]);
  const head = ["", ...(network ? ["Algorithm", "Network"] : ["Algorithm"])];
  const cell = (tag, text, scope) => Object.assign(document.createElement(tag), { textContent: text, ...(scope && { scope }) });
  const body = document.createElement("tbody");
  for (const [label, mine, theirs, wrong] of rows) {
    const row = document.createElement("tr");
    row.append(cell("th", label, "row"), cell("td", mine));
    if (network) row.append(Object.assign(cell("td", theirs), { className: wrong ? "wrong" : "" }));
    body.append(row);
  }
  const top = document.createElement("thead");
  top.append(document.createElement("tr"));
  top.firstChild.append(...head.map((text) => cell("th", text, "col")));
  $("node").querySelector("table").replaceChildren(top, body);
  $("who").value = String(v);
  $("name").textContent = graph.names[v] === short[v] ? "" : graph.names[v];
  drawEditor();
}

function drawLegend(truth, network) {
  const item = (text, style, square) => {
    const box = document.createElement("span"), picture = svg("svg", { width: 18, height: 18, "aria-hidden": "true" });
    picture.append(svg(square ? "rect" : "circle", { ...(square ? { x: 4, y: 4, width: 10, height: 10, rx: 3 } : { cx: 9, cy: 9, r: 5.5 }), fill: colour("card"), stroke: colour("faint"), ...style }));
    box.append(picture, text);
    return box;
  };
  const arrow = (text, style) => {
    const box = document.createElement("span"), picture = svg("svg", { width: 26, height: 10, "aria-hidden": "true" });
    picture.append(svg("line", { x1: 8, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5, ...style }), svg("path", { d: "M0 5 L9 1 L9 9 Z", fill: style.stroke }));
    box.append(picture, text);
    return box;
  };
  const full = SHADES[2], ink = colour("ink");
  const items = [item("source", { fill: full }, true)];
  if (truth.sequential) {
    items.push(item("queued", { stroke: ink, "stroke-width": 1.6, "stroke-dasharray": "3 2" }), item("visited", { fill: full, stroke: ink, "stroke-width": 2.4 }));
    items.push(item("visited now", { fill: full, stroke: colour("truth"), "stroke-width": 3.4 }));
    if (network) items.push(item("another choice", { fill: full, stroke: colour("wrong"), "stroke-width": 3.4 }));
  } else items.push(item("not reached", {}), item("reached", { fill: full }), item("changed now", { fill: full, stroke: colour("truth"), "stroke-width": 3.4 }));
  items.push(arrow("predecessor", { stroke: ink }));
  if (network && !truth.binary) items.push(arrow("wrong predecessor", { stroke: colour("wrong") }));
  if (network?.stop) items.push(item("network says it is done", { fill: ink, stroke: "none", rx: 0, x: 6, y: 6, width: 6, height: 6 }, true));
  if (!truth.binary) {
    const scale = document.createElement("span"), strip = document.createElement("canvas");
    scale.className = "scale";
    strip.width = SHADES.length;
    strip.height = 1;
    const pen = strip.getContext("2d"), shades = truth.smaller ? SHADES : [...SHADES].reverse();
    shades.forEach((one, i) => { pen.fillStyle = one; pen.fillRect(i, 0, 1, 1); });
    scale.append("key ", show(truth.range[0]), strip, show(truth.range[1]));
    items.push(scale);
  }
  $("legend").replaceChildren(...items);
}
