// The graph that `dot` drew, with what has happened so far and what happens now.

import {byId} from './dom.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').Step} Step */
/** @typedef {import('./folds.js').Folds} Folds */

/** Smaller than this, text cannot be read: the graph is scrolled instead. */
const LEAST_SCALE = 0.7;
const MOST_SCALE = 1.8;
const ZOOM_STEP = 1.25;

export class Graph {
  /**
   * @param {Model} model
   * @param {Folds} folds
   * @param {{node: (id: number) => void, region: (index: number) => void}} onClick
   */
  constructor(model, folds, onClick) {
    this.model = model;
    this.folds = folds;
    this.box = byId('graph');
    this.zoom = 1;
    /** @type {SVGSVGElement | null} */
    this.svg = null;
    /** @type {Map<string, Element>} nodes, boxes, frames: "n3", "b3", "c3"; edges: "e7_0", "n3->b3" */
    this.parts = new Map();
    this.drawn = -1;
    this.box.addEventListener('click', (event) => {
      const group = /** @type {Element} */ (event.target).closest('g[data-part]');
      const [, kind, index] = group?.getAttribute('data-part')?.match(/^([nbc])(\d+)$/) ?? [];
      if (kind === 'n') onClick.node(Number(index));
      else if (kind && (kind === 'b' || /** @type {Element} */ (event.target).closest('.cover')))
        onClick.region(Number(index));
    });
    new ResizeObserver(() => this.scale()).observe(this.box);
  }

  get isThere() {
    return this.model.graphs > 0;
  }

  /** Draws what the folds leave: the graph that unfolds least of those that show all of it. */
  redraw() {
    const wanted = this.folds.unfoldedDepth;
    const at = Math.min(wanted, this.model.graphs - 1);
    byId('graph-note').textContent =
      at < wanted ? this.model.graphNote.replace(/^to_svg: /, 'No graph: ') : '';
    if (!this.isThere) return;
    if (at !== this.drawn) this.take(at);
    this.cover();
  }

  /** @param {number} at  which graph */
  take(at) {
    this.drawn = at;
    const template = /** @type {HTMLTemplateElement} */ (byId(`graph-${at}`));
    const svg = /** @type {SVGSVGElement} */ (
      template.content.querySelector('svg')?.cloneNode(true));
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', 'The graph of the tape; the list has the same nodes.');
    this.svg = svg;
    this.parts.clear();
    for (const group of svg.querySelectorAll('g[id]')) {
      const part = group.id.match(/_([nbce]\d+(_\d+)?)$/)?.[1];
      if (!part) continue;
      group.setAttribute('data-part', part);
      this.parts.set(part, group);
      // dot's title of an edge names its ends.
      const ends = group.querySelector('title')?.textContent ?? '';
      if (part.startsWith('e') && !this.parts.has(ends)) this.parts.set(ends, group);
    }
    // A title would be a tooltip that says n3.
    for (const title of svg.querySelectorAll('title')) title.remove();
    for (const link of svg.querySelectorAll('a')) link.replaceWith(...link.childNodes);
    this.addArrowHead(svg);
    this.box.replaceChildren(svg);
    this.scale();
  }

  /**
   * The head of an arrow against the direction in which an edge is drawn.
   * @param {SVGSVGElement} svg
   */
  addArrowHead(svg) {
    const marker = document.createElementNS(svg.namespaceURI, 'marker');
    const attributes = {id: 'back-head', viewBox: '0 0 10 10', refX: '1', refY: '5',
      markerWidth: '5', markerHeight: '5', orient: 'auto', markerUnits: 'strokeWidth'};
    for (const [name, value] of Object.entries(attributes)) marker.setAttribute(name, value);
    const head = document.createElementNS(svg.namespaceURI, 'path');
    head.setAttribute('d', 'M10,0 L0,5 L10,10 z');
    head.setAttribute('class', 'back-head');
    marker.append(head);
    svg.append(marker);
  }

  /** Draws a lid over each frame that is folded. */
  cover() {
    const root = this.svg?.querySelector('g');
    if (!root) return;
    for (const lid of root.querySelectorAll('.cover')) lid.remove();
    for (const [name, part] of this.parts)
      if (/^[ne]/.test(name)) part.classList.remove('covered');
    for (const index of this.folds.folded) {
      const frame = this.parts.get(`c${index}`);
      if (!frame || this.folds.isInsideFolded(index)) continue;
      const lid = /** @type {Element} */ (frame.cloneNode(true));
      lid.removeAttribute('id');
      lid.classList.add('cover');
      root.append(lid);
    }
    this.folds.regionOf.forEach((_, node) => {
      const hider = this.folds.hiderOf(node);
      if (this.parts.has(`c${hider}`)) this.parts.get(`n${node}`)?.classList.add('covered');
    });
  }

  /**
   * What stands for a node: the lid over it, itself, or the box that it is in.
   * @param {number} node
   */
  partOf(node) {
    const lid = this.svg?.querySelector(`.cover[data-part="c${this.folds.hiderOf(node)}"]`);
    return lid ?? this.parts.get(this.itemOf(node)) ?? null;
  }

  /** "n3", or the box "b2" that it is drawn in. @param {number} node */
  itemOf(node) {
    const names = [`n${node}`, ...this.folds.around(node).map((region) => `b${region}`)];
    return names.find((name) => this.parts.has(name)) ?? '';
  }

  /**
   * The edge into a node, or that between the boxes of both.
   * @param {number} from
   * @param {number} to
   * @param {number} position
   */
  edgeOf(from, to, position) {
    return this.parts.get(`e${to}_${position}`) ??
      this.parts.get(`${this.itemOf(from)}->${this.itemOf(to)}`);
  }

  /**
   * Marks what has been computed, and what the steps from `first` to `last` do.
   * @param {number} first
   * @param {number} last
   */
  show(first, last) {
    if (!this.svg) return;
    const marks = ['todo', 'current', 'forward', 'backward', 'partial', 'complete'];
    for (const part of this.svg.querySelectorAll('g[data-part]')) part.classList.remove(...marks);
    for (const path of this.svg.querySelectorAll('[marker-start]'))
      path.removeAttribute('marker-start');
    this.markComputed(last);
    for (let at = first; at <= last; ++at) this.markStep(this.model.steps[at]);
    this.bringIntoView(this.partOf(this.model.steps[last].node.id));
  }

  /**
   * Makes pale what is still to come, and tells adjoints that are there.
   * @param {number} last
   */
  markComputed(last) {
    const {nodes, reached, complete} = this.model;
    /** @type {Map<Element, boolean>} whether all that a part stands for is still to come */
    const todo = new Map();
    const add = (/** @type {Element | null | undefined} */ part, /** @type {number} */ node) => {
      if (part) todo.set(part, (todo.get(part) ?? true) && node > last);
    };
    for (const {id, inputs} of nodes) {
      add(this.partOf(id), id);
      for (const {node, position} of inputs) add(this.edgeOf(node, id, position), id);
      if (reached[id] >= 0 && reached[id] <= last)
        this.parts.get(`n${id}`)?.classList.add(complete[id] <= last ? 'complete' : 'partial');
    }
    for (const [part, isTodo] of todo) part.classList.toggle('todo', isTodo);
  }

  /**
   * Rings the node of a step, and marks the edges along which it computes.
   * @param {Step} step
   */
  markStep({phase, node, parts}) {
    this.partOf(node.id)?.classList.add('current', phase);
    const inputs = phase === 'forward' ? node.inputs : parts.map((part) => part.input);
    for (const input of inputs) {
      const edge = this.edgeOf(input.node, node.id, input.position);
      if (!edge) continue;
      edge.classList.add('current', phase);
      edge.parentElement?.append(edge);  // above the others
      if (phase === 'backward')
        edge.querySelector('path')?.setAttribute('marker-start', 'url(#back-head)');
    }
  }

  /** @param {number} by  -1: smaller, 1: larger, 0: as large as fits */
  zoomBy(by) {
    this.zoom = by === 0 ? 1 : this.zoom * ZOOM_STEP ** by;
    this.scale();
  }

  scale() {
    if (!this.svg) return;
    const {width, height} = this.svg.viewBox.baseVal;
    const margin = 16;
    const fit = Math.min((this.box.clientWidth - margin) / width,
      (this.box.clientHeight - margin) / height);
    const scale = Math.max(LEAST_SCALE, Math.min(MOST_SCALE, fit)) * this.zoom;
    this.svg.setAttribute('width', `${Math.max(1, width * scale)}`);
    this.svg.setAttribute('height', `${Math.max(1, height * scale)}`);
  }

  /** @param {Element | null} part */
  bringIntoView(part) {
    if (!part) return;
    const inner = part.getBoundingClientRect(), outer = this.box.getBoundingClientRect();
    const isVisible = inner.left >= outer.left && inner.right <= outer.right &&
      inner.top >= outer.top && inner.bottom <= outer.bottom;
    if (isVisible) return;
    this.box.scrollBy(inner.x + inner.width / 2 - outer.x - outer.width / 2,
      inner.y + inner.height / 2 - outer.y - outer.height / 2);
  }
}
