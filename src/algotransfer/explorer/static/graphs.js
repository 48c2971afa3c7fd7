"use strict";
// Graphs of the page: edits that return a new graph, random families, and places of nodes.
// A graph is {names, places, edges, source, directed}; places are pixels, edges [u, v, weight], with
// u < v if they are undirected.

const MOST_NODES = 500; // that a page takes
const MOST_EDGES = 20000;
const WEIGHT_RANGE = [0.2, 1]; // of sampled graphs, as in training
const SHORT = 24; // characters of a shortened name
const ASPECT = 1.5; // width by height to which graphs other than grids are stretched
const APART = 0.6; // least distance of two nodes, where edges have length 1

/** Shorten a name to one line of at most 24 characters. */
function shortened(name) {
  const line = name.split(/\s+/).filter(Boolean).join(" ") || "·";
  return [...line].length <= SHORT ? line : `${[...line].slice(0, SHORT - 1).join("")}…`;
}

const Edit = {
  moveNode: (graph, node, place) => ({ ...graph, places: graph.places.map((p, v) => (v === node ? place : p)) }),

  setSource: (graph, node) => ({ ...graph, source: node }),

  /** Add a node; its name is the first number that is free. */
  addNode(graph, place) {
    if (graph.names.length >= MOST_NODES) throw new Error(`A page takes at most ${MOST_NODES} nodes.`);
    const used = new Set(graph.names);
    let name = graph.names.length;
    while (used.has(String(name))) name++;
    return { ...graph, names: [...graph.names, String(name)], places: [...graph.places, place] };
  },

  /** Delete a node and its edges; a deleted source is replaced by its nearest neighbour. */
  deleteNode(graph, node) {
    if (graph.names.length < 2) throw new Error("A graph needs at least one node.");
    const without = (list) => list.filter((_, v) => v !== node), moved = (v) => v - (v > node);
    const nearest = graph.edges.filter(([u, v]) => u === node || v === node).sort((a, b) => a[2] - b[2])[0];
    const heir = nearest ? (nearest[0] === node ? nearest[1] : nearest[0]) : node === 0 ? 1 : 0;
    return {
      ...graph, names: without(graph.names), places: without(graph.places),
      edges: graph.edges.filter(([u, v]) => u !== node && v !== node).map(([u, v, w]) => [moved(u), moved(v), w]),
      source: moved(graph.source === node ? heir : graph.source),
    };
  },

  /** Set the weight of an edge, or add it; `null` deletes it. */
  setEdge(graph, a, b, weight) {
    if (a === b) throw new Error("An edge needs two different nodes.");
    const [u, v] = ordered(graph, a, b), others = graph.edges.filter(([x, y]) => x !== u || y !== v);
    if (weight !== null && !Number.isFinite(weight)) throw new Error("A weight is a finite number.");
    const edges = weight === null ? others : [...others, [u, v, round(weight)]];
    return { ...graph, edges: edges.sort((x, y) => x[0] - y[0] || x[1] - y[1]) };
  },

  setWeights: (graph, weights) => ({ ...graph, edges: graph.edges.map(([u, v], i) => [u, v, round(weights[i])]) }),
};

/** The ends of an edge in the order of `edges`. */
function ordered(graph, a, b) {
  return a < b || graph.directed ? [a, b] : [b, a];
}

/** The index of the edge between two nodes, or -1. */
function findEdge(graph, a, b) {
  const [u, v] = ordered(graph, a, b);
  return graph.edges.findIndex(([x, y]) => x === u && y === v);
}

// ---- Random families, as graphs/families.py; the numbers are others

const FAMILIES = {
  er(count, random) {
    const p = Math.min(Math.log2(count) / count, 0.5), edges = [];
    for (let v = 1; v < count; v++) for (let u = 0; u < v; u++) if (random() < p) edges.push([u, v]);
    return edges;
  },

  ba(count, random) {
    const attachments = Math.min(4, count - 1), edges = [], ends = [];
    const join = (u, v) => { edges.push([u, v]); ends.push(u, v); };
    for (let v = 1; v <= attachments; v++) join(0, v);
    for (let v = attachments + 1; v < count; v++) {
      const chosen = new Set();
      while (chosen.size < attachments) chosen.add(ends[Math.floor(random() * ends.length)]);
      chosen.forEach((u) => join(u, v));
    }
    return edges;
  },

  grid(count, random) {
    const shapes = [];
    for (let rows = 2; rows * rows <= count; rows++) if (count % rows === 0) shapes.push([rows, count / rows]);
    if (!shapes.length) throw new Error(`A grid of ${count} nodes is not possible; take a product of two numbers, such as ${count + (count % 2) + 2 * (count < 3)}.`);
    const [, columns] = count <= 100 ? shapes[Math.floor(random() * shapes.length)] : shapes[shapes.length - 1], edges = [];
    for (let v = 0; v < count; v++) {
      if ((v + 1) % columns) edges.push([v, v + 1]);
      if (v + columns < count) edges.push([v, v + columns]);
    }
    return edges;
  },
};

/** Sample a graph of a family with weights uniform on [0.2, 1]. */
function sampleGraph(family, count, random = Math.random) {
  if (!(Number.isInteger(count) && count >= 2 && count <= MOST_NODES)) throw new Error(`A graph has 2 to ${MOST_NODES} nodes.`);
  const labels = Array.from({ length: count }, (_, v) => v);
  for (let v = count - 1; v > 0; v--) {
    const other = Math.floor(random() * (v + 1));
    [labels[v], labels[other]] = [labels[other], labels[v]];
  }
  const [low, high] = WEIGHT_RANGE, source = Math.floor(random() * count);
  const weigh = ([u, v]) => [...[labels[u], labels[v]].sort((a, b) => a - b), round(low + (high - low) * random())];
  const edges = FAMILIES[family](count, random).map(weigh);
  if (!edges.some(([u, v]) => u === source || v === source)) {
    const other = (source + 1 + Math.floor(random() * (count - 1))) % count;
    edges.push([Math.min(source, other), Math.max(source, other), round(low + (high - low) * random())]);
  }
  edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const graph = { names: labels.map((_, v) => String(v)), edges, source, places: [] };
  return { ...graph, places: placeNodes(graph) };
}

// ---- Places of nodes

/** Place nodes in pixels: a grid as a grid, others so that distances resemble those in the graph. */
function placeNodes(graph) {
  const hops = hopDistances(graph), grid = gridPlaces(graph, hops);
  if (grid) return spread(oriented(grid, graph.source));
  const places = oriented(separated(stressPlaces(graph, hops)), graph.source);
  const [width, height] = [0, 1].map((k) => Math.max(...places.map((p) => p[k])) - Math.min(...places.map((p) => p[k])));
  const stretch = Math.max(1, (ASPECT * height) / Math.max(width, 1e-9));
  return spread(places.map(([x, y]) => [x * stretch, y]));
}

/** Push nodes that would overlap away from each other. */
function separated(places) {
  for (let r = 0; r < 40; r++) {
    places = places.map(([x, y], i) => places.reduce(([a, b], [u, v], j) => {
      const distance = Math.hypot(x - u, y - v), push = (0.4 * (APART - distance)) / Math.max(distance, 1e-6);
      return i !== j && distance < APART ? [a + push * (x - u), b + push * (y - v)] : [a, b];
    }, [x, y]));
  }
  return places;
}

/** Column and row of each node of a grid of at least 2 × 2; null for other graphs. */
function gridPlaces(graph, hops) {
  const corners = graph.names.map((_, v) => v).filter((v) => hops[v].filter((d) => d === 1).length === 2), [corner, ...others] = corners;
  if (corners.length !== 4 || hops[corner].includes(Infinity)) return null;
  for (const other of others) {
    // Sum and difference of the distances to two corners on one side of a grid are twice the row
    // and twice the column, up to the length of that side.
    const side = hops[corner][other];
    const places = graph.names.map((_, v) => [hops[corner][v] - hops[other][v] + side, hops[corner][v] + hops[other][v] - side].map((twice) => twice / 2));
    const [columns, rows] = [0, 1].map((k) => Math.max(...places.map((place) => place[k])) + 1);
    const inside = places.every((place) => place.every((z) => z >= 0 && Number.isInteger(z)));
    const full = new Set(places.map(String)).size === places.length && rows * columns === places.length;
    const steps = graph.edges.every(([u, v]) => Math.abs(places[u][0] - places[v][0]) + Math.abs(places[u][1] - places[v][1]) === 1);
    if (inside && full && steps && graph.edges.length === rows * (columns - 1) + columns * (rows - 1)) return places;
  }
  return null;
}

/** Stress majorisation: the weighted mean of where each other node would put a node. */
function stressPlaces(graph, hops) {
  const count = graph.names.length, rounds = count > 200 ? 60 : 150;
  const far = Math.max(1, ...hops.flat().filter(Number.isFinite)) * 0.75 + 1; // between components
  let places = graph.names.map((_, v) => {
    const [x, y] = [hops[graph.source][v], hops[mostDistant(hops, graph.source)][v]].map((d) => (Number.isFinite(d) ? d : far));
    return [x + Math.cos(3 * v) / 3, y + Math.sin(3 * v) / 3];
  });
  for (let r = 0; r < rounds; r++) {
    places = places.map(([x, y], i) => {
      let share = 0, right = 0, down = 0;
      for (let j = 0; j < count; j++) {
        if (i === j) continue;
        const wanted = Number.isFinite(hops[i][j]) ? hops[i][j] : far;
        const [dx, dy] = [x - places[j][0], y - places[j][1]], distance = Math.hypot(dx, dy) || 1e-3, weight = wanted ** -2;
        right += weight * (places[j][0] + (wanted * dx) / distance);
        down += weight * (places[j][1] + (wanted * dy) / distance);
        share += weight;
      }
      return share ? [right / share, down / share] : [x, y];
    });
  }
  return places;
}

function hopDistances(graph) {
  const neighbours = graph.names.map(() => []);
  for (const [u, v] of graph.edges) { neighbours[u].push(v); neighbours[v].push(u); }
  return graph.names.map((_, start) => {
    const distance = Array(graph.names.length).fill(Infinity), queue = [start];
    distance[start] = 0;
    for (const u of queue) for (const v of neighbours[u]) if (distance[v] === Infinity) { distance[v] = distance[u] + 1; queue.push(v); }
    return distance;
  });
}

function mostDistant(hops, source) {
  const finite = hops[source].map((d) => (Number.isFinite(d) ? d : -1));
  const end = finite.indexOf(Math.max(...finite));
  const sum = hops.map((row, v) => (Number.isFinite(row[source] + row[end]) ? Math.min(row[source], row[end]) : -1));
  return sum.indexOf(Math.max(...sum));
}

/** Turn the longer side horizontal and the source to the upper left. */
function oriented(places, source) {
  const mean = [0, 1].map((k) => places.reduce((sum, p) => sum + p[k], 0) / places.length);
  const centred = places.map(([x, y]) => [x - mean[0], y - mean[1]]);
  const [a, b, c] = centred.reduce(([p, q, r], [x, y]) => [p + x * x, q + x * y, r + y * y], [0, 0, 0]);
  const turn = 0.5 * Math.atan2(2 * b, a - c), angle = Math.abs(b) < 1e-6 * (a + c) && a === c ? 0 : turn, [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const turned = centred.map(([x, y]) => [x * cos + y * sin, y * cos - x * sin]);
  const [flipX, flipY] = turned[source].map((z) => (z > 0 ? -1 : 1));
  return turned.map(([x, y]) => [flipX * x, flipY * y]);
}
