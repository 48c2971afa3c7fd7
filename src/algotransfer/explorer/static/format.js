"use strict";
// How numbers are read from the data and written on the page.

// Numbers that JSON cannot hold are written as words.
function read(value) {
  if (typeof value !== "string") return value;
  return { inf: Infinity, "-inf": -Infinity, nan: NaN }[value];
}

function show(value) {
  const x = read(value);
  if (x === null || x === undefined) return "–";
  if (Number.isNaN(x)) return "not a number";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  if (size >= 1e5 || (size > 0 && size < 0.001)) return x.toExponential(1).replace("-", "−").replace("e+", "e").replace("e-", "e−");
  return String(Number(x.toFixed(size < 0.1 ? 3 : size < 100 ? 2 : 1))).replace("-", "−");
}
