"use strict";
// Sortable tables, the distribution of seeds behind a number, and the present section in the
// navigation. The page is complete without scripts. Names come from files: they are set as text.

const SVG = "http://www.w3.org/2000/svg";
const graphs = JSON.parse(document.getElementById("graphs")?.textContent ?? "{}"); // of live pages, by number of nodes

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function draw(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

const numbers = (text) => (text ? text.split(" ").map(Number) : []);
const show = (x) => (!Number.isFinite(x) ? "∞" : x === 0 ? "0" : Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? x.toExponential(1) : String(Number(x.toPrecision(3))));
const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
const inWords = (element) => element.textContent.trim().replace(/\s+/g, " ");
const headWords = (head) => head.innerText.trim().split(/\s*\n\s*/).join(", ");

// ---- Tables that can be sorted

function sortKey(cell) {
  const seeds = numbers(cell.dataset.seeds), text = inWords(cell);
  if (seeds.length) return mean(seeds);
  if (text === "" || text.startsWith("–")) return null;
  return /^-?[\d.]/.test(text) ? parseFloat(text) : /^(∞|inf)/.test(text) ? Infinity : text;
}

/** Sort the rows by a column: ascending, descending, then as they were. Empty cells come last. */
function sort(head) {
  closeSeeds();
  const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
  table.original ??= [...body.rows];
  const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") ?? "none"];
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  if (next !== "none") head.setAttribute("aria-sort", next);
  const sign = next === "descending" ? -1 : 1, rows = table.original.map((row) => [sortKey(row.cells[column]), row]);
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  if (next !== "none") rows.sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : sign * compare(a, b)));
  body.append(...rows.map(([, row]) => row));
  announce(`${inWords(table.caption)}: ${next === "none" ? "original order" : `sorted by ${headWords(head)}, ${next}`}.`);
}

function announce(text) {
  document.getElementById("status").textContent = text;
}

for (const head of document.querySelectorAll("main thead th")) {
  const button = make("button", { type: "button" }, ...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
}

// The second column stays in view beside the first, whose width is known only here.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) target.closest("table").style.setProperty("--first", `${target.offsetWidth}px`);
});
for (const head of document.querySelectorAll(".wide:not(.text) thead th:first-child")) widths.observe(head);

// ---- The distribution of seeds behind a number

const box = make("div", { id: "seeds", role: "group", "aria-label": "Distribution of seeds" });
let opened = null;
const besidePaper = document.querySelector("[data-paper]") !== null; // not in reports of other runs

/** A line in words: what a cell is about. */
function about(cell) {
  const table = cell.closest("table"), row = cell.closest("tr"), head = table.tHead.rows[0].cells;
  const texts = [...row.cells].filter((one) => !one.classList.contains("n")).map((one, i) => [headWords(head[i]), inWords(one)]);
  const names = texts.filter(([name, text]) => text && text !== "none" && name !== "seeds").map(([, text]) => text);
  return `${names.join(", ")}: ${headWords(head[cell.cellIndex])}`;
}

function sentences(values, paper) {
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  const below = values.filter((x) => x < paper[0]).length, above = values.filter((x) => x > paper[0]).length;
  const ours = `Ours: median ${show(median)} (${values.length} ${values.length === 1 ? "seed" : "seeds"}: ${sorted.map(show).join(", ")}).`;
  if (!paper.length) return besidePaper ? [ours, "The paper has no such number."] : [ours];
  const spread = paper.length > 1 ? ` ± ${show(paper[1])} over families` : "";
  return [ours, `The paper: ${show(paper[0])}${spread}, one run; ${below} of our seeds are below it, ${above} above.`];
}

/** Seeds as dots above the paper's number as a diamond, on one axis; logarithmic if they span much. */
function plot(values, paper, title) {
  const shown = values.filter(Number.isFinite), all = [...shown, ...paper.slice(0, 1)], ends = paper.length > 1 ? [paper[0] - paper[1], paper[0] + paper[1]] : [];
  const logarithmic = Math.min(...all) > 0 && Math.max(...all) > 30 * Math.min(...all);
  const scale = logarithmic ? Math.log10 : (x) => x, whisker = ends.map((x) => (logarithmic ? Math.max(x, Math.min(...all) / 2) : x));
  let [low, high] = [Math.min(...[...all, ...whisker].map(scale)), Math.max(...[...all, ...whisker].map(scale))];
  if (!logarithmic && low > 0 && low < 0.6 * high) low = 0;
  if (high <= low) [low, high] = [low - 0.5 * Math.abs(low || 1), high + 0.5 * Math.abs(high || 1)];
  const [left, right] = [64, 330], x = (value) => left + ((scale(value) - low) / (high - low)) * (right - left);
  const svg = draw("svg", { viewBox: "0 0 350 98", role: "img", "aria-label": title });
  svg.append(draw("text", { x: 0, y: 32 }, "our seeds"), draw("line", { x1: left - 8, x2: right + 8, y1: 74, y2: 74, stroke: "var(--soft)" }));
  for (const share of [0, 0.5, 1]) {
    const value = low + share * (high - low), at = left + share * (right - left);
    svg.append(draw("line", { x1: at, x2: at, y1: 74, y2: 78, stroke: "var(--soft)" }), draw("text", { x: at, y: 91, "text-anchor": "middle" }, show(logarithmic ? 10 ** value : value)));
  }
  if (shown.length > 1) svg.append(draw("line", { x1: x(Math.min(...shown)), x2: x(Math.max(...shown)), y1: 28, y2: 28, stroke: "var(--ours)", "stroke-opacity": 0.4, "stroke-width": 4 }));
  for (const value of shown) svg.append(draw("circle", { cx: x(value), cy: 28, r: 5.5, fill: "var(--ours)", "fill-opacity": 0.65, stroke: "var(--card)" }));
  if (paper.length) {
    const at = x(paper[0]);
    svg.append(draw("text", { x: 0, y: 60 }, "the paper"), draw("path", { d: `M${at} 49l7 7-7 7-7-7z`, fill: "var(--theirs)" }));
    if (whisker.length) svg.append(draw("line", { x1: x(whisker[0]), x2: x(whisker[1]), y1: 56, y2: 56, stroke: "var(--theirs)", "stroke-width": 2 }));
  }
  return svg;
}

function openSeeds(cell) {
  closeSeeds();
  const values = numbers(cell.dataset.seeds), paper = numbers(cell.dataset.paper), title = about(cell), said = sentences(values, paper);
  const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×"), { live } = cell.closest("tr").dataset;
  close.addEventListener("click", () => { const { button } = opened; closeSeeds(); button.focus(); });
  const picture = values.some(Number.isFinite) ? [plot(values, paper, said.join(" "))] : [];
  const links = make("nav", { "aria-label": "Live pages" }, "Run it live on a grid of ");
  for (const [size, graph] of Object.entries(graphs)) links.append(make("a", { href: `${live}&graph=${graph}` }, `${size} nodes`), " ");
  const none = besidePaper ? [make("p", {}, make("small", {}, "No live page is linked: ", make("code", {}, "algotransfer report --examples"), " writes them."))] : [];
  box.replaceChildren(make("strong", {}, title), close, ...picture, ...said.map((text) => make("p", {}, text)), ...(live ? [links] : none));
  const button = cell.querySelector("button");
  button.setAttribute("aria-expanded", "true");
  cell.append(box);
  opened = { cell, button };
  announce(`${title}. ${said.join(" ")}`);
}

function closeSeeds() {
  opened?.button.setAttribute("aria-expanded", "false");
  opened = null;
  box.remove();
}

/** The next cell with seeds in the direction of an arrow key. */
function neighbour(cell, key) {
  const row = cell.closest("tr"), column = cell.cellIndex, cells = [...row.cells], rows = [...row.parentElement.rows];
  const line = { ArrowLeft: cells.slice(0, column).reverse(), ArrowRight: cells.slice(column + 1),
    ArrowUp: rows.slice(0, rows.indexOf(row)).reverse().map((one) => one.cells[column]), ArrowDown: rows.slice(rows.indexOf(row) + 1).map((one) => one.cells[column]) };
  return line[key]?.find((one) => one?.dataset.seeds);
}

for (const table of document.querySelectorAll("main table")) {
  const cells = [...table.tBodies[0].rows].flatMap((row) => [...row.cells]).filter((cell) => cell.dataset.seeds);
  cells.forEach((cell, i) => {
    // One stop of the Tab key for a table; arrow keys move between its cells.
    const button = make("button", { type: "button", tabindex: i ? -1 : 0, "aria-expanded": "false", title: "Show the seeds" }, ...cell.childNodes);
    cell.append(button);
  });
  if (!cells.length) continue;
  table.addEventListener("click", (event) => {
    const button = event.target.closest("td.n > button"), cell = button?.parentElement;
    if (cell) { focusCell(table, button); if (opened?.cell === cell) closeSeeds(); else openSeeds(cell); }
  });
  table.addEventListener("keydown", (event) => {
    const button = event.target.closest("td.n > button"), next = button && neighbour(button.parentElement, event.key);
    if (!next) return;
    event.preventDefault();
    focusCell(table, next.firstElementChild);
    if (opened) openSeeds(next);
  });
}

function focusCell(table, button) {
  for (const other of table.querySelectorAll('td.n > button[tabindex="0"]')) other.tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !opened) return;
  const { button } = opened;
  closeSeeds();
  button.focus();
});
document.addEventListener("click", (event) => { if (opened && !event.target.closest("#seeds, td.n")) closeSeeds(); });

// ---- The present section in the navigation

const links = new Map([...document.querySelectorAll("body > .page > nav a")].map((link) => [link.hash.slice(1), link]));
const spy = new IntersectionObserver(() => {
  const top = [...links.keys()].findLast((id) => document.getElementById(id).getBoundingClientRect().top < innerHeight / 3);
  for (const [id, link] of links) if (id === top) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  const list = document.querySelector("nav ul"), present = links.get(top);
  if (present) list.scrollLeft = present.offsetLeft - list.clientWidth / 3; // it is a row on small screens
}, { threshold: [0, 0.1, 0.5, 1], rootMargin: "0px 0px -60% 0px" });
for (const id of links.keys()) spy.observe(document.getElementById(id).closest("section"));
