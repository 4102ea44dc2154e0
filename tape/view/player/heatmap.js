// A tensor as a figure: numbers on coloured ground, a scale, and the value under the pointer.

import {brief, byId, element, exact, isolated} from './dom.js';
import {drawPicture} from './picture.js';
import {connectReadout} from './readout.js';
import {drawTable} from './table.js';
import {largest, MASKED, matrixAt, sampleNote} from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').Matrix} Matrix */
/** @typedef {import('./table.js').Words} Words */

/**
 * @typedef {object} HeatmapOptions
 * @property {string} name       what the readout calls it: "dP"
 * @property {Node} [caption]
 * @property {number[]} [place]  along the leading axes
 * @property {number} [most]     the number of the full colour; the largest if not given
 * @property {Words} [words]
 * @property {number} [share]    so many tensors are to stand side by side
 * @property {boolean} [follows] the first of them has the words of the rows
 */

/** A table of numbers has at most so many rows and columns; what is larger is a picture. */
const MOST_TABLE_ROWS = 32;
const MOST_TABLE_COLUMNS = 16;
/** How wide a cell of a table is, in pixels, by the class that style.css has for it. */
const CELLS = {large: 67, medium: 53, small: 42};
const LEAST_PICTURE_CELL = 3;
const MOST_PICTURE_CELL = 34;

/** Whether numbers stand in the cells: as the reader likes it. */
let hasNumbers = true;
/** @param {boolean} wanted */
export function showNumbers(wanted) {
  hasNumbers = wanted;
}

/**
 * @param {Tensor} tensor
 * @param {HeatmapOptions} options
 * @returns {HTMLElement}
 */
export function heatmap(tensor, options) {
  const matrix = matrixAt(tensor, options.place);
  const most = options.most ?? largest(tensor.values);
  const words = options.words ?? {rows: [], columns: []};
  const figure = element('figure', {class: 'tensor', 'data-name': options.name});
  if (options.caption) figure.append(element('figcaption', {}, options.caption));
  const rows = matrix.rows.length, columns = matrix.columns.length;
  if (tensor.values.length === 0) {
    figure.append(element('p', {class: 'note'}, 'no numbers'));
    return figure;
  }
  const grid = element('div', {class: 'grid', tabindex: 0, role: 'group',
    'aria-label': `${options.name}, ${rows} by ${columns}; arrow keys read its numbers`});
  const room = roomFor(matrix, words, options);
  const drawn = room.cells
    ? drawTable(grid, matrix, most, words, room.cells)
    : drawPicture(grid, matrix, most, words, room);
  figure.append(grid);
  connectReadout(grid, drawn, (i, j) => readout(tensor, matrix, options.name, words, i, j));
  figure.append(scaleBar(most, matrix.numbers.flat().some((value) => value <= MASKED)));
  const note = sampleNote(tensor);
  if (note) figure.append(element('p', {class: 'note'}, note));
  if (!room.cells && hasNumbers) figure.append(numbersOnDemand(matrix, most, words));
  return figure;
}

/**
 * The largest cells with which the tensors fit side by side, else alone; no class for a picture.
 * @param {Matrix} matrix
 * @param {Words} words
 * @param {HeatmapOptions} options
 * @returns {{cells: string, cell: number, label: number}}
 */
function roomFor(matrix, words, {share = 1, follows = false}) {
  const rows = matrix.rows.length, columns = matrix.columns.length;
  const longest = Math.max(0, ...matrix.rows.map((row) => [...words.rows[row] ?? ''].length));
  const label = longest > 0 ? Math.min(16 + 9 * longest, 110) : 0;
  const margins = 80, gap = 40, all = byId('inspector').clientWidth - margins;
  if (hasNumbers && rows <= MOST_TABLE_ROWS && columns <= MOST_TABLE_COLUMNS)
    for (const side of [share, 1])
      for (const [cells, width] of Object.entries(CELLS))
        if (columns * width <= (all - gap * (side - 1)) / side - label)
          return {cells, cell: width, label};
  const fit = Math.min(((all - label) / share - gap) / columns, 560 / rows);
  const cell = Math.floor(Math.max(LEAST_PICTURE_CELL, Math.min(MOST_PICTURE_CELL, fit)));
  return {cells: '', cell, label: follows ? 0 : label};
}

/**
 * "P[cat, sat] = 0.832"
 * @param {Tensor} tensor
 * @param {Matrix} matrix
 * @param {string} name
 * @param {Words} words
 * @param {number} i
 * @param {number} j
 */
function readout(tensor, matrix, name, words, i, j) {
  const row = matrix.rows[i], column = matrix.columns[j], value = matrix.numbers[i][j];
  const labels = [words.rows[row] ?? String(row), words.columns[column] ?? String(column)]
    .map(isolated);
  const at = [...matrix.place.map(String), ...labels.slice(2 - Math.min(tensor.shape.length, 2))];
  const index = at.length > 0 ? `[${at.join(', ')}]` : '';
  return `${isolated(name)}${index} = ${exact(value)}${value <= MASKED ? ' (masked)' : ''}`;
}

/**
 * The colours, and what their ends stand for.
 * @param {number} most
 * @param {boolean} hasMasked
 */
function scaleBar(most, hasMasked) {
  const bar = element('div', {class: 'scale'});
  const text = (/** @type {string} */ words) => element('span', {}, words);
  if (most > 0) bar.append(text(brief(-most)), element('span', {class: 'ramp'}), text(brief(most)));
  if (hasMasked) bar.append(element('span', {class: 'masked swatch'}), text('masked'));
  return bar;
}

/**
 * The numbers of a picture, made when they are asked for.
 * @param {Matrix} matrix
 * @param {number} most
 * @param {Words} words
 */
function numbersOnDemand(matrix, most, words) {
  const details = element('details', {class: 'on-demand'}, element('summary', {}, 'numbers'));
  const box = element('div',
    {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'numbers'});
  details.append(box);
  details.addEventListener('toggle', () => {
    if (box.childElementCount === 0) drawTable(box, matrix, most, words, 'small');
  });
  return details;
}
