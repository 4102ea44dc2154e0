// The value under the pointer, or under a cursor that arrow keys move.

import {byId, element} from './dom.js';

/**
 * A tensor that has been drawn.
 * @typedef {object} Drawn
 * @property {number} rows
 * @property {number} columns
 * @property {(event: PointerEvent) => [number, number] | null} cellAt
 * @property {(i: number, j: number) => DOMRect} boxOf
 */

/** @type {Object<string, [number, number]>} */
const MOVES = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

/**
 * @param {HTMLElement} grid
 * @param {Drawn} drawn
 * @param {(i: number, j: number) => string} textOf
 */
export function connectReadout(grid, drawn, textOf) {
  /** @type {[number, number] | null} */
  let cursor = null;
  const mark = element('div', {class: 'cursor', hidden: true});
  grid.append(mark);

  /** @param {[number, number]} cell @param {boolean} isSpoken */
  const show = ([i, j], isSpoken) => {
    const box = drawn.boxOf(i, j), outer = grid.getBoundingClientRect();
    mark.hidden = false;
    mark.style.left = `${box.x - outer.x + grid.scrollLeft}px`;
    mark.style.top = `${box.y - outer.y + grid.scrollTop}px`;
    mark.style.width = `${box.width}px`;
    mark.style.height = `${box.height}px`;
    showTip(textOf(i, j), box);
    if (isSpoken) byId('spoken').textContent = textOf(i, j);
  };
  const hide = () => {
    mark.hidden = true;
    cursor = null;
    byId('tip').hidden = true;
  };

  grid.addEventListener('pointermove', (event) => {
    const cell = drawn.cellAt(event);
    if (cell) show(cell, false);
    else hide();
  });
  grid.addEventListener('pointerleave', hide);
  grid.addEventListener('blur', hide);
  // A click does not take the focus, since arrow keys would then no longer step.
  grid.addEventListener('mousedown', (event) => event.preventDefault());
  grid.addEventListener('keydown', (event) => {
    const move = MOVES[event.key];
    if (event.key === 'Escape') {
      grid.blur();
    } else if (move) {
      const [i, j] = cursor ?? [0, 0];
      cursor = cursor === null ? [0, 0] : [
        Math.max(0, Math.min(drawn.rows - 1, i + move[0])),
        Math.max(0, Math.min(drawn.columns - 1, j + move[1]))];
      show(cursor, true);
      event.preventDefault();
      event.stopPropagation();
    }
  });
}

/**
 * @param {string} text
 * @param {DOMRect} near
 */
function showTip(text, near) {
  const tip = byId('tip');
  tip.textContent = text;
  tip.hidden = false;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  const x = Math.max(4, Math.min(innerWidth - width - 4, near.x + near.width / 2 - width / 2));
  const above = near.y - height - 8;
  tip.style.left = `${x}px`;
  tip.style.top = `${above > 4 ? above : near.bottom + 8}px`;
}
