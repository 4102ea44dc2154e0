// Which matrix of a tensor of more than two axes is shown: a choice for each leading axis, the same
// for all tensors that have such an axis.

import {element} from './dom.js';

export class Places {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    /** @type {Map<string, number>} by "axis:extent" */
    this.chosen = new Map();
  }

  /**
   * The place along the leading axes of a shape.
   * @param {number[]} shape
   */
  placeIn(shape) {
    return shape.slice(0, -2).map((extent, axis) => this.chosen.get(`${axis}:${extent}`) ?? 0);
  }

  /**
   * Controls for the leading axes of some shapes; null if there are none.
   * @param {number[][]} shapes
   * @param {(axis: number, rank: number) => string} [nameOf]
   */
  controls(shapes, nameOf = (axis) => `axis ${axis}`) {
    const keys = new Map(shapes.flatMap((shape) => shape.slice(0, -2).map((extent, axis) =>
      /** @type {[string, {axis: number, extent: number, rank: number}]} */ (
        [`${axis}:${extent}`, {axis, extent, rank: shape.length}]))));
    const box = element('div', {class: 'places'});
    for (const [key, {axis, extent, rank}] of keys) {
      if (extent < 2) continue;
      const field = /** @type {HTMLInputElement} */ (element('input', {type: 'number', min: 0,
        max: extent - 1, value: this.chosen.get(key) ?? 0, 'data-key': key}));
      field.addEventListener('change', () => {
        const wanted = Math.floor(Number(field.value)) || 0;
        this.chosen.set(key, Math.max(0, Math.min(extent - 1, wanted)));
        this.onChange();
      });
      box.append(
        element('label', {}, `${nameOf(axis, rank)} `, field, ` of 0 to ${extent - 1}`));
    }
    return box.childElementCount > 0 ? box : null;
  }
}
