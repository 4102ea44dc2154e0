// Elements, and the numbers and formulas in them.

/**
 * An element with attributes and children; what is null or false is left out.
 * @param {string} tag
 * @param {Object<string, string|number|boolean|null|undefined>} [attributes]
 * @param {...(Node|string|null|false)} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : String(value));
  for (const child of children) if (child) node.append(child);
  return node;
}

/**
 * The element of this id, which index.html has.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`there is no #${id}`);
  return /** @type {T} */ (node);
}

/**
 * A formula.
 * @param {string} mathml  what stands inside <math>: made by the library, which escapes names
 * @param {string} text    the same in words, for screen readers
 * @param {boolean} [display]  in large type
 */
export function math(mathml, text, display = false) {
  const node = element('span', {class: display ? 'formula display' : 'formula'});
  if (mathml === '') {
    node.textContent = text;
    return node;
  }
  const box = element('span', {'aria-hidden': true});
  box.innerHTML = `<math${display ? ' displaystyle="true"' : ''}>${mathml}</math>`;
  node.append(box, element('span', {class: 'spoken'}, text));
  return node;
}

/**
 * "[2, 3]"
 * @param {number[]} shape
 */
export const shapeText = (shape) => `[${shape.join(', ')}]`;

/**
 * A number to read: four digits.
 * @param {number} value
 */
export function brief(value) {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

/**
 * A number with all of its digits.
 * @param {number} value
 */
export const exact = (value) =>
  Object.is(value, -0) ? '-0' : Number.isFinite(value) ? String(value) : brief(value);

/**
 * A name for the inside of a text: one that is read from the right, or turns what follows, stays
 * within U+2068 FIRST STRONG ISOLATE and U+2069 POP DIRECTIONAL ISOLATE.
 * @param {string} name
 */
export const isolated = (name) =>
  /^[\0-\u058f]*$/.test(name) ? name : `\u2068${name}\u2069`;
