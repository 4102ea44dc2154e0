// The page: what the reader does, and what is shown then.

import {findAttention} from './attention.js';
import {byId} from './dom.js';
import {Folds} from './folds.js';
import {Graph} from './graph.js';
import {showNumbers} from './heatmap.js';
import {inspect} from './inspector.js';
import {List} from './list.js';
import {modelOf, titleOf} from './model.js';
import {attentionPanel} from './panel.js';
import {Places} from './places.js';
import {inspectScope} from './scope.js';
import {Search} from './search.js';
import {connectTheme} from './theme.js';

/** So many rows are visible at first; of longer tapes scopes are folded. */
const MOST_ROWS = 40;
const PLAY_MS = 1200;

const readBlock = (/** @type {string} */ id) => JSON.parse(byId(id).textContent ?? '');
const model = modelOf(readBlock('tape-data'), readBlock('page-data'));
const folds = new Folds(model.regions, model.nodes.length, MOST_ROWS);
const attentions = findAttention(model);
const places = new Places(render);
const onClick = {node: showNode, region: toggleScope};
const graph = new Graph(model, folds, onClick);
const list = new List(model, folds, onClick);
const lastStep = model.steps.length - 1;

let now = 0;  // the step, from 0
let attention = -1;  // whose closed form is shown instead of the step; -1: none
let timer = 0;

// --- where a move leads ------------------------------------------------------------------------

/**
 * The steps that count as one: those of a folded scope, in one phase.
 * @param {number} step
 */
function groupOf(step) {
  const {phase, node} = model.steps[step], hider = folds.hiderOf(node.id);
  const isSame = (/** @type {number} */ at) => hider > 0 && model.steps[at]?.phase === phase &&
    folds.hiderOf(model.steps[at].node.id) === hider;
  let first = step, last = step;
  while (isSame(first - 1)) --first;
  while (isSame(last + 1)) ++last;
  return {hider, first, last};
}

/** @param {number} step */
function go(step) {
  now = Math.max(0, Math.min(lastStep, step));
  attention = -1;
  try {
    history.replaceState(null, '', `#step=${now + 1}`);
  } catch {
    // In a notebook the page stands inside another, and has no address.
  }
  render();
  byId('inspector').scrollTop = 0;
}

/** The first step, or the whole of a folded scope that begins with it. */
function start() {
  go(groupOf(0).last);
}

function next() {
  const {last} = groupOf(now);
  // Inside of a folded scope: first to the whole of it.
  if (now < last) go(last);
  else if (last < lastStep) go(groupOf(last + 1).last);
}

function back() {
  const {first} = groupOf(now);
  if (first > 0) go(first - 1);
}

/**
 * Goes to the step of a node: that of the phase shown, if there is one.
 * @param {number} id
 */
function showNode(id) {
  const {phase} = model.steps[now];
  const stepIn = (/** @type {string} */ wanted) =>
    model.steps.findIndex(({phase: own, node}) => own === wanted && node.id === id);
  const step = stepIn(phase) >= 0 ? stepIn(phase) : stepIn('forward');
  if (step >= 0) go(step);
  else say(`${model.nodes[id].label} was computed after the sweep's start; no step shows it.`);
}

/** @param {number} region */
function toggleScope(region) {
  folds.toggle(region);
  refold();
}

function refold() {
  graph.redraw();
  list.redraw();
  render();
}

function toggleNumbers() {
  const button = byId('numbers'), wanted = button.getAttribute('aria-pressed') !== 'true';
  button.setAttribute('aria-pressed', String(wanted));
  showNumbers(wanted);
  render();
}

function play() {
  const isPlaying = timer !== 0;
  clearInterval(timer);
  timer = 0;
  if (!isPlaying) {
    if (now === lastStep) start();
    timer = window.setInterval(() => {
      if (now === lastStep) play();
      else next();
    }, PLAY_MS);
  }
  byId('play').textContent = isPlaying ? 'Play' : 'Pause';
}

/** The step that the address names: #step=17. */
function goToAddress() {
  const step = Number(location.hash.match(/^#step=(\d+)$/)?.[1]);
  if (step >= 1) go(step - 1);
}

// --- what is shown -----------------------------------------------------------------------------

/** @param {string} text */
function say(text) {
  byId('spoken').textContent = text;
}

function render() {
  const step = model.steps[now], {hider, first, last} = groupOf(now);
  const isScope = hider > 0 && now === last;
  const where = `step ${now + 1} of ${model.steps.length}`;
  document.body.dataset.step = String(now + 1);
  document.body.dataset.phase = step.phase;
  byId('where').textContent = where;
  byId('phase').textContent = step.phase;
  const slider = /** @type {HTMLInputElement} */ (byId('slider'));
  slider.value = String(now + 1);
  slider.setAttribute('aria-valuetext', `${where}, ${titleOf(step)}`);
  /** @type {HTMLButtonElement} */ (byId('back')).disabled = first === 0;
  /** @type {HTMLButtonElement} */ (byId('next')).disabled = now === lastStep;
  byId('closed-form').setAttribute('aria-pressed', String(attention >= 0));
  graph.show(isScope ? first : now, now);
  list.show(now);
  showInspector(attention >= 0
    ? attentionPanel(model, attentions, attention, places, {choose: showAttention, go})
    : isScope ? inspectScope(model, folds.regions[hider], first, last, places)
      : inspect(model, step, places));
  say(attention >= 0 ? 'the closed form of attention' : `${where}, ${titleOf(step)}`);
}

/** @param {HTMLElement[]} content */
function showInspector(content) {
  const box = byId('inspector');
  // A field that is in use, or the one made in its place, keeps the focus.
  const key = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key;
  byId('tip').hidden = true;
  box.replaceChildren(...content);
  const again = key && box.querySelector(`[data-key="${key}"]`);
  if (again) /** @type {HTMLElement} */ (again).focus();
}

/** @param {number} which */
function showAttention(which) {
  attention = which;
  render();
  byId('inspector').scrollTop = 0;
}

// --- what the reader does ----------------------------------------------------------------------

/** @type {Object<string, () => void>} */
const KEYS = {
  ArrowRight: next,
  ArrowLeft: back,
  Home: start,
  End: () => go(lastStep),
  ' ': play,
  n: toggleNumbers,
  N: toggleNumbers,
  '/': () => byId('search').focus(),
  '?': () => /** @type {HTMLDialogElement} */ (byId('help')).showModal(),
};

function connect() {
  const slider = /** @type {HTMLInputElement} */ (byId('slider'));
  slider.max = String(model.steps.length);
  slider.style.setProperty('--split', `${100 * model.forwardCount / model.steps.length}%`);
  slider.addEventListener('input', () => go(Number(slider.value) - 1));
  const attend = () => showAttention(attention >= 0 ? -1 : 0);
  const fold = (/** @type {number} */ depth) => () => {
    folds.foldFrom(depth);
    refold();
  };
  /** @type {[string, () => void][]} */
  const buttons = [['first', KEYS.Home], ['back', back], ['next', next], ['last', KEYS.End],
    ['play', play], ['numbers', toggleNumbers], ['closed-form', attend], ['help-open', KEYS['?']],
    ['zoom-in', () => graph.zoomBy(1)], ['zoom-out', () => graph.zoomBy(-1)],
    ['zoom-fit', () => graph.zoomBy(0)], ['fold', fold(0)], ['unfold', fold(folds.depth)]];
  for (const [id, action] of buttons) byId(id).addEventListener('click', action);
  addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = target.matches('input, select') || document.querySelector('dialog[open]');
    const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
    // Space presses the button that has the focus.
    const isPress = event.key === ' ' && target.matches('button, summary');
    const action = KEYS[event.key];
    if (!action || isTyping || isShortcut || isPress) return;
    event.preventDefault();
    action();
  });
  addEventListener('hashchange', goToAddress);
  new Search(model, (node) => {
    folds.reveal(node);
    graph.redraw();
    list.redraw();
    showNode(node);
  });
  connectTheme(render);
}

byId('closed-form').hidden = attentions.length === 0;
byId('folding').hidden = folds.depth === 0;
document.body.classList.toggle('no-graph', !graph.isThere);
connect();
now = groupOf(0).last;
refold();
goToAddress();
performance.mark('shown');
