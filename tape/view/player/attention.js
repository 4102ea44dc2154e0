// Finds attention on the tape by its ops, and holds its adjoints against the closed form.

import {chain, compare} from './closed_form.js';
import {isWhole, matrixAt, wholeTensor} from './tensor.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').TapeNode} TapeNode */
/** @typedef {import('./tensor.js').Tensor} Tensor */

/** x / c, which the tape can tell from c / x by nothing else. */
const DIVIDED_BY_C = '\\frac{@x}{@c}';

/**
 * S = c Q K^T, P = softmax(S), C = P V; with a mask M added to S, and with dropout Z = P * R and
 * C = Z V.
 * @typedef {object} Attention
 * @property {TapeNode} Q
 * @property {TapeNode} K
 * @property {TapeNode} V
 * @property {TapeNode} S            what softmax takes
 * @property {TapeNode} P
 * @property {TapeNode} C
 * @property {TapeNode | null} M
 * @property {TapeNode | null} R
 * @property {TapeNode} Z            P itself without dropout
 * @property {number} c
 * @property {TapeNode} scores       the matrix product
 * @property {TapeNode | null} turned  K^T, if it is a node of its own
 * @property {TapeNode[]} between    the nodes from the product to S, both included
 */

/**
 * Every attention up to y, in the order of the tape.
 * @param {Model} model
 * @returns {Attention[]}
 */
export function findAttention(model) {
  const nodes = model.nodes.slice(0, model.forwardCount);
  /** @type {TapeNode[][]} */
  const users = model.nodes.map(() => []);
  for (const node of nodes) for (const {node: input} of node.inputs) users[input].push(node);
  return nodes.flatMap((P) => {
    const scores = P.op === 'softmax' && isAlongRows(P) && scoresOf(model, P);
    if (!scores) return [];
    return users[P.id].flatMap((user) => {
      const R = user.op === 'mul' ? constantBeside(model, user, P) : null, Z = R ? user : P;
      return (R ? users[Z.id] : [user])
        .filter((C) => C.op === 'matmul' && C.inputs[0].node === Z.id && factorOf(C) === 1)
        .map((C) => ({...scores, P, C, R, Z, V: model.nodes[C.inputs[1].node]}));
    });
  });
}

/** Whether a softmax goes along the last axis. @param {TapeNode} P */
function isAlongRows(P) {
  const axis = numberOf(P, 'axis');
  return axis === -1 || axis === P.shape.length - 1;
}

/**
 * The factors of dropout: what `node` multiplies `one` by, if no adjoint flows there.
 * @param {Model} model
 * @param {TapeNode} node
 * @param {TapeNode} one
 */
function constantBeside(model, node, one) {
  const other = node.inputs.find((input) => input.node !== one.id);
  return other && !model.nodes[other.node].active ? model.nodes[other.node] : null;
}

/**
 * Goes from softmax back to Q K^T, through scales and masks that are nodes of their own.
 * @param {Model} model
 * @param {TapeNode} P
 */
function scoresOf(model, P) {
  const mask = P.inputs.find(({name}) => name === 'M');
  const S = model.nodes[P.inputs[0].node];
  let M = mask ? model.nodes[mask.node] : null, c = 1, at = S;
  const between = [S];
  for (; ; between.push(at)) {
    const [a, b] = at.inputs.map(({node}) => model.nodes[node]);
    if (at.op === 'scale' || (at.op === 'div' && at.formula === DIVIDED_BY_C)) {
      c *= at.op === 'scale' ? factorOf(at) : 1 / factorOf(at);
      at = a;
    } else if (at.op === 'add' && b && !M && a.active !== b.active) {
      M = a.active ? b : a;
      at = a.active ? a : b;
    } else {
      break;
    }
  }
  const [Q, right] = at.inputs.map(({node}) => model.nodes[node]);
  c *= factorOf(at);
  const found = {Q, S, M, c, scores: at, between};
  if (at.op === 'matmul_nt') return {...found, K: right, turned: null};
  if (at.op !== 'matmul' || right.op !== 'transpose') return null;
  return {...found, K: model.nodes[right.inputs[0].node], turned: right};
}

/** The factor of an op; 1 if it has none. @param {TapeNode} node */
const factorOf = (node) => numberOf(node, 'c') ?? 1;

/** @param {TapeNode} node @param {string} name */
function numberOf(node, name) {
  return node.attributes.find((attribute) => attribute.name === name)?.number;
}

/**
 * One line of the chain.
 * @typedef {object} Line
 * @property {'dV' | 'dZ' | 'dP' | 'dS' | 'dQ' | 'dK'} what
 * @property {TapeNode} of       whose adjoint it is
 * @property {Tensor} tape       what flowed along the edge
 * @property {Tensor} closed
 * @property {number} difference the largest
 * @property {boolean} agrees
 * @property {number} step       where the tape computed it, from 0
 */

/**
 * The chain at one place along the leading axes, beside the tape's.
 * @param {Model} model
 * @param {Attention} attention
 * @param {number[]} place
 * @returns {{lines: Line[], problem: string}}
 */
export function compareChain(model, attention, place) {
  const {Q, K, V, P, C, R, c} = attention;
  const dC = model.steps[stepBack(model, C)]?.adjoint;
  if (!dC) return {lines: [], problem: `No adjoint reaches ${C.label}.`};
  const problem = otherUse(model, attention) ||
    problemOf(P.shape, [Q, K, V, P, R].flatMap((node) => node ? [node.value] : []));
  if (problem) return {lines: [], problem};

  const numbers = (/** @type {Tensor} */ tensor) => matrixAt(tensor, place).numbers;
  const closed = chain({Q: numbers(Q.value), K: numbers(K.value), V: numbers(V.value),
    P: numbers(P.value), dC: numbers(dC), c, R: R && numbers(R.value)});
  const tolerance = toleranceOf(C);
  const lines = placesOf(attention).flatMap(({what, node, of}) => {
    const step = stepBack(model, node);
    // Q and K may be one node: then dQ is the first part, dK the second.
    const parts = model.steps[step]?.parts.filter(({input}) => input.node === of.id) ?? [];
    const part = what === 'dK' ? parts[parts.length - 1] : parts[0];
    if (!part) return [];
    const tape = numbers(part.value), expected = closed[what];
    return [{what, of, step, ...compare(tape, expected, tolerance),
      tape: wholeTensor(tape), closed: wholeTensor(expected)}];
  });
  return {lines, problem: lines.length > 0 ? '' : `No adjoint leaves ${C.label}.`};
}

/** What rounding may do to some hundred operations. @param {TapeNode} C */
export function toleranceOf(C) {
  return C.dtype === 'float64' ? 1e-12 : 2e-4;
}

/**
 * The step back through a node; -1 if there is none.
 * @param {Model} model
 * @param {TapeNode} node
 */
function stepBack(model, node) {
  return model.steps.findIndex((step) => step.phase === 'backward' && step.node === node);
}

/**
 * What else adds to an adjoint between dC and dQ, dK; empty if nothing does.
 * @param {Model} model
 * @param {Attention} attention
 */
function otherUse(model, {Z, P, turned, between}) {
  const parts = model.steps.flatMap((step) => step.parts);
  const shared = [Z, P, ...between, ...(turned ? [turned] : [])].find((node) =>
    parts.filter(({input}) => input.node === node.id).length > 1);
  return shared ? `${shared.label} is used once more, which adds to its adjoint; the closed form ` +
    'is that of attention alone.' : '';
}

/**
 * Why the closed form cannot be computed; empty if it can.
 * @param {number[]} shape
 * @param {Tensor[]} tensors
 */
function problemOf(shape, tensors) {
  const leading = (/** @type {number[]} */ all) => JSON.stringify(all.slice(0, -2));
  if (tensors.some((tensor) => leading(tensor.shape) !== leading(shape)))
    return 'Its tensors have different leading axes; the closed form is that of one head.';
  if (!tensors.every(isWhole))
    return 'The page has only a sample of its tensors, and the closed form takes all numbers.';
  return '';
}

/**
 * Where the tape computed each line: at a node, for one of its inputs.
 * @param {Attention} attention
 * @returns {{what: Line['what'], node: TapeNode, of: TapeNode}[]}
 */
function placesOf({Q, K, V, S, P, C, R, Z, scores, turned}) {
  return [
    {what: 'dV', node: C, of: V},
    ...(R ? [{what: /** @type {const} */ ('dZ'), node: C, of: Z}] : []),
    {what: 'dP', node: R ? Z : C, of: P},
    {what: 'dS', node: P, of: S},
    {what: 'dQ', node: scores, of: Q},
    {what: 'dK', node: turned ?? scores, of: K},
  ];
}
