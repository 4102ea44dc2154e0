// Attention's gradients as the textbook has them, from the numbers in the page. It shares nothing
// with the library: it is the judge of what the tape computed.
//
//     dV = Z^T dC    dZ = dC V^T    dP = dZ * R    dS = P * (dP - rowsum(dP * P))
//     dQ = c dS K    dK = c dS^T Q
//
// Z = P * R is P after dropout, R its factors; without dropout R is 1. c is 1 / sqrt(d).

/** @typedef {number[][]} Numbers  rows of numbers */

/** @param {Numbers} a @returns {Numbers} */
export const transposed = (a) => (a[0] ?? []).map((_, j) => a.map((row) => row[j]));

/** @param {Numbers} a @param {Numbers} b @param {number} [factor] @returns {Numbers} */
export function product(a, b, factor = 1) {
  const columns = transposed(b);
  return a.map((row) => columns.map((column) =>
    factor * row.reduce((sum, x, k) => sum + x * column[k], 0)));
}

/** @param {Numbers} a @param {Numbers} b @returns {Numbers} */
export const hadamard = (a, b) => a.map((row, i) => row.map((x, j) => x * b[i][j]));

/**
 * @typedef {object} Head
 * @property {Numbers} Q
 * @property {Numbers} K
 * @property {Numbers} V
 * @property {Numbers} P
 * @property {Numbers} dC
 * @property {number} c         the scale of the scores
 * @property {Numbers | null} R the factors of dropout
 */

/**
 * @param {Head} head
 * @returns {{dV: Numbers, dZ: Numbers, dP: Numbers, dS: Numbers, dQ: Numbers, dK: Numbers}}
 */
export function chain({Q, K, V, P, dC, c, R}) {
  const dV = product(transposed(R ? hadamard(P, R) : P), dC);
  const dZ = product(dC, transposed(V));
  const dP = R ? hadamard(dZ, R) : dZ;
  const dS = P.map((p, i) => {
    const row = p.reduce((sum, x, j) => sum + dP[i][j] * x, 0);
    return p.map((x, j) => x * (dP[i][j] - row));
  });
  const dQ = product(dS, K, c);
  const dK = product(transposed(dS), Q, c);
  return {dV, dZ, dP, dS, dQ, dK};
}

/**
 * Whether |a - b| <= tolerance * (|b| + s) everywhere, s the largest finite |b|; a NaN agrees only
 * with a NaN: the library's compare().
 * @param {Numbers} a
 * @param {Numbers} b
 * @param {number} tolerance
 */
export function compare(a, b, tolerance) {
  const most = Math.max(0, ...b.flat().filter(Number.isFinite).map(Math.abs));
  let difference = 0, agrees = a.length === b.length;
  a.forEach((row, i) => row.forEach((x, j) => {
    const expected = b[i]?.[j] ?? NaN, off = distance(x, expected);
    difference = Math.max(difference, off);
    if (off > 0 && !(Number.isFinite(off) && off <= tolerance * (Math.abs(expected) + most)))
      agrees = false;
  }));
  return {difference, agrees};
}

/** |a - b|; infinite where NaN meets a number. @param {number} a @param {number} b */
function distance(a, b) {
  if (Object.is(a, b) || a === b) return 0;
  const off = Math.abs(a - b);
  return Number.isNaN(off) ? Infinity : off;
}
