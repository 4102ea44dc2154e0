// Search by name.

import {byId} from './dom.js';

/** @typedef {import('./model.js').Model} Model */

/** @param {string} text */
const folded = (text) => text.normalize('NFC').toLowerCase();

/**
 * The nodes that a text may mean: those called so, then those whose name begins with it, then those
 * that have it in their name, op, scope or number.
 * @param {Model} model
 * @param {string} text
 * @returns {number[]}
 */
export function matches(model, text) {
  const wanted = folded(text.trim());
  if (wanted === '') return [];
  const ranks = model.nodes.map((node) => {
    const name = folded(node.given);
    if (node.given === text.trim()) return 0;
    if (name === wanted || `#${node.id}` === wanted) return 1;
    if (name.startsWith(wanted)) return 2;
    const op = node.kind === 'op' ? node.op : '';
    return name.includes(wanted) || folded(`${op} ${node.scope}`).includes(wanted) ? 3 : 4;
  });
  return [0, 1, 2, 3].flatMap((rank) =>
    model.nodes.map(({id}) => id).filter((id) => ranks[id] === rank));
}

export class Search {
  /**
   * @param {Model} model
   * @param {(node: number) => void} onFound
   */
  constructor(model, onFound) {
    const count = byId('found');
    const field = /** @type {HTMLInputElement} */ (byId('search'));
    let at = -1;
    field.addEventListener('input', () => {
      at = -1;
      const found = matches(model, field.value).length;
      const isEmpty = field.value.trim() === '';
      count.textContent = isEmpty ? '' : found === 0 ? 'none' : `${found}: Enter`;
    });
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        field.value = count.textContent = '';
        field.blur();
      }
      const found = matches(model, field.value);
      if (event.key !== 'Enter' || found.length === 0) return;
      at = (at + (event.shiftKey ? found.length - 1 : 1)) % found.length;
      count.textContent = `${at + 1} of ${found.length}`;
      onFound(found[at]);
    });
  }
}
