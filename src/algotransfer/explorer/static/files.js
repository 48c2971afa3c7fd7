"use strict";
// Graphs as CSV, GraphML and links. What is read comes from strangers: it is checked, and an Error
// says what is wrong.

const MOST_BYTES = 4e6;

/** Check names, edges and source, and return a graph; places are computed if there are none. */
function checkedGraph(names, edges, { source = 0, places = null, directed = false } = {}) {
  if (names.length < 1 || names.length > MOST_NODES) throw new Error(`The graph has ${names.length} nodes; a page takes 1 to ${MOST_NODES}.`);
  if (edges.length > MOST_EDGES) throw new Error(`The graph has ${edges.length} edges; a page takes ${MOST_EDGES}.`);
  if (names.some((name) => typeof name !== "string" || name.length > 1000)) throw new Error("A name has more than 1000 characters.");
  if (names.some((name) => name.includes("\0"))) throw new Error("A name has a NUL character.");
  if (new Set(names).size < names.length) throw new Error("Two nodes have the same name.");
  if (!Number.isInteger(source) || source < 0 || source >= names.length) throw new Error("The source is not a node of the graph.");
  const weights = new Map(), isNode = (v) => Number.isInteger(v) && v >= 0 && v < names.length;
  for (const [a, b, weight] of edges) {
    if (!isNode(a) || !isNode(b) || a === b) throw new Error("An edge needs two different nodes of the graph.");
    if (!Number.isFinite(weight)) throw new Error(`The weight between ${shortened(names[a])} and ${shortened(names[b])} is not a finite number.`);
    const ends = String(ordered({ directed }, a, b));
    if (weights.has(ends) && weights.get(ends) !== round(weight)) throw new Error(`The edge between ${shortened(names[a])} and ${shortened(names[b])} has two weights.`);
    weights.set(ends, round(weight));
  }
  const list = [...weights].map(([ends, weight]) => [...ends.split(",").map(Number), weight]).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  const graph = { names, edges: list, source, places: places ?? [], ...(directed && { directed }) };
  const placed = places?.length === names.length && places.every((p) => p.length === 2 && p.every(Number.isFinite));
  return placed ? graph : { ...graph, places: placeNodes(graph) };
}

/** Return the graph of a file; if every directed edge has one back with its weight, it is undirected. */
function graphOfFile(names, edges, directed) {
  const listed = new Set(edges.map(String));
  return checkedGraph(names, edges, { directed: directed && !edges.every(([u, v, weight]) => listed.has(String([v, u, weight]))) });
}

// ---- CSV, read as Python reads it (graphs/edge_list.py): source,target,weight or u,v,weight; from,to,weight if directed

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function parseCsv(text) {
  const rows = csvRows(text).map((row) => row.map((field) => field.trim())).filter((row) => row.some(Boolean));
  if (!rows.length) throw new Error("The file is empty; expected a header source,target,weight, then edges.");
  const { header, directed } = csvHeader(rows[0]), [from, to, weight] = ["source", "target", "weight"].map((name) => header.indexOf(name));
  const index = new Map(), edges = [];
  const number = (name) => { if (!index.has(name)) index.set(name, index.size); return index.get(name); };
  rows.slice(1).forEach((row, i) => {
    if (!row[from]) throw new Error(`Edge ${i + 1} has no source.`);
    if (row.length > header.length) throw new Error(`Edge ${i + 1} has ${row.length} fields, the header ${header.length}: quote names with commas.`);
    const u = number(row[from]), given = row[weight] || "";
    if (!row[to] && given) throw new Error(`Edge ${i + 1} has a weight but no target.`);
    if (!row[to]) return;
    if (given && !DECIMAL.test(given)) throw new Error(`Edge ${i + 1} has the weight ${given.slice(0, 40)}; expected a number.`);
    edges.push([u, number(row[to]), Number(given || 1)]);
  });
  return graphOfFile([...index.keys()], edges, directed);
}

/** Return the columns by the names source, target and weight, and whether edges are directed. */
function csvHeader(row) {
  const lower = row.map((field) => field.toLowerCase()), directed = lower.includes("from") && lower.includes("to");
  const names = new Map(Object.entries(directed ? { from: "source", to: "target", weight: "weight" } : { source: "source", u: "source", target: "target", v: "target", weight: "weight" }));
  const header = row.map((field, i) => names.get(lower[i]) ?? field), known = header.filter((name) => ["source", "target", "weight"].includes(name)).sort().join();
  // Without a weight column, an unknown column may be a misspelt weight.
  if (known !== "source,target,weight" && [...header].sort().join() !== "source,target") throw new Error(`The header is ${row.join(",").slice(0, 80)}; expected source,target,weight.`);
  return { header, directed };
}

/** Split CSV text into rows of fields; fields in quotes may hold commas, quotes and lines. */
function csvRows(text) {
  const rows = [], parts = /(,|\r\n?|\n)(?: *"((?:[^"]|"")*)"|(?! *")([^,\r\n]*))/g;
  const body = `\n${text.replace(/^\ufeff/, "")}`.replace(/([\r\n])[^\S\r\n]*#[^\r\n]*/g, "$1"); // without comments
  let end = 0;
  for (const hit of body.matchAll(parts)) {
    if (hit.index !== end) break;
    end += hit[0].length;
    if (hit[1] !== ",") rows.push([]);
    rows[rows.length - 1].push(hit[2] !== undefined ? hit[2].replaceAll('""', '"') : hit[3]);
  }
  if (end < body.length) throw new Error(`Line ${body.slice(0, end + 1).split(/\r\n?|\n/).length - 1} has a quote out of place.`);
  return rows;
}

/** Return an edge list that keeps the order of nodes; the first node is the source when it is read. */
function writeCsv(graph) {
  const quoted = (name) => (/[",\r\n]|^\s|\s$|^#/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
  const lines = [graph.directed ? "from,to,weight" : "source,target,weight"], { names } = graph;
  let seen = 0;
  const declare = (until) => { for (; seen < until; seen++) lines.push(`${quoted(names[seen])},,`); };
  for (const [u, v, w] of graph.edges) {
    if (u !== seen || v !== seen + 1) declare(Math.max(u, v));
    seen = Math.max(seen, u + 1, v + 1);
    lines.push(`${quoted(names[u])},${quoted(names[v])},${shortest(w)}`);
  }
  declare(names.length);
  return `${lines.join("\n")}\n`;
}

/** The number with the fewest digits that rounds to this float32. */
function shortest(weight) {
  for (let digits = 1; digits < 10; digits++) if (round(Number(weight.toPrecision(digits))) === weight) return String(Number(weight.toPrecision(digits)));
  return String(weight);
}

// ---- GraphML

function parseGraphml(text) {
  if (/<!DOCTYPE/i.test(text)) throw new Error("A document type is not allowed in a graph; delete it.");
  const page = new DOMParser().parseFromString(text, "application/xml");
  const [root, ...others] = page.getElementsByTagName("graph");
  if (page.querySelector("parsererror") || page.documentElement.localName !== "graphml" || !root || others.length) {
    throw new Error("The file is not GraphML with one graph.");
  }
  const keys = [...page.getElementsByTagName("key")].filter((key) => key.getAttribute("attr.name") === "weight" && key.getAttribute("for") !== "node");
  const number = [...page.getElementsByTagName("key")].find((key) => key.getAttribute("for") === "edge" && /^(double|float|int|long)$/.test(key.getAttribute("attr.type")));
  // Without weights, another number of the edges may be the weight.
  if (!keys.length && number) throw new Error(`Edges have no attribute weight, but ${number.getAttribute("attr.name")?.slice(0, 40)}; rename it to weight.`);
  const missing = keys[0]?.querySelector("default")?.textContent ?? "1";
  const names = [...root.children].filter((child) => child.localName === "node").map((node) => node.getAttribute("id"));
  const index = new Map(names.map((name, v) => [name, v]));
  const direction = root.getAttribute("edgedefault") ?? "undirected", directed = direction === "directed";
  if (!directed && direction !== "undirected") throw new Error(`edgedefault is ${shortened(direction)}; expected directed or undirected.`);
  const edges = [...root.children].filter((child) => child.localName === "edge").map((edge) => {
    if (![null, String(directed)].includes(edge.getAttribute("directed"))) throw new Error(`An edge has directed=${shortened(edge.getAttribute("directed"))} in a graph that is ${direction}; make all edges alike.`);
    const [weight, ...more] = [...edge.children].filter((child) => child.localName === "data" && child.getAttribute("key") === keys[0]?.getAttribute("id"));
    if (more.length) throw new Error("An edge has two weights; keep one.");
    return [index.get(edge.getAttribute("source")), index.get(edge.getAttribute("target")), Number((weight?.textContent ?? missing).trim() || NaN)];
  });
  return graphOfFile(names, edges, directed);
}

function writeGraphml(graph) {
  const escaped = (text) => text.replace(/[&<>"\t\n\r]/g, (letter) => `&#${letter.charCodeAt(0)};`).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
  const nodes = graph.names.map((name) => `    <node id="${escaped(name)}"/>`);
  const edges = graph.edges.map(([u, v, w]) => `    <edge source="${escaped(graph.names[u])}" target="${escaped(graph.names[v])}"><data key="weight">${shortest(w)}</data></edge>`);
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    '  <key id="weight" for="edge" attr.name="weight" attr.type="double"/>', `  <graph edgedefault="${graph.directed ? "directed" : "undirected"}">`,
    ...nodes, ...edges, "  </graph>", "</graphml>", ""].join("\n");
}

/** Read a file by its name. */
async function readGraphFile(file) {
  if (file.size > MOST_BYTES) throw new Error(`The file has ${file.size} bytes; a page takes ${MOST_BYTES}.`);
  const text = new TextDecoder("utf-8", { fatal: true });
  let content;
  try { content = text.decode(await file.arrayBuffer()); } catch { throw new Error("The file is not UTF-8 text."); }
  return /\.(graphml|xml)$/i.test(file.name) ? parseGraphml(content) : parseCsv(content);
}

// ---- Links

/** Write a graph as text for the fragment of a link. */
function encodeGraph(graph) {
  const plain = graph.names.every((name, v) => name === String(v));
  const data = [plain ? graph.names.length : graph.names, graph.source, graph.edges.flatMap(([u, v, w]) => [u, v, Number(shortest(w))]), graph.places.flat().map(Math.round), Boolean(graph.directed)];
  const bytes = new TextEncoder().encode(JSON.stringify(data));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function decodeGraph(text) {
  let data;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    data = JSON.parse(new TextDecoder().decode(bytes));
  } catch { data = null; }
  const [names, source, edges, places, directed] = Array.isArray(data) ? data : [];
  const size = Array.isArray(names) ? names.length : names;
  if (!Number.isInteger(size) || size < 1 || size > MOST_NODES || !Array.isArray(edges) || !Array.isArray(places)) throw new Error("The link does not hold a graph.");
  const triples = Array.from({ length: Math.floor(edges.length / 3) }, (_, i) => edges.slice(3 * i, 3 * i + 3));
  const pairs = Array.from({ length: Math.floor(places.length / 2) }, (_, i) => places.slice(2 * i, 2 * i + 2));
  return checkedGraph(Array.isArray(names) ? names : Array.from({ length: size }, (_, v) => String(v)), triples, { source, places: pairs, directed: directed === true });
}
