// What a folded scope does, taken as one step: what goes in and what comes out.

import {element, math} from './dom.js';
import {completeness, namedTensor, section} from './inspector.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').Part} Part */
/** @typedef {import('./model.js').Step} Step */
/** @typedef {import('./model.js').TapeNode} TapeNode */
/** @typedef {import('./folds.js').Region} Region */
/** @typedef {import('./places.js').Places} Places */

/**
 * @param {Model} model
 * @param {Region} region
 * @param {number} first  the steps that it takes, from 0
 * @param {number} last
 * @param {Places} places
 * @returns {HTMLElement[]}
 */
export function inspectScope(model, region, first, last, places) {
  const count = region.end - region.first, steps = model.steps.slice(first, last + 1);
  const nodes = `${count} ${count === 1 ? 'node' : 'nodes'}`;
  const facts = [`${nodes}, #${region.first} to #${region.end - 1}`,
    `steps ${first + 1} to ${last + 1}`];
  return [
    element('h2', {}, `${region.name}, folded`),
    element('p', {class: 'facts'}, facts.join(' · ')),
    ...(steps[0].phase === 'forward' ? scopeForward(model, region, places)
      : scopeBackward(model, region, steps, places)),
  ];
}

/** @param {Region} region @param {number} node */
function isInside(region, node) {
  return region.first <= node && node < region.end;
}

/**
 * @param {Model} model
 * @param {Region} region
 * @param {Places} places
 */
function scopeForward(model, region, places) {
  const inside = insideOf(model, region);
  const read = new Set(inside.flatMap((node) => node.inputs.map((input) => input.node)));
  const inputs = model.nodes.filter(({id}) => read.has(id) && !isInside(region, id));
  const show = (/** @type {TapeNode} */ node) =>
    namedTensor(model, node, node.value, node.name, places);
  const results = section('What comes out', ...resultsOf(model, region).map(show));
  return inputs.length > 0 ? [results, section('What goes in', ...inputs.map(show))] : [results];
}

/**
 * The nodes inside that are computed before the sweep's start, and that node.
 * @param {Model} model
 * @param {Region} region
 */
function insideOf(model, region) {
  return model.nodes.slice(region.first, Math.min(region.end, model.forwardCount));
}

/**
 * The ops inside whose values others use, or the last node: that at which the sweep starts.
 * @param {Model} model
 * @param {Region} region
 */
function resultsOf(model, region) {
  const inside = insideOf(model, region);
  const later = model.nodes.slice(region.end, model.forwardCount);
  const used = new Set(later.flatMap((node) => node.inputs.map((input) => input.node)));
  const results = inside.filter(({id, kind}) => kind === 'op' && used.has(id));
  return results.length > 0 ? results : inside.slice(-1);
}

/**
 * @param {Model} model
 * @param {Region} region
 * @param {Step[]} steps
 * @param {Places} places
 */
function scopeBackward(model, region, steps, places) {
  const results = new Set(resultsOf(model, region));
  const arriving = steps.filter(({node}) => results.has(node)).flatMap(({node, adjoint}) =>
    adjoint ? [namedTensor(model, node, adjoint, node.adjoint, places)] : []);
  const sums = sumsOf(model, region, steps);
  const group = (/** @type {string} */ title, /** @type {boolean} */ wanted) => {
    const cards = [...sums].filter(([id]) => isInside(region, id) === wanted)
      .map(([id, sum]) => card(model, model.nodes[id], sum, places));
    return cards.length > 0 ? [element('section', {}, element('h3', {}, title), ...cards)] : [];
  };
  return [
    ...(arriving.length > 0 ? [section('The adjoint that arrives', ...arriving)] : []),
    ...group('The adjoint that leaves', false),
    ...group('What stays inside', true),
  ];
}

/** @typedef {Pick<Part, 'before' | 'after' | 'complete'>} Sum */

/**
 * By input: its first part in these steps tells the sum before, its last the sum after.
 * @param {Model} model
 * @param {Region} region
 * @param {Step[]} steps
 * @returns {Map<number, Sum>}
 */
function sumsOf(model, region, steps) {
  /** @type {Map<number, Sum>} */
  const sums = new Map();
  for (const {input, before, after, complete} of steps.flatMap(({parts}) => parts)) {
    if (isInside(region, input.node) && model.nodes[input.node].kind === 'op') continue;
    const known = sums.get(input.node);
    sums.set(input.node, {before: known ? known.before : before, after, complete});
  }
  return sums;
}

/**
 * @param {Model} model
 * @param {TapeNode} node
 * @param {Sum} sum
 * @param {Places} places
 */
function card(model, node, {before, after, complete}, places) {
  const share = before ? 2 : 1;
  return element('article', {class: 'contribution', 'data-node': node.id},
    element('h4', {}, math(node.adjoint.mathml, node.adjoint.text, true), completeness(complete)),
    element('div', {class: 'sum'},
      before && namedTensor(model, node, before, node.adjoint, places, {caption: 'before', share}),
      namedTensor(model, node, after, node.adjoint, places,
        {caption: before ? 'after' : '', share})));
}
