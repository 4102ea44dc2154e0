// A matrix as a table of numbers on coloured ground.

import {colorOf} from './color.js';
import {brief, element} from './dom.js';
import {MASKED} from './tensor.js';
import {currentTheme} from './theme.js';

/** @typedef {import('./tensor.js').Matrix} Matrix */
/** @typedef {import('./readout.js').Drawn} Drawn */
/** @typedef {{rows: string[], columns: string[]}} Words  for each index of an axis; empty: none */

/** With more columns the words above them are written upright. */
const MOST_FLAT_WORDS = 6;

/**
 * @param {HTMLElement} grid
 * @param {Matrix} matrix
 * @param {number} most
 * @param {Words} words
 * @param {string} cells  how large they are
 * @returns {Drawn}
 */
export function drawTable(grid, matrix, most, words, cells) {
  const decimals = decimalsOf(matrix.numbers, most), theme = currentTheme();
  const made = matrix.numbers.map((row) =>
    row.map((value) => cellOf(value, decimals, most, theme)));
  const body = made.map((row, i) => element('tr', {}, words.rows.length > 0 &&
    element('th', {scope: 'row'}, words.rows[matrix.rows[i]]), ...row));
  grid.append(element('table', {class: `numbers ${cells}`},
    words.columns.length > 0 && element('thead', {}, headOf(matrix, words)),
    element('tbody', {}, ...body)));
  return {
    rows: matrix.rows.length,
    columns: matrix.columns.length,
    cellAt: (event) => {
      const cell = /** @type {Element} */ (event.target).closest('td');
      for (let i = 0; cell && i < made.length; ++i) {
        const j = made[i].indexOf(/** @type {HTMLElement} */ (cell));
        if (j >= 0) return [i, j];
      }
      return null;
    },
    boxOf: (i, j) => made[i][j].getBoundingClientRect(),
  };
}

/**
 * @param {Matrix} matrix
 * @param {Words} words
 */
function headOf(matrix, words) {
  const isUpright = matrix.columns.length > MOST_FLAT_WORDS;
  return element('tr', {}, words.rows.length > 0 && element('td', {class: 'corner'}),
    ...matrix.columns.map((column) => element('th', {scope: 'col', class: isUpright && 'upright'},
      element('span', {}, words.columns[column]))));
}

/**
 * @param {number} value
 * @param {number} decimals
 * @param {number} most
 * @param {import('./theme.js').Theme} theme
 */
function cellOf(value, decimals, most, theme) {
  const isMasked = value <= MASKED, isNan = Number.isNaN(value);
  const cell = element('td', {class: isMasked ? 'masked' : isNan && 'nan'},
    cellText(value, decimals));
  if (isMasked || isNan) return cell;
  const {background, text} = colorOf(value, most, theme);
  cell.style.background = background;
  cell.style.color = text;
  return cell;
}

/**
 * How many decimals show the numbers of a table; below 0: as 1.2e-9.
 * @param {number[][]} numbers
 * @param {number} most
 */
function decimalsOf(numbers, most) {
  const shown = numbers.flat().filter((value) => value > MASKED && Number.isFinite(value));
  if (shown.every(Number.isInteger)) return most >= 1e6 ? -1 : 0;
  if (most >= 1e5 || most < 5e-3) return -1;
  return most >= 1000 ? 0 : most >= 100 ? 1 : most >= 1 ? 2 : 3;
}

/**
 * A zero is 0, so that it can be told from what is only nearly that.
 * @param {number} value
 * @param {number} decimals
 */
function cellText(value, decimals) {
  if (!Number.isFinite(value) || value === 0) return brief(value);
  if (value <= MASKED) return value.toExponential(0);
  return decimals < 0 ? value.toExponential(1) : value.toFixed(decimals);
}
