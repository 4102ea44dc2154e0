// A matrix as a picture: a square for each number.

import {colorOf} from './color.js';
import {brief, element} from './dom.js';
import {MASKED} from './tensor.js';
import {currentTheme} from './theme.js';

/** @typedef {import('./tensor.js').Matrix} Matrix */
/** @typedef {import('./readout.js').Drawn} Drawn */
/** @typedef {import('./table.js').Words} Words */

/** Colours that the canvas cannot take from style.css. */
const INK = {light: '#1a1f29', dark: '#e6e9ee'};
const ZERO = {light: '#ffffff', dark: '#242932'};
const MASKED_GROUND = '#8a8f98';
const NOT_A_NUMBER = '#cc79a7';  // reddish purple, which no number has

/** Words are written beside cells of so many pixels or more. */
const LEAST_CELL_FOR_WORDS = 10;

/**
 * Where things are, in pixels.
 * @typedef {{cell: number, left: number, top: number, width: number, height: number}} Layout
 */

/**
 * @param {HTMLElement} grid
 * @param {Matrix} matrix
 * @param {number} most
 * @param {Words} words
 * @param {{cell: number, label: number}} room  the width of a cell, and of the words of rows
 * @returns {Drawn}
 */
export function drawPicture(grid, matrix, most, words, room) {
  const rows = matrix.rows.length, columns = matrix.columns.length;
  const layout = layoutOf(matrix, words, room), {cell, left, top} = layout;
  const canvas = /** @type {HTMLCanvasElement} */ (element('canvas', {role: 'img', 'aria-label':
    `heatmap of ${rows} by ${columns} numbers, between ${brief(-most)} and ${brief(most)}`}));
  const pen = penOf(canvas, layout);
  paintCells(pen, matrix, most, layout);
  paintWords(pen, matrix, words, layout);
  grid.append(canvas);
  return {
    rows,
    columns,
    cellAt: ({offsetX, offsetY}) => {
      const i = Math.floor((offsetY - top) / cell), j = Math.floor((offsetX - left) / cell);
      return i >= 0 && j >= 0 && i < rows && j < columns ? [i, j] : null;
    },
    boxOf: (i, j) => {
      const box = canvas.getBoundingClientRect();
      return new DOMRect(box.x + left + j * cell, box.y + top + i * cell, cell, cell);
    },
  };
}

/**
 * @param {Matrix} matrix
 * @param {Words} words
 * @param {{cell: number, label: number}} room
 * @returns {Layout}
 */
function layoutOf(matrix, words, {cell, label}) {
  const lengths = matrix.columns.map((column) => [...words.columns[column] ?? ''].length);
  const longest = Math.max(0, ...lengths), hasWords = cell >= LEAST_CELL_FOR_WORDS;
  const left = hasWords ? label : 0;
  const top = hasWords && longest > 0 ? Math.min(16 + 8 * longest, 110) : 0;
  return {cell, left, top, width: left + matrix.columns.length * cell,
    height: top + matrix.rows.length * cell};
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Layout} layout
 */
function penOf(canvas, {width, height}) {
  const sharpness = Math.max(2, devicePixelRatio);
  canvas.width = width * sharpness;
  canvas.height = height * sharpness;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  pen.scale(sharpness, sharpness);
  return pen;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Matrix} matrix
 * @param {number} most
 * @param {Layout} layout
 */
function paintCells(pen, matrix, most, {cell, left, top}) {
  const theme = currentTheme(), side = cell - (cell >= 8 ? 1 : 0);
  pen.strokeStyle = ZERO[theme];
  matrix.numbers.forEach((numbers, i) => numbers.forEach((value, j) => {
    const x = left + j * cell, y = top + i * cell, isMasked = value <= MASKED;
    pen.fillStyle = isMasked ? MASKED_GROUND
      : Number.isNaN(value) ? NOT_A_NUMBER : colorOf(value, most, theme).background;
    pen.fillRect(x, y, side, side);
    if (!isMasked) return;
    pen.beginPath();
    pen.moveTo(x, y + side);
    pen.lineTo(x + side, y);
    pen.stroke();
  }));
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Matrix} matrix
 * @param {Words} words
 * @param {Layout} layout
 */
function paintWords(pen, matrix, words, {cell, left, top}) {
  pen.fillStyle = INK[currentTheme()];
  pen.font = `${Math.min(13, cell)}px system-ui, sans-serif`;
  pen.textBaseline = 'middle';
  const gap = 6;
  if (left > 0) {
    pen.textAlign = 'right';
    matrix.rows.forEach((row, i) =>
      pen.fillText(words.rows[row] ?? '', left - gap, top + (i + 0.5) * cell, left - gap));
  }
  if (top > 0) {
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'left';
    matrix.columns.forEach((column, j) =>
      pen.fillText(words.columns[column] ?? '', gap - top, left + (j + 0.5) * cell, top - gap));
  }
}
