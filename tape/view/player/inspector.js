// What a step does: its equation, and every tensor that takes part.

import {element, math, shapeText} from './dom.js';
import {heatmap} from './heatmap.js';
import {wordsOf} from './model.js';
import {largest} from './tensor.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').Step} Step */
/** @typedef {import('./model.js').TapeNode} TapeNode */
/** @typedef {import('./model.js').Equation} Equation */
/** @typedef {import('./model.js').Part} Part */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./places.js').Places} Places */

/**
 * @param {Model} model
 * @param {Step} step
 * @param {Places} places
 * @returns {HTMLElement[]}
 */
export function inspect(model, step, places) {
  const {node} = step, inputs = inputsOf(model, node);
  const controls = places.controls([node, ...inputs].map(({shape}) => shape));
  return [
    element('h2', {}, equationOf(node)),
    element('p', {class: 'facts'}, factsOf(node)),
    ...(controls ? [controls] : []),
    ...(step.phase === 'forward' ? forwardStep(model, node, places)
      : backwardStep(model, step, places)),
  ];
}

/** Each input once. @param {Model} model @param {TapeNode} node */
function inputsOf(model, node) {
  return [...new Set(node.inputs.map((input) => model.nodes[input.node]))];
}

/** `S = Q K^T`, or `X, a leaf`. @param {TapeNode} node */
function equationOf({kind, label, name, equation}) {
  if (kind === 'op' && equation.mathml)
    return math(`${name.mathml}<mo>=</mo>${equation.mathml}`, `${label} = ${equation.text}`, true);
  return element('span', {}, math(name.mathml, label, true),
    kind === 'op' ? ` = ${equation.text}` : `, a ${kind}`);
}

/** @param {TapeNode} node */
function factsOf(node) {
  // The scale of a product that has none is 1.
  const attributes = node.attributes.filter(({name, number}) => name !== 'c' || number !== 1);
  const facts = [`node #${node.id}`, node.kind === 'op' && node.op, shapeText(node.shape),
    node.dtype, ...attributes.map(({text}) => text), node.scope && `in ${node.scope}`];
  return facts.filter(Boolean).join(' · ');
}

/**
 * @param {Model} model
 * @param {TapeNode} node
 * @param {Places} places
 */
function forwardStep(model, node, places) {
  const value = section('The value', namedTensor(model, node, node.value, node.name, places));
  const inputs = inputsOf(model, node), share = inputs.length;
  if (share === 0) return [value];
  return [value, section(share === 1 ? 'Its input' : 'Its inputs', ...inputs.map((input) =>
    namedTensor(model, input, input.value, input.name, places, {share})))];
}

/**
 * @param {Model} model
 * @param {Step} step
 * @param {Places} places
 */
function backwardStep(model, {node, adjoint, parts}, places) {
  const count = parts.length;
  return [
    ...(adjoint ? [section('The incoming adjoint',
      namedTensor(model, node, adjoint, node.adjoint, places))] : []),
    element('section', {},
      element('h3', {}, count === 1 ? 'One contribution leaves' : `${count} contributions leave`),
      ...parts.map((part) => contribution(model, part, places))),
    operands(model, node, places),
  ];
}

/**
 * @param {Model} model
 * @param {Part} part
 * @param {Places} places
 */
function contribution(model, part, places) {
  const node = model.nodes[part.input.node], {adjoint} = node;
  const card = element('article', {class: 'contribution', 'data-input': part.input.position},
    element('h4', {}, ruleOf(part, adjoint), completeness(part.complete)));
  if (!part.before) {
    card.append(namedTensor(model, node, part.value, adjoint, places));
    return card;
  }
  // One scale for all three, so that the sum can be seen.
  const {before, value, after} = part;
  const most = Math.max(...[before, value, after].map((tensor) => largest(tensor.values)));
  const term = (/** @type {string} */ sign, /** @type {Tensor} */ tensor,
    /** @type {string} */ caption) => element('div', {class: 'term'},
    element('span', {class: 'sign'}, sign), namedTensor(model, node, tensor, adjoint, places,
      {most, caption, share: 3, follows: sign !== ''}));
  card.append(element('div', {class: 'sum'}, term('', before, 'before'),
    term('+', value, 'contribution'), term('=', after, 'after')));
  return card;
}

/** `dX += dQ W_Q^T`. @param {Part} part @param {Equation} adjoint */
function ruleOf({input, before}, adjoint) {
  const sign = before ? '+=' : '=', {text, mathml} = input.rule;
  const words = `${adjoint.text} ${sign} ${text}`;
  if (mathml) return math(`${adjoint.mathml}<mo>${sign}</mo>${mathml}`, words, true);
  return element('span', {}, math(adjoint.mathml, adjoint.text, true),
    ` ${sign} the rule of ${input.name}`);
}

/** @param {boolean} isComplete */
export function completeness(isComplete) {
  return element('span', {class: isComplete ? 'chip complete' : 'chip'},
    isComplete ? 'complete' : 'more will come');
}

/**
 * The values that the rules may take, closed until they are asked for.
 * @param {Model} model
 * @param {TapeNode} node
 * @param {Places} places
 */
function operands(model, node, places) {
  const nodes = [...inputsOf(model, node), node], share = Math.min(nodes.length, 3);
  const details = element('details', {class: 'operands'},
    element('summary', {}, `The values of ${nodes.map(({label}) => label).join(', ')}`));
  details.addEventListener('toggle', () => {
    if (details.childElementCount > 1) return;
    details.append(element('div', {class: 'tensors'}, ...nodes.map((operand) =>
      namedTensor(model, operand, operand.value, operand.name, places, {share}))));
  });
  return details;
}

/**
 * @param {string} title
 * @param {...HTMLElement} tensors
 */
export function section(title, ...tensors) {
  return element('section', {}, element('h3', {}, title),
    element('div', {class: 'tensors'}, ...tensors));
}

/**
 * A tensor of a node, with its name and shape above it.
 * @param {Model} model
 * @param {TapeNode} node
 * @param {Tensor} tensor
 * @param {Equation} name
 * @param {Places} places
 * @param {{most?: number, caption?: string, share?: number, follows?: boolean}} [options]
 */
export function namedTensor(model, node, tensor, name, places, options = {}) {
  const caption = element('span', {},
    options.caption ? element('span', {}, options.caption) : math(name.mathml, name.text),
    element('span', {class: 'shape'}, shapeText(tensor.shape)));
  return heatmap(tensor, {...options, caption, words: wordsOf(model, node),
    name: options.caption ? `${name.text} ${options.caption}` : name.text,
    place: places.placeIn(tensor.shape)});
}
