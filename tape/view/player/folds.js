// Which scopes are folded, and what is visible therefore.

/**
 * Nodes one behind the other, of one scope and those inside it.
 * @typedef {object} Region
 * @property {number} index
 * @property {string} name    of the scope; region 0 is the whole tape
 * @property {number} parent  the region around it
 * @property {number} depth   in how many scopes it lies, itself included
 * @property {number} first   its first node
 * @property {number} end     the node behind its last
 */

export class Folds {
  /**
   * @param {Region[]} regions  each before those inside it
   * @param {number} nodes      how many there are
   * @param {number} most       fold until no more rows are visible, if that is possible
   */
  constructor(regions, nodes, most) {
    this.regions = regions;
    /** @type {Set<number>} */
    this.folded = new Set();
    /** @type {number[]} the innermost region of each node */
    this.regionOf = new Array(nodes).fill(0);
    for (const region of regions)
      this.regionOf.fill(region.index, region.first, region.end);
    for (let depth = this.depth; depth >= 0 && this.count() > most; --depth)
      this.foldFrom(depth);
  }

  /** How many scopes stand inside one another. */
  get depth() {
    return Math.max(...this.regions.map((region) => region.depth));
  }

  /** The same for those that are unfolded and visible. */
  get unfoldedDepth() {
    const open = this.regions.filter(({index}) =>
      !this.folded.has(index) && !this.isInsideFolded(index));
    return Math.max(...open.map((region) => region.depth));
  }

  /**
   * Folds every scope that lies in `depth` others or more.
   * @param {number} depth
   */
  foldFrom(depth) {
    const inner = this.regions.filter(({depth: own, index}) => own > depth && index > 0);
    this.folded = new Set(inner.map(({index}) => index));
  }

  /** @param {number} index */
  toggle(index) {
    if (!this.folded.delete(index)) this.folded.add(index);
  }

  /**
   * Unfolds what a node lies in.
   * @param {number} node
   */
  reveal(node) {
    for (const region of this.around(node)) this.folded.delete(region);
  }

  /**
   * The regions of a node, the innermost first; not the whole tape.
   * @param {number} node
   */
  around(node) {
    const found = [];
    for (let at = this.regionOf[node]; at > 0; at = this.regions[at].parent) found.push(at);
    return found;
  }

  /**
   * The outermost folded region of a node; 0 if it is visible.
   * @param {number} node
   */
  hiderOf(node) {
    let hider = 0;
    for (const region of this.around(node)) if (this.folded.has(region)) hider = region;
    return hider;
  }

  /**
   * Whether a region lies in a folded one.
   * @param {number} index
   */
  isInsideFolded(index) {
    for (let at = this.regions[index].parent; at > 0; at = this.regions[at].parent)
      if (this.folded.has(at)) return true;
    return false;
  }

  /** How many nodes and folded scopes are visible. */
  count() {
    let rows = 0;
    for (let node = 0; node < this.regionOf.length; ++rows) {
      const hider = this.hiderOf(node);
      node = hider ? this.regions[hider].end : node + 1;
    }
    return rows;
  }
}
