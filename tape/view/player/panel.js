// The closed form of attention beside the tape's numbers.

import {compareChain, toleranceOf} from './attention.js';
import {element, math, shapeText} from './dom.js';
import {heatmap} from './heatmap.js';
import {wordsOf} from './model.js';
import {largest} from './tensor.js';

/** @typedef {import('./attention.js').Attention} Attention */
/** @typedef {import('./attention.js').Line} Line */
/** @typedef {import('./model.js').Equation} Equation */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./tensor.js').Tensor} Tensor */

/**
 * @param {Model} model
 * @param {Attention[]} attentions
 * @param {number} chosen
 * @param {import('./places.js').Places} places
 * @param {{choose: (attention: number) => void, go: (step: number) => void}} actions
 * @returns {HTMLElement[]}
 */
export function attentionPanel(model, attentions, chosen, places, actions) {
  const attention = attentions[chosen], {Q, K, P, C, M, R} = attention;
  const {lines, problem} = compareChain(model, attention, places.placeIn(P.shape));
  const facts = [`Q ${shapeText(Q.shape)}, K ${shapeText(K.shape)}`,
    M && 'with a mask, which adds a constant to S', R && 'with dropout'];
  const controls = places.controls([P.shape], (axis, rank) =>
    rank === 4 ? ['batch', 'head'][axis] : `axis ${axis}`);
  const heading = [
    element('h2', {}, 'Attention: the closed form beside the tape'),
    element('p', {class: 'facts'}, facts.filter(Boolean).join(' · ')),
    ...(attentions.length > 1 ? [chooser(attentions, chosen, actions.choose)] : []),
    ...(controls ? [controls] : []),
  ];
  if (problem) return [...heading, element('p', {class: 'verdict none'}, problem)];
  return [...heading, verdictOf(lines),
    ...lines.map((line) => lineOf(model, attention, line, actions.go)),
    element('p', {class: 'note'}, 'Computed in this page from the numbers of the tape. The two ' +
      `agree if everywhere |tape − closed form| ≤ ${toleranceOf(C).toExponential(0)} · ` +
      '(|closed form| + the largest of its numbers).')];
}

/**
 * @param {Attention[]} attentions
 * @param {number} chosen
 * @param {(attention: number) => void} choose
 */
function chooser(attentions, chosen, choose) {
  const options = attentions.map(({C}, i) => element('option', {value: i, selected: i === chosen},
    `${i + 1} of ${attentions.length}: ${C.scope || 'the tape'}, ${C.label}`));
  const select = /** @type {HTMLSelectElement} */ (
    element('select', {'data-key': 'attention'}, ...options));
  select.addEventListener('change', () => choose(Number(select.value)));
  return element('div', {class: 'places'}, element('label', {}, 'attention ', select));
}

/** @param {Line[]} lines */
function verdictOf(lines) {
  const wrong = lines.filter((line) => !line.agrees).map((line) => line.what);
  const verdict = wrong.length === 0 ? 'agrees' : 'differs';
  return element('p', {class: `verdict ${verdict}`, role: 'status'}, wrong.length === 0
    ? `The tape agrees with the textbook in all ${lines.length} lines.`
    : `The tape differs from the textbook: ${wrong.join(', ')}.`);
}

/**
 * @param {Model} model
 * @param {Attention} attention
 * @param {Line} line
 * @param {(step: number) => void} go
 */
function lineOf(model, attention, line, go) {
  const words = wordsOf(model, line.of), verdict = line.agrees ? 'agrees' : 'differs';
  const most = Math.max(largest(line.tape.values), largest(line.closed.values));
  const figure = (/** @type {Tensor} */ tensor, /** @type {string} */ whose) => heatmap(tensor,
    {name: `${line.what}, ${whose}`, caption: element('span', {}, whose), most, words, share: 2});
  const {text, mathml} = lineEquation(attention, line.what);
  const button = element('button', {type: 'button', class: 'link'}, `step ${line.step + 1}`);
  button.addEventListener('click', () => go(line.step));
  return element('article', {class: 'line', 'data-line': line.what},
    element('h3', {}, math(mathml, text, true),
      element('span', {class: `chip ${verdict}`}, verdict),
      element('span', {class: 'difference'}, `max difference ${line.difference.toExponential(1)}`),
      button),
    element('div', {class: 'tensors'}, figure(line.tape, 'the tape'),
      figure(line.closed, 'closed form')));
}

// --- the equations, with the names on the tape --------------------------------------------------

/** @param {...(Equation | string)} parts  a string is a sign, or the space of a product */
function joined(...parts) {
  const all = parts.map((part) => typeof part !== 'string' ? part
    : part === ' ' ? {text: ' ', mathml: '<mspace width="0.17em"/>'}
    : {text: ` ${part} `, mathml: `<mo>${part}</mo>`});
  return {text: all.map(({text}) => text).join(''), mathml: all.map(({mathml}) => mathml).join('')};
}

/** @param {Equation} a @returns {Equation} */
function turned(a) {
  return {text: `${a.text}^T`, mathml: `<msup><mrow>${a.mathml}</mrow><mo>⊤</mo></msup>`};
}

/** @param {Equation} a @returns {Equation} */
function bracketed(a) {
  return {text: `(${a.text})`, mathml: `<mrow><mo>(</mo>${a.mathml}<mo>)</mo></mrow>`};
}

/** @type {Equation} */
const ROWSUM = {text: 'rowsum', mathml: '<mi>rowsum</mi>'};

/**
 * a / sqrt(d), where c is that of the width.
 * @param {Equation} a
 * @param {number} c
 * @param {number} width
 * @returns {Equation}
 */
function scaledBy(a, c, width) {
  if (c === 1) return a;
  const isByWidth = Math.abs(c * Math.sqrt(width) - 1) < 1e-6;
  const below = String(Number((1 / c).toPrecision(4)));
  const [text, mathml] = isByWidth
    ? ['sqrt(d)', '<msqrt><mi>d</mi></msqrt>'] : [below, `<mn>${below}</mn>`];
  return {text: `${a.text} / ${text}`, mathml: `<mfrac><mrow>${a.mathml}</mrow>${mathml}</mfrac>`};
}

/**
 * @param {Attention} attention
 * @param {Line['what']} what
 * @returns {Equation}
 */
function lineEquation({Q, K, V, S, P, C, Z, R, c}, what) {
  const dC = C.adjoint, dS = S.adjoint, dP = P.adjoint, width = Q.shape[Q.shape.length - 1];
  switch (what) {
    case 'dV': return joined(V.adjoint, '=', turned(Z.name), ' ', dC);
    case 'dZ': return joined(Z.adjoint, '=', dC, ' ', turned(V.name));
    case 'dP': return R ? joined(dP, '=', Z.adjoint, '⊙', R.name)
      : joined(dP, '=', dC, ' ', turned(V.name));
    case 'dS': return joined(dS, '=', P.name, '⊙',
      bracketed(joined(dP, '−', ROWSUM, bracketed(joined(dP, '⊙', P.name)))));
    case 'dQ': return joined(Q.adjoint, '=', scaledBy(joined(dS, ' ', K.name), c, width));
    case 'dK': return joined(K.adjoint, '=', scaledBy(joined(turned(dS), ' ', Q.name), c, width));
  }
}
