// The numbers of a node, and matrices cut out of them.

/**
 * Numbers, or a sample of them.
 * @typedef {object} Tensor
 * @property {number[]} shape     as on the tape
 * @property {number[][]} kept    for each axis the indices that the page holds
 * @property {number[]} values    in row-major order over the kept indices
 */

/**
 * What stands in rows and columns: the last two axes at one place of the others.
 * @typedef {object} Matrix
 * @property {number[]} rows      the index of each row on the tape
 * @property {number[]} columns   the index of each column
 * @property {number[][]} numbers
 * @property {number[]} place     the place along the leading axes
 */

/**
 * @param {number[]} shape
 * @returns {number[][]}
 */
export function allPlaces(shape) {
  return shape.map((extent) => Array.from({length: extent}, (_, i) => i));
}

/**
 * Rows of numbers as a tensor.
 * @param {number[][]} numbers
 * @returns {Tensor}
 */
export function wholeTensor(numbers) {
  const shape = [numbers.length, numbers[0]?.length ?? 0];
  return {shape, kept: allPlaces(shape), values: numbers.flat()};
}

/**
 * Whether the page holds all of its numbers.
 * @param {Tensor} tensor
 */
export const isWhole = (tensor) =>
  tensor.kept.every((indices, axis) => indices.length === tensor.shape[axis]);

/**
 * @param {Tensor} tensor
 * @param {number[]} place  along the leading axes, as indices of the tape; what is missing is 0
 * @returns {Matrix}
 */
export function matrixAt(tensor, place = []) {
  const leading = Math.max(tensor.kept.length - 2, 0);
  const rows = tensor.kept.length < 2 ? [0] : tensor.kept[leading];
  const columns = tensor.kept.length < 1 ? [0] : tensor.kept[tensor.kept.length - 1];
  // Find the matrix among those kept: the place kept that is nearest from below.
  let number = 0;
  const found = [];
  for (let axis = 0; axis < leading; ++axis) {
    const kept = tensor.kept[axis];
    let at = 0;
    while (at + 1 < kept.length && kept[at + 1] <= (place[axis] ?? 0)) ++at;
    number = number * kept.length + at;
    found.push(kept[at]);
  }
  const first = number * rows.length * columns.length;
  const numbers = rows.map((_, i) =>
    tensor.values.slice(first + i * columns.length, first + (i + 1) * columns.length));
  return {rows, columns, numbers, place: found};
}

/** At or below this a number is a mask's: it suppresses a score. */
export const MASKED = -1e8;

/**
 * The largest absolute value, without infinities, NaN and what is masked; 0 if there is none.
 * @param {Iterable<number>} values
 */
export function largest(values) {
  let most = 0;
  for (const value of values)
    if (value > MASKED && Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  return most;
}

/**
 * "row 0, 3, 6 .. of 100" for the axes of which only a part is here; empty if all is.
 * @param {Tensor} tensor
 */
export function sampleNote(tensor) {
  if (isWhole(tensor)) return '';
  const total = tensor.shape.reduce((product, extent) => product * extent, 1);
  const parts = tensor.kept.flatMap((indices, axis) => {
    if (indices.length === tensor.shape[axis]) return [];
    const [first, second, third] = indices;
    const start = [first, second, third].filter((index) => index !== undefined).join(', ');
    const last = indices[indices.length - 1], share = `${indices.length} of ${tensor.shape[axis]}`;
    return `axis ${axis}: ${start} .. ${last} (${share})`;
  });
  return `A sample: ${tensor.values.length} of ${total} numbers. ${parts.join('; ')}`;
}
