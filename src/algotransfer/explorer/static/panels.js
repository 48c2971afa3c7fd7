"use strict";
// A panel draws one execution of the graph with Cytoscape. All panels of a page share places and
// view; a step changes data and classes of the nodes and edges that differ from the step before.

// Between neighbouring nodes, in Cytoscape's pixels at zoom 1: the more nodes, the less.
const space = (count) => (count > 150 ? 42 : count > 70 ? 48 : 58);
const SIZE = 30;
const LARGEST = 1.4; // zoom to which small graphs are blown up
const WEIGHTS = 25; // edges up to which all weights are written; otherwise those of a selected node

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Whether dark text can be read on a colour.
function isLight(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b > 128;
}

// Distances to the nearest other node, sorted.
function gaps(places) {
  return places
    .map(([x, y], i) =>
      places.reduce((best, [a, b], j) => (i === j ? best : Math.min(best, Math.hypot(x - a, y - b))), Infinity))
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
}

/** Scale places to pixels, so that nodes do not overlap. */
function spread(places) {
  const near = gaps(places);
  if (!near.length) return places.map(() => [0, 0]);
  const at = (share) => Math.max(near[Math.floor(share * (near.length - 1))], 1e-3);
  const scale = Math.max(space(places.length) / at(0.5), SIZE / at(0.06));
  return places.map(([x, y]) => [x * scale, y * scale]);
}

// Where the weight of an edge is written: above it, or to the right of one that stands upright.
function beside([x, y], [endX, endY]) {
  const length = Math.hypot(endX - x, endY - y) || 1;
  const across = (y - endY) / length, along = (endX - x) / length;
  const sign = along > 0.05 || (Math.abs(along) <= 0.05 && across < 0) ? -1 : 1;
  return { right: sign * across * 13, down: sign * along * 7 };
}

function sheet() {
  const [card, ink, soft, faint, edge, truth, wrong] =
    ["card", "ink", "soft", "faint", "edge", "truth", "wrong"].map(colour);
  const text = { "font-family": "system-ui, DejaVu Sans, sans-serif", "min-zoomed-font-size": 6 };
  return [
    { selector: "node", style: { width: SIZE, height: SIZE, "background-color": "data(fill)", label: "data(text)",
      color: "data(ink)", "font-size": 11, "text-valign": "center", "text-halign": "center", "border-width": 1.2,
      "border-color": faint, "outline-offset": 2, ...text } },
    { selector: "node.empty", style: { "background-color": card, color: soft } },
    { selector: "node.long", style: { "text-valign": "bottom", "text-margin-y": 4, color: soft, "font-size": 10,
      "text-background-color": card, "text-background-opacity": 0.8, "text-background-padding": 1 } },
    { selector: "node.source", style: { shape: "round-rectangle" } },
    { selector: "node.reached", style: { "border-width": 2, "border-style": "dashed", "border-color": ink } },
    { selector: "node.visited", style: { "border-width": 3.2, "border-color": ink } },
    { selector: "node.theirs", style: { "outline-width": 2.5, "outline-style": "dotted", "outline-color": truth } },
    { selector: "node.now", style: { "outline-width": 5, "outline-color": truth } },
    { selector: "node.now.wrong", style: { "outline-width": 6, "outline-color": wrong } },
    { selector: "node.selected", style: { "underlay-color": soft, "underlay-opacity": 0.28, "underlay-padding": 11, "underlay-shape": "ellipse" } },
    { selector: "edge", style: { width: 1.6, "line-color": edge, "curve-style": "straight", "arrow-scale": 1.05,
      ...text } },
    { selector: "edge[?directed]", style: { "curve-style": "bezier", "mid-target-arrow-shape": "vee", "mid-target-arrow-color": soft } },
    { selector: "edge.near", style: { label: "data(text)", color: soft, "font-size": 9, "text-margin-x": "data(right)",
      "text-margin-y": "data(down)" } },
    { selector: "edge.picked", style: { "underlay-color": truth, "underlay-opacity": 0.35, "underlay-padding": 7, color: ink, "font-size": 12 } },
    { selector: "edge.to", style: { "target-arrow-shape": "triangle" } },
    { selector: "edge.from", style: { "source-arrow-shape": "triangle" } },
    { selector: "edge.to, edge.from, edge.self", style: { width: 2.8, "line-color": ink, "target-arrow-color": ink,
      "source-arrow-color": ink, "z-index": 2 } },
    { selector: "edge.waiting", style: { width: 2, "line-style": "dashed", "line-color": soft,
      "target-arrow-color": soft, "source-arrow-color": soft } },
    { selector: "edge.wrong", style: { width: 3.4, "line-color": wrong, "target-arrow-color": wrong,
      "source-arrow-color": wrong, "line-style": "solid" } },
    { selector: "edge.loop", style: { display: "none", "curve-style": "bezier", "loop-direction": "45deg",
      "loop-sweep": "60deg", "control-point-step-size": 34 } },
    { selector: "edge.loop.self", style: { display: "element", "target-arrow-shape": "triangle" } },
  ];
}

class Panel {
  /** `actions`: pick(node), pickEdge(edge), and if graphs can be edited move, connect and add. */
  constructor(figure, actions) {
    this.canvas = figure.querySelector(".canvas");
    this.now = figure.querySelector(".now");
    this.cy = cytoscape({
      container: this.canvas, style: sheet(), layout: { name: "preset" }, autoungrabify: !actions.move,
      autounselectify: true, boxSelectionEnabled: false, userZoomingEnabled: false, userPanningEnabled: false, minZoom: 0.02, maxZoom: 6,
    });
    const nodeOf = (event) => Number(event.target.id().slice(1));
    const placeOf = (event) => [event.target.position("x"), event.target.position("y")];
    this.cy.on("tap", "node", (event) => (actions.connect && event.originalEvent.shiftKey ? actions.connect : actions.pick)(nodeOf(event)));
    this.cy.on("tap", "edge", (event) => { if (!event.target.hasClass("loop")) actions.pickEdge(nodeOf(event)); });
    if (!actions.move) return;
    this.cy.on("drag", "node", (event) => actions.move(nodeOf(event), placeOf(event), false));
    this.cy.on("dragfree", "node", (event) => actions.move(nodeOf(event), placeOf(event), true));
    this.cy.on("dbltap", (event) => { if (event.target === this.cy) actions.add([event.position.x, event.position.y]); });
  }

  /** Show another graph; elements are replaced only if nodes or edges come or go. */
  load(graph) {
    const same = this.graph?.names.length === graph.names.length && this.graph.edges.length === graph.edges.length
      && graph.edges.every(([u, v], i) => this.graph.edges[i][0] === u && this.graph.edges[i][1] === v);
    const before = this.graph;
    this.graph = graph;
    const edgeData = ([u, v, w]) => ({ text: show(w), directed: Boolean(graph.directed), ...beside(graph.places[u], graph.places[v]) });
    if (same) {
      this.cy.batch(() => {
        this.nodes.forEach((node, v) => { if (graph.places[v] !== before.places[v]) this.place(v, graph.places[v]); });
        this.edges.forEach((edge, i) => edge.data(edgeData(graph.edges[i])));
      });
      return;
    }
    const nodes = graph.places.map(([x, y], i) => ({ data: { id: `n${i}`, fill: "#888888", ink: "#000000", text: "" }, position: { x, y } }));
    const edges = graph.edges.map((edge, i) => ({ data: { id: `e${i}`, source: `n${edge[0]}`, target: `n${edge[1]}`, ...edgeData(edge) } }));
    const loops = graph.places.map((_, i) => ({ data: { id: `l${i}`, source: `n${i}`, target: `n${i}`, text: "" }, classes: "loop" }));
    this.cy.elements().remove();
    this.cy.add({ nodes, edges: [...edges, ...loops] });
    const elements = (letter, list) => list.map((_, i) => this.cy.getElementById(`${letter}${i}`));
    [this.nodes, this.edges, this.loops] = [elements("n", nodes), elements("e", edges), elements("l", loops)];
    this.between = new Map(graph.edges.map(([u, v], i) => [`${u},${v}`, i]));
    this.known = new Map(); // what each element shows now
  }

  place(node, [x, y]) {
    const { x: oldX, y: oldY } = this.nodes[node].position();
    if (oldX !== x || oldY !== y) this.nodes[node].position({ x, y });
  }

  // Draws a state: for every node {fill, text, classes}, and its pointer {to, classes} or null.
  draw(nodes, pointers, selected, picked) {
    const few = this.graph.edges.length <= WEIGHTS;
    const edges = this.graph.edges.map(([u, v]) => (few || u === selected || v === selected ? "near" : ""));
    if (picked >= 0) edges[picked] = "near picked";
    const loops = this.graph.names.map(() => "loop");
    pointers.forEach((pointer, v) => {
      if (!pointer) return;
      if (pointer.to === v) { loops[v] = `loop ${pointer.self ? "self" : ""} ${pointer.classes}`; return; }
      const there = this.between.get(`${v},${pointer.to}`), back = this.between.get(`${pointer.to},${v}`);
      // A pointer goes against its edge, which matters if there is another edge back.
      if (there !== undefined && !this.graph.directed) edges[there] += ` to ${pointer.classes}`;
      else if (back !== undefined) edges[back] += ` from ${pointer.classes}`;
    });
    this.cy.batch(() => {
      nodes.forEach((node, i) => this.set(this.nodes[i], node.classes, node));
      edges.forEach((classes, i) => this.set(this.edges[i], classes));
      loops.forEach((classes, i) => this.set(this.loops[i], classes));
    });
  }

  set(element, classes, node) {
    const shown = node ? `${classes}|${node.fill}|${node.text}` : classes;
    if (this.known.get(element.id()) === shown) return;
    this.known.set(element.id(), shown);
    if (node) element.data({ fill: node.fill, text: node.text, ink: isLight(node.fill) ? "#14171a" : "#ffffff" });
    element.classes(classes);
  }

  say(text, wrong = false) {
    this.now.textContent = text;
    this.now.classList.toggle("wrong", wrong);
    this.canvas.setAttribute("aria-label", text);
  }
}

// Keeps the views of all panels the same; a page scrolls as usual unless someone has zoomed in.
class View {
  constructor(panels) {
    this.panels = panels;
    this.moving = false;
    this.fitted = true;
    for (const panel of panels) {
      panel.cy.on("viewport", () => this.follow(panel));
      new ResizeObserver(() => { panel.cy.resize(); if (this.fitted) this.fit(); }).observe(panel.canvas);
      panel.canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
      }, { passive: false });
    }
  }

  follow(panel) {
    if (this.moving) return;
    this.moving = true;
    const { zoom, pan } = { zoom: panel.cy.zoom(), pan: panel.cy.pan() };
    for (const other of this.panels) if (other !== panel) other.cy.viewport({ zoom, pan: { ...pan } });
    this.moving = false;
  }

  zoom(factor) {
    const cy = this.panels[0].cy;
    this.fitted = false;
    for (const panel of this.panels) panel.cy.userPanningEnabled(true);
    cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  }

  fit() {
    this.fitted = true;
    for (const panel of this.panels) {
      panel.cy.userPanningEnabled(false);
      panel.cy.fit(panel.cy.nodes(), 22);
      if (panel.cy.zoom() > LARGEST) {
        panel.cy.zoom(LARGEST);
        panel.cy.center();
      }
    }
  }

  restyle() {
    for (const panel of this.panels) panel.cy.style(sheet());
  }
}
