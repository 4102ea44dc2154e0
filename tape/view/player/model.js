// The tape as the page has it: put together from to_json() and what stands beside it.

import {brief, shapeText} from './dom.js';
import {allPlaces} from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./folds.js').Region} Region */
/** @typedef {import('./table.js').Words} Words */

/** @typedef {{text: string, mathml: string}} Equation  the right side */

/**
 * @typedef {object} Input
 * @property {number} node      whose value it is
 * @property {string} name      what the op calls it
 * @property {number} position  in the op's list of inputs
 * @property {boolean} active   whether an adjoint flows along it
 * @property {Equation} rule
 */

/**
 * @typedef {object} TapeNode
 * @property {number} id
 * @property {string} kind      leaf, parameter, constant or op
 * @property {string} op
 * @property {string} formula   of the op, for any inputs
 * @property {string} given     the user's name for it; may be empty
 * @property {string} label     the name, or "#12"
 * @property {Equation} name
 * @property {Equation} adjoint the name of its adjoint
 * @property {string} scope     "encoder/attn"
 * @property {number[]} shape
 * @property {string} dtype
 * @property {boolean} active
 * @property {{name: string, text: string, number?: number}[]} attributes  "c = 0.5"
 * @property {Equation} equation
 * @property {Input[]} inputs
 * @property {Tensor} value
 */

/**
 * What flows along one edge in one step.
 * @typedef {object} Part
 * @property {Input} input
 * @property {Tensor} value          what the rule computed
 * @property {Tensor | null} before  the adjoint until then; null: this is the first part
 * @property {Tensor} after          the sum
 * @property {boolean} complete      whether the adjoint of the input is complete now
 */

/**
 * @typedef {object} Step
 * @property {'forward' | 'backward'} phase
 * @property {TapeNode} node
 * @property {Tensor | null} adjoint  of the node; only backward
 * @property {Part[]} parts
 */

/**
 * @typedef {object} Model
 * @property {TapeNode[]} nodes
 * @property {Step[]} steps          [0] is the first; shown as step 1
 * @property {number} forwardCount
 * @property {number[]} reached      [node] the step that first adds to its adjoint; -1: none does
 * @property {number[]} complete     [node] the step that completes its adjoint; -1: none does
 * @property {Region[]} regions
 * @property {Map<string, Words>} words
 * @property {number} graphs         how many there are; [i] unfolds i scopes inside one another
 * @property {string} graphNote      why there are no more
 */

/**
 * @param {any} json     a tensor of to_json()
 * @param {any} sample   what stands for it if it is too large
 * @param {number[]} shape
 * @returns {Tensor}
 */
function readTensor(json, sample, shape) {
  const values = (sample ?? json).numbers.map(Number);  // "NaN" is a string in JSON
  return {shape, kept: sample ? sample.kept : allPlaces(shape), values};
}

/** @param {any} attribute */
function readAttribute({name, value}) {
  const isList = Array.isArray(value);
  return {name, number: isList ? undefined : Number(value),
    text: `${name} = ${isList ? shapeText(value) : brief(Number(value))}`};
}

/**
 * The frames of to_json() are numbered; those without a node to show are missing among them.
 * @param {any[]} frames
 * @param {number} nodes
 * @returns {Region[]}
 */
function readRegions(frames, nodes) {
  const regions = [{index: 0, name: '', parent: 0, depth: 0, first: 0, end: nodes}];
  for (const {id, name, parent, first, end} of frames) {
    const index = Number(id.slice(1)), around = parent ? Number(parent.slice(1)) : 0;
    regions[index] = {index, name, parent: around, depth: regions[around].depth + 1, first, end};
  }
  return regions;
}

/**
 * "encoder/attention"
 * @param {any[]} scopes
 * @param {number} at
 * @returns {string}
 */
function scopePath(scopes, at) {
  const names = [];
  for (; at > 0; at = scopes[at].parent) names.unshift(scopes[at].name);
  return names.join('/');
}

/**
 * @param {any} tape  of to_json()
 * @param {any} page  what the library wrote beside it
 * @returns {TapeNode[]}
 */
function readNodes(tape, page) {
  return tape.nodes.map((/** @type {any} */ node, /** @type {number} */ id) => {
    const maths = page.mathml[id];
    return {id, kind: node.kind, op: node.op, formula: node.formula, given: node.name,
      label: node.label,
      name: {text: node.label, mathml: maths.name},
      adjoint: {text: `d${node.label}`, mathml: maths.adjoint},
      scope: scopePath(tape.scopes, node.scope), shape: node.shape, dtype: node.dtype,
      active: node.active, attributes: node.attributes.map(readAttribute),
      equation: {text: node.equation, mathml: maths.equation},
      inputs: node.inputs.map((/** @type {any} */ input, /** @type {number} */ i) =>
        ({node: input.node, name: input.name, position: input.position, active: input.active,
          rule: {text: input.rule, mathml: maths.rules[i]}})),
      value: readTensor(node.value, page.samples.nodes[id], node.shape)};
  });
}

/**
 * @param {any} step
 * @param {any} sample
 * @param {TapeNode[]} nodes
 * @returns {Step}
 */
function readStep(step, sample, nodes) {
  const node = nodes[step.node];
  const parts = step.contributions.map((/** @type {any} */ part, /** @type {number} */ i) => {
    const {shape} = nodes[part.input], samples = sample.contributions[i];
    const input = node.inputs.find(({position}) => position === part.position);
    return {input, value: readTensor(part.value, samples.value, shape),
      before: part.before && readTensor(part.before, samples.before, shape),
      after: readTensor(part.after, samples.after, shape), complete: part.complete};
  });
  const adjoint = readTensor(step.adjoint, sample.adjoint, node.shape);
  return {phase: 'backward', node, adjoint, parts};
}

/**
 * @param {any} tape  of to_json()
 * @param {any} page  what the library wrote beside it
 * @returns {Model}
 */
export function modelOf(tape, page) {
  const nodes = readNodes(tape, page), forwardCount = page.y + 1;
  /** @type {Step[]} */
  const steps = nodes.slice(0, forwardCount).map((node) =>
    ({phase: 'forward', node, adjoint: null, parts: []}));
  const reached = new Array(nodes.length).fill(-1), complete = new Array(nodes.length).fill(-1);
  // The adjoint of y is given before the first step back.
  reached[page.y] = complete[page.y] = forwardCount;
  tape.steps.forEach((/** @type {any} */ json, /** @type {number} */ i) => {
    const step = readStep(json, page.samples.steps[i], nodes);
    for (const part of step.parts) {
      if (!part.before) reached[part.input.node] = steps.length;
      if (part.complete) complete[part.input.node] = steps.length;
    }
    steps.push(step);
  });
  return {nodes, steps, forwardCount, reached, complete,
    regions: readRegions(tape.frames, nodes.length), words: new Map(Object.entries(page.words)),
    graphs: page.graphs, graphNote: page.graph_note};
}

/**
 * The words of the axes of a node; those of its adjoint are the same.
 * @param {Model} model
 * @param {TapeNode} node
 */
export const wordsOf = (model, node) => model.words.get(node.given);

/** "S = Q K^T", "X, a leaf" @param {TapeNode} node */
export function inWords({kind, label, equation}) {
  return kind === 'op' ? `${label} = ${equation.text}` : `${label}, a ${kind}`;
}

/** "backward through S = Q K^T" @param {Step} step */
export function titleOf({phase, node}) {
  return phase === 'forward' ? `forward: ${inWords(node)}` : `backward through ${inWords(node)}`;
}
