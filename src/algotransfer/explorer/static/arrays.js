"use strict";
// Float32 matrices and the layout of a graph, as networks need them.

/** Decode little-endian float32 numbers from base64. */
function decodeFloats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

/** A matrix in row-major order. */
class Matrix {
  constructor(rows, columns, data = new Float32Array(rows * columns)) {
    this.rows = rows;
    this.columns = columns;
    this.data = data;
  }

  /** Rows from `start` to `end`: one block of a matrix that multiplies a concatenation. */
  block(start, end) {
    return new Matrix(end - start, this.columns, this.data.subarray(start * this.columns, end * this.columns));
  }

  /** The same numbers in double precision, which are quicker to multiply; for weights. */
  get wide() {
    return (this.doubles ??= Float64Array.from(this.data));
  }

  /** Where each row begins in the data. */
  get starts() {
    return (this.begins ??= Int32Array.from({ length: this.rows }, (_, k) => k * this.columns));
  }

  row(index) {
    return this.data.subarray(index * this.columns, (index + 1) * this.columns);
  }
}

/** Return left · right, with sums in double precision. */
function product(left, right) {
  const { rows, columns: inner, data } = left, { columns, wide, starts } = right;
  const result = new Matrix(rows, columns), [one, other] = [new Float64Array(columns), new Float64Array(columns)];
  const [x, y] = [new Float64Array(inner), new Float64Array(inner)];
  for (let i = 0; i < rows; i += 2) {
    const j = Math.min(i + 1, rows - 1);
    one.fill(0);
    other.fill(0);
    for (let k = 0; k < inner; k++) {
      x[k] = data[i * inner + k];
      y[k] = data[j * inner + k];
    }
    addProducts(one, other, x, y, starts, inner, wide, columns);
    result.data.set(one, i * columns);
    result.data.set(other, j * columns);
  }
  return result;
}

/**
 * Add Σ_k x[k] · w_k to `one` and Σ_k y[k] · w_k to `other`, where row w_k of `weights` begins at
 * starts[k]. Networks spend their time here: two vectors share each weight that is loaded, and four
 * rows each sum.
 */
function addProducts(one, other, x, y, starts, count, weights, columns) {
  let k = 0;
  for (; k + 3 < count; k += 4) {
    const x0 = x[k], x1 = x[k + 1], x2 = x[k + 2], x3 = x[k + 3], y0 = y[k], y1 = y[k + 1], y2 = y[k + 2], y3 = y[k + 3];
    const r0 = starts[k], r1 = starts[k + 1], r2 = starts[k + 2], r3 = starts[k + 3];
    for (let c = 0; c < columns; c++) {
      const w0 = weights[r0 + c], w1 = weights[r1 + c], w2 = weights[r2 + c], w3 = weights[r3 + c];
      one[c] += x0 * w0 + x1 * w1 + x2 * w2 + x3 * w3;
      other[c] += y0 * w0 + y1 * w1 + y2 * w2 + y3 * w3;
    }
  }
  for (; k < count; k++) {
    const x0 = x[k], y0 = y[k], r = starts[k];
    for (let c = 0; c < columns; c++) {
      one[c] += x0 * weights[r + c];
      other[c] += y0 * weights[r + c];
    }
  }
}

/** Return the element-wise sum of matrices of one shape. */
function total(...terms) {
  const [{ rows, columns }] = terms, result = new Matrix(rows, columns);
  for (let k = 0; k < result.data.length; k++) {
    let sum = 0;
    for (const term of terms) sum += term.data[k];
    result.data[k] = sum;
  }
  return result;
}

/** Return matrices of equally many rows side by side. */
function sideBySide(...parts) {
  const rows = parts[0].rows, columns = parts.reduce((sum, part) => sum + part.columns, 0);
  const result = new Matrix(rows, columns);
  for (let i = 0; i < rows; i++) {
    let offset = i * columns;
    for (const part of parts) {
      result.data.set(part.row(i), offset);
      offset += part.columns;
    }
  }
  return result;
}

/** Return the mean of all rows, as a matrix of one row. */
function meanRow(matrix) {
  const sums = new Float64Array(matrix.columns);
  for (let i = 0; i < matrix.rows; i++) {
    for (let c = 0; c < matrix.columns; c++) sums[c] += matrix.data[i * matrix.columns + c];
  }
  return new Matrix(1, matrix.columns, Float32Array.from(sums, (sum) => sum / matrix.rows));
}

/** Index of the largest number that `allowed` accepts; the first of equal ones, -1 if none. */
function indexOfBest(values, allowed) {
  let best = -1;
  for (let v = 0; v < values.length; v++) {
    if (allowed(v) && (best < 0 || values[v] > values[best])) best = v;
  }
  return best;
}

/**
 * A graph as networks see it: edges (undirected ones in both directions) and a self-loop at every
 * node, sorted by receiver and sender. `first[i]` to `first[i + 1]` are the edges of receiver i,
 * `sender` and `receiver` the ends of each. Features are 0 on self-loops. `leaving[v]` has the edges
 * from v.
 */
class Layout {
  constructor(graph) {
    const count = graph.names.length, neighbours = Array.from({ length: count }, (_, v) => [[v, 0]]);
    this.leaving = neighbours.map(() => []);
    for (const [u, v, weight] of graph.edges) {
      neighbours[v].push([u, weight]);
      this.leaving[u].push([v, weight]);
      if (graph.directed) continue;
      neighbours[u].push([v, weight]);
      this.leaving[v].push([u, weight]);
    }
    const size = count + (graph.directed ? 1 : 2) * graph.edges.length;
    this.count = count;
    this.first = new Int32Array(count + 1);
    this.sender = new Int32Array(size);
    this.receiver = new Int32Array(size);
    this.features = { weight: new Float32Array(size), one: new Float32Array(size) };
    let edge = 0;
    neighbours.forEach((list, i) => {
      list.sort((a, b) => a[0] - b[0]);
      for (const [j, weight] of list) {
        this.sender[edge] = j;
        this.receiver[edge] = i;
        this.features.weight[edge] = weight;
        this.features.one[edge] = j === i ? 0 : 1;
        edge++;
      }
      this.first[i + 1] = edge;
    });
  }

  /** Return the given nodes (1 or 0) and all their neighbours. */
  reach(nodes) {
    const result = new Uint8Array(this.count);
    for (let i = 0; i < this.count; i++) {
      for (let e = this.first[i]; e < this.first[i + 1]; e++) if (nodes[this.sender[e]]) result[i] = 1;
    }
    return result;
  }

  /**
   * Return the sender with the best score for every node; ties take the lowest index. Senders that
   * are not `allowed` count only for themselves. Numbers that overflowed are the largest or least.
   */
  bestSenders(scores, allowed) {
    const result = new Int32Array(this.count);
    for (let i = 0; i < this.count; i++) {
      let best = -Infinity, winner = this.count;
      for (let e = this.first[i]; e < this.first[i + 1]; e++) {
        const j = this.sender[e];
        if (allowed && !allowed[j] && j !== i) continue;
        const score = Number.isNaN(scores[e]) ? -LARGEST_FLOAT : Math.min(Math.max(scores[e], -LARGEST_FLOAT), LARGEST_FLOAT);
        if (score > best) [best, winner] = [score, j];
      }
      result[i] = winner;
    }
    return result;
  }
}

const LARGEST_FLOAT = 3.4028234663852886e38;
