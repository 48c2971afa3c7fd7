"use strict";
// NE and NE++ with the processor of the paper: one step, and the heads that read it.
// Formulas and names of weights are those of networks/ne.py, ne_plus_plus.py and heads.py.

/** The weights of a network by name, with the width of each named array. */
class Weights {
  constructor(arrays) {
    this.arrays = new Map(Object.entries(arrays).map(([name, { shape, data }]) => [name, new Matrix(shape[0], shape[1], decodeFloats(data))]));
  }

  get(name) {
    return this.arrays.get(name);
  }

  /** How many parts of a list such as `processors` there are. */
  count(list) {
    return new Set([...this.arrays.keys()].filter((name) => name.startsWith(`${list}.`)).map((name) => name.split(".")[1])).size;
  }
}

/** Return max_j (node_j + Σ_f feature_fij · edge_f) for every node i. */
function maxPlus(layout, kinds, node, edge) {
  const { columns, data } = node, result = new Matrix(layout.count, columns), best = new Float64Array(columns);
  const { first, sender } = layout, features = kinds.map((kind) => layout.features[kind]), weights = edge.wide;
  const [one, another] = features; // algorithms read the weight, a constant, or both
  for (let i = 0; i < layout.count; i++) {
    best.fill(-Infinity);
    for (let e = first[i]; e < first[i + 1]; e++) {
      const offset = sender[e] * columns, w = one[e], v = another ? another[e] : 0;
      for (let c = 0; c < columns; c++) {
        const value = data[offset + c] + w * weights[c] + (another ? v * weights[columns + c] : 0);
        if (value > best[c]) best[c] = value;
      }
    }
    result.data.set(best, i * columns);
  }
  return result;
}

/** Termination logit: linear(mean over nodes of a max-MPNN of the hidden states). */
function terminationLogit(weights, prefix, hidden, edge, kinds, layout) {
  const message = weights.get(`${prefix}.processor.message`), update = weights.get(`${prefix}.processor.update`);
  const width = message.columns, mean = meanRow(hidden);
  const best = maxPlus(layout, kinds, product(hidden, message.block(width, 2 * width)), product(edge, message.block(2 * width, 3 * width)));
  const arriving = total(product(mean, message.block(0, width)), meanRow(best));
  const updated = total(product(mean, update.block(0, width)), product(arriving, update.block(width, 2 * width)));
  return product(updated, weights.get(`${prefix}.linear`)).data[0];
}

/** Predecessor scores s_ij = S[h'_j, e_ij] on every edge. */
function predecessorScores(predecessor, hidden, edge, kinds, layout) {
  const width = hidden.columns;
  const sender = product(hidden, predecessor.block(0, width)).data;
  const along = product(edge, predecessor.block(width, 2 * width)).data;
  const scores = Float32Array.from(layout.sender, (j) => sender[j]);
  kinds.forEach((kind, f) => {
    const feature = layout.features[kind];
    for (let e = 0; e < scores.length; e++) scores[e] += feature[e] * along[f];
  });
  return scores;
}

/** Kinds of edge features that algorithms read, each once, in order. */
function edgeKinds(algorithms) {
  return [...new Set(algorithms.map((algorithm) => (algorithm.weighted ? "weight" : "one")))];
}

/** The Neural Executor: one encoder and one hidden state for all algorithms together. */
class NE {
  constructor(weights, algorithms) {
    this.weights = weights;
    this.kinds = edgeKinds(algorithms);
    this.edge = weights.get("edge");
    this.width = this.edge.columns;
    this.processors = Array.from({ length: weights.count("processors") }, (_, p) => {
      const message = weights.get(`processors.${p}.message`), update = weights.get(`processors.${p}.update`), h = this.width;
      const add = update.block(h, 2 * h);
      return {
        own: total(update.block(0, h), product(message.block(0, h), add)), sender: message.block(h, 2 * h),
        edge: product(this.edge, message.block(2 * h, 3 * h)), add,
      };
    });
  }

  start(layout) {
    return new Matrix(layout.count, this.width);
  }

  /** One step from the features of every algorithm: the new memory, and a latent for each. */
  process(features, memory, layout) {
    const z = product(sideBySide(...features, memory), this.weights.get("encoder"));
    const updates = this.processors.map((p) => {
      const best = maxPlus(layout, this.kinds, product(z, p.sender), p.edge);
      return total(product(z, p.own), product(best, p.add));
    });
    const hidden = total(z, ...updates);
    return { memory: hidden, latents: features.map(() => ({ inputs: z, hidden })) };
  }

  decode(task, { inputs, hidden }) {
    return product(sideBySide(inputs, hidden), this.weights.get(`heads.${task}.decoder`));
  }

  scores(task, { hidden }, layout) {
    return predecessorScores(this.weights.get(`heads.${task}.predecessor`), hidden, this.edge, this.kinds, layout);
  }

  terminate(task, { hidden }, layout) {
    return terminationLogit(this.weights, "termination", hidden, this.edge, this.kinds, layout);
  }
}

/** The Neural Executor++: an encoder of edges and heads per algorithm, and shared processors. */
class NEPlusPlus {
  constructor(weights, algorithms) {
    this.weights = weights;
    this.specialists = algorithms.map((algorithm, task) => {
      const get = (name) => weights.get(`specialists.${task}.${name}`);
      const edge = get("edge"), first = get("encoder.first"), linear = get("encoder.linear");
      const node = (first.rows - edge.columns) / 2;
      const split = (matrix) => ({
        receiver: matrix.block(0, node), sender: matrix.block(node, 2 * node),
        edge: product(edge, matrix.block(2 * node, matrix.rows)).data,
      });
      const processors = Array.from({ length: weights.count("processors") }, (_, p) => {
        const message = weights.get(`processors.${p}.message`), update = weights.get(`processors.${p}.update`), h = edge.columns;
        const add = update.block(h, 2 * h), { receiver, ...rest } = split(product(linear, message));
        const own = product(receiver, add), kept = own.data.subarray((node - h) * h); // of the rows that multiply the memory
        update.block(0, h).data.forEach((weight, k) => { kept[k] += weight; });
        return { linear: rest, second: product(get("encoder.second"), message), own, add };
      });
      return { edge, first: split(first), processors, kinds: edgeKinds([algorithm]) };
    });
  }

  start(layout) {
    return this.specialists.map(({ edge }) => new Matrix(layout.count, edge.columns));
  }

  process(features, memory, layout) {
    const latents = this.specialists.map((specialist, task) => {
      const nodes = sideBySide(features[task], memory[task]), feature = layout.features[specialist.kinds[0]];
      const receiver = product(nodes, specialist.first.receiver), sender = product(nodes, specialist.first.sender);
      const updates = specialist.processors.map((p) => {
        const best = maxThroughLayer(layout, feature, receiver, sender, specialist.first.edge, product(nodes, p.linear.sender), p.linear.edge, p.second);
        return total(product(nodes, p.own), product(best, p.add));
      });
      return { inputs: nodes, hidden: total(...updates) };
    });
    return { memory: latents.map(({ hidden }) => hidden), latents };
  }

  decode(task, { inputs, hidden }) {
    return product(sideBySide(inputs, hidden), this.weights.get(`specialists.${task}.heads.decoder`));
  }

  scores(task, { hidden }, layout) {
    const { edge, kinds } = this.specialists[task];
    return predecessorScores(this.weights.get(`specialists.${task}.heads.predecessor`), hidden, edge, kinds, layout);
  }

  terminate(task, { hidden }, layout) {
    const { edge, kinds } = this.specialists[task];
    return terminationLogit(this.weights, `specialists.${task}.termination`, hidden, edge, kinds, layout);
  }
}

/**
 * Return max_j (l_j + w_ij e + relu(r_i + s_j + w_ij e') S): NE++'s two layers on every edge. Edges
 * are taken two at a time; units that are 0 on both are left out.
 */
function maxThroughLayer(layout, feature, receiver, sender, hiddenEdge, linear, edge, second) {
  const inner = receiver.columns, { columns } = linear, { wide, starts: rows } = second, { sender: from, receiver: to } = layout;
  const result = new Matrix(layout.count, columns, new Float32Array(layout.count * columns).fill(-Infinity)), best = result.data;
  const [one, other, x, y] = [columns, columns, inner, inner].map((size) => new Float64Array(size)), starts = new Int32Array(inner);
  const [mine, theirs, straight] = [receiver.data, sender.data, linear.data];
  for (let e = 0; e < from.length; e += 2) {
    const f = Math.min(e + 1, from.length - 1), v = feature[e], w = feature[f];
    const [a, b, i, j] = [from[e] * inner, from[f] * inner, to[e] * inner, to[f] * inner];
    let active = 0;
    for (let k = 0; k < inner; k++) {
      const p = Math.max(mine[i + k] + theirs[a + k] + v * hiddenEdge[k], 0), q = Math.max(mine[j + k] + theirs[b + k] + w * hiddenEdge[k], 0);
      x[active] = p;
      y[active] = q;
      starts[active] = rows[k];
      active += p + q <= 0 ? 0 : 1;
    }
    const [s, t, g, h] = [from[e] * columns, from[f] * columns, to[e] * columns, to[f] * columns];
    for (let c = 0; c < columns; c++) {
      one[c] = straight[s + c] + v * edge[c];
      other[c] = straight[t + c] + w * edge[c];
    }
    addProducts(one, other, x, y, starts, active, wide, columns);
    for (let c = 0; c < columns; c++) {
      if (one[c] > best[g + c]) best[g + c] = one[c];
      if (other[c] > best[h + c]) best[h + c] = other[c];
    }
  }
  return result;
}
