"use strict";
// Curves of errors over steps, one small chart for each error, with a line for each network.

const SVG = "http://www.w3.org/2000/svg";
// Each line has its own dashes too, for those who cannot tell the colours apart.
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 2", "10 4"];
const TITLES = { key: "Key, squared error", pred: "Wrong predecessors", next: "Wrong choices" };
const BOX = { width: 200, height: 96, left: 38, right: 4, top: 8, bottom: 15 };

function svg(name, attributes = {}, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function lineOf(index) {
  const count = DASHES.length, kind = index % count, dashes = DASHES[(index + Math.floor(index / count)) % count];
  return { style: `stroke: var(--c${kind})`, "stroke-dasharray": dashes, fill: "none" };
}

function swatch(index) {
  const picture = svg("svg", { width: 22, height: 8, "aria-hidden": "true" });
  picture.append(svg("line", { x1: 0, x2: 22, y1: 4, y2: 4, "stroke-width": 2.5, ...lineOf(index) }));
  return picture;
}

// Powers of ten for keys, whose errors run from 1e-6 to 1e30; shares from 0 to their largest.
function scaleOf(name, curves, binary) {
  const values = curves.flat().filter(Number.isFinite);
  if (name !== "key" || binary) {
    const top = [0.1, 0.25, 0.5, 1].find((bound) => values.every((v) => v <= bound)) ?? 1;
    return { place: (v) => (Number.isFinite(v) ? v / top : 1), low: "0", high: `${Math.round(100 * top)} %` };
  }
  const seen = values.filter((v) => v > 0).map(Math.log10);
  const low = Math.floor(Math.max(Math.min(...seen, 0), -8)), high = Math.max(Math.ceil(Math.max(...seen, low + 1)), low + 1);
  const power = (e) => (e >= -2 && e <= 3 ? String(Number((10 ** e).toPrecision(1))) : `1e${e}`);
  const place = (v) => (Number.isNaN(v) || v === Infinity ? 1 : (Math.max(Math.log10(v), low) - low) / (high - low));
  return { place, low: power(low), high: power(high) };
}

class Charts {
  constructor(holder) {
    this.holder = holder;
    this.charts = [];
  }

  /** Take the errors of all networks; `ends` are the steps at which their answers are read. */
  load(networks, binary, ends) {
    const names = Object.keys(TITLES).filter((name) => networks.some((n) => n.errors[name]));
    if (!names.length) return; // all are still running: the curves stay until the answers are there
    this.ends = ends;
    this.steps = Math.max(1, ...networks.flatMap((n) => Object.values(n.errors).map((curve) => curve.length)));
    if (names.join() !== this.charts.map((chart) => chart.name).join()) this.charts = names.map((name) => this.frame(name, binary));
    this.holder.replaceChildren(...this.charts.map((chart) => chart.figure));
    for (const chart of this.charts) {
      chart.curves = networks.map((network) => network.errors[chart.name] ?? []);
      chart.scale = scaleOf(chart.name, chart.curves, binary);
    }
  }

  frame(name, binary) {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const title = document.createElement("span"), value = document.createElement("b");
    title.textContent = name === "key" && binary ? "Wrong keys" : TITLES[name];
    caption.append(title, value);
    const picture = svg("svg", { viewBox: `0 0 ${BOX.width} ${BOX.height}`, preserveAspectRatio: "none", role: "img" });
    figure.append(caption, picture);
    return { name, figure, picture, value, share: name !== "key" || binary };
  }

  // Draws anew for the width there is; `selected` is in front, the others stay as a comparison.
  draw(selected, step) {
    for (const chart of this.charts) {
      const width = chart.figure.clientWidth || BOX.width;
      const x = (t) => BOX.left + ((width - BOX.left - BOX.right) * (t - 1)) / Math.max(this.steps - 1, 1);
      const y = (v) => BOX.top + (BOX.height - BOX.top - BOX.bottom) * (1 - chart.scale.place(v));
      const floor = BOX.height - BOX.bottom;
      chart.picture.setAttribute("viewBox", `0 0 ${width} ${BOX.height}`);
      const frame = [
        svg("line", { x1: BOX.left, x2: width - BOX.right, y1: floor, y2: floor, stroke: colour("line") }),
        svg("line", { x1: BOX.left, x2: width - BOX.right, y1: BOX.top, y2: BOX.top, stroke: colour("line") }),
        svg("text", { x: BOX.left - 5, y: BOX.top + 4, "text-anchor": "end" }, chart.scale.high),
        svg("text", { x: BOX.left - 5, y: floor + 3, "text-anchor": "end" }, chart.scale.low),
        svg("text", { x: BOX.left, y: BOX.height - 2 }, "1"),
        svg("text", { x: width - BOX.right, y: BOX.height - 2, "text-anchor": "end" }, String(this.steps)),
      ];
      // Beyond the end of the execution that is in front.
      const end = this.ends[selected];
      if (end < this.steps) frame.unshift(svg("rect", { x: x(end), y: BOX.top, width: Math.max(x(this.steps) - x(end), 0), height: floor - BOX.top, class: "beyond" }),
        svg("line", { x1: x(end), x2: x(end), y1: BOX.top, y2: floor, class: "end" }));
      const order = chart.curves.map((_, i) => i).sort((a, b) => (a === selected) - (b === selected));
      const lines = order.map((i) => svg("polyline", { ...lineOf(i), "stroke-width": i === selected ? 2.2 : 1.2,
        opacity: i === selected ? 1 : 0.55, points: chart.curves[i].map((v, t) => `${x(t + 1)},${y(v)}`).join(" ") }));
      const here = chart.curves[selected][Math.min(step, chart.curves[selected].length) - 1];
      const cursor = step ? [svg("line", { x1: x(step), x2: x(step), y1: BOX.top, y2: floor, stroke: colour("soft"), "stroke-width": 1 })] : [];
      if (here !== undefined) cursor.push(svg("circle", { cx: x(Math.min(step, chart.curves[selected].length)), cy: y(here), r: 3.5, style: `fill: var(--c${selected % DASHES.length})` }));
      chart.picture.replaceChildren(...frame, ...lines, ...cursor);
      chart.value.textContent = here === undefined ? "" : chart.share ? `${Math.round(1000 * here) / 10} %` : show(here);
      chart.picture.setAttribute("aria-label", `${chart.figure.innerText.trim()} after step ${step}`);
    }
  }
}
