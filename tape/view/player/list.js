// The tape as a list: a row for each node, and one for each scope, which folds it.

import {byId, element, math} from './dom.js';
import {inWords} from './model.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').TapeNode} TapeNode */
/** @typedef {import('./folds.js').Folds} Folds */

/** On longer tapes the rows have plain text, which is quicker to lay out. */
const MOST_FORMULAS = 400;

/** @param {number} depth */
const indent = (depth) => `depth-${Math.min(depth, 6)}`;

export class List {
  /**
   * @param {Model} model
   * @param {Folds} folds
   * @param {{node: (id: number) => void, region: (index: number) => void}} onClick
   */
  constructor(model, folds, onClick) {
    this.model = model;
    this.folds = folds;
    this.box = byId('tape');
    /** @type {HTMLElement[]} [node] */
    this.rows = [];
    /** @type {Map<number, HTMLElement>} by region */
    this.headings = new Map();
    const list = element('ol');
    let next = 1;  // regions stand in the order of their first nodes
    for (const node of model.nodes) {
      for (; folds.regions[next]?.first === node.id; ++next)
        list.append(this.heading(folds.regions[next]));
      list.append(this.row(node));
    }
    this.box.replaceChildren(list);
    this.box.addEventListener('click', ({target}) => {
      const {node, region} = /** @type {Element} */ (target).closest('li')?.dataset ?? {};
      if (node) onClick.node(Number(node));
      else if (region) onClick.region(Number(region));
    });
  }

  /** @param {import('./folds.js').Region} region */
  heading(region) {
    const count = region.end - region.first;
    const row = element('li',
      {class: `scope ${indent(region.depth - 1)}`, 'data-region': region.index},
      element('button', {type: 'button', 'aria-expanded': true},
        element('span', {class: 'name'}, region.name),
        element('span', {class: 'count'}, `${count} ${count === 1 ? 'node' : 'nodes'}`)));
    this.headings.set(region.index, row);
    return row;
  }

  /** @param {TapeNode} node */
  row(node) {
    const {depth} = this.folds.regions[this.folds.regionOf[node.id]];
    const isAfter = node.id >= this.model.forwardCount;
    const row = element('li', {class: `${node.kind} ${indent(depth)}`, 'data-node': node.id},
      element('button', {type: 'button', title: inWords(node), disabled: isAfter},
        element('span', {class: 'number'}, `#${node.id}`),
        element('span', {class: 'equation'}, ...this.textOf(node)),
        element('span', {class: 'state'})));
    this.rows.push(row);
    return row;
  }

  /** @param {TapeNode} node */
  textOf(node) {
    const {kind, name, equation} = node, words = inWords(node);
    if (this.model.nodes.length > MOST_FORMULAS) return [words];
    if (kind !== 'op')
      return [math(name.mathml, words),
        element('span', {class: 'kind', 'aria-hidden': true}, kind)];
    return [math(equation.mathml && `${name.mathml}<mo>=</mo>${equation.mathml}`, words)];
  }

  /** Hides what is folded. */
  redraw() {
    this.rows.forEach((row, node) => (row.hidden = this.folds.hiderOf(node) > 0));
    for (const [index, row] of this.headings) {
      row.hidden = this.folds.isInsideFolded(index);
      const isOpen = !this.folds.folded.has(index);
      row.querySelector('button')?.setAttribute('aria-expanded', String(isOpen));
    }
  }

  /**
   * Marks what has been computed, and the step `last`.
   * @param {number} last
   */
  show(last) {
    const {steps, reached, complete} = this.model, {node, phase} = steps[last];
    this.rows.forEach((row, id) => {
      const isReached = reached[id] >= 0 && reached[id] <= last;
      const state = id > last ? 'todo'
        : !isReached ? '' : complete[id] <= last ? 'complete' : 'partial';
      if (row.dataset.state === state) return;
      row.dataset.state = state;
      const mark = row.querySelector('.state');
      if (mark) mark.textContent = state === 'complete' ? 'd' : state === 'partial' ? 'd…' : '';
    });
    this.box.querySelector('[aria-current]')?.removeAttribute('aria-current');
    this.box.querySelector('.now')?.classList.remove('now', 'forward', 'backward');
    const row = this.headings.get(this.folds.hiderOf(node.id)) ?? this.rows[node.id];
    row.classList.add('now', phase);
    row.querySelector('button')?.setAttribute('aria-current', 'step');
    row.scrollIntoView({block: 'nearest'});
  }
}
