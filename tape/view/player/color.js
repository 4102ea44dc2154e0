// Colours of numbers: blue below 0, orange above, the ground at 0 (Okabe and Ito, "Color Universal
// Design", 2008), told apart by all.

/** @typedef {[number, number, number]} Rgb */

/** @type {Record<import('./theme.js').Theme, {ground: Rgb, below: Rgb, above: Rgb}>} */
const THEMES = {
  light: {ground: [255, 255, 255], below: [0, 114, 178], above: [213, 94, 0]},
  dark: {ground: [36, 41, 50], below: [86, 180, 233], above: [240, 140, 50]},
};

/**
 * The background for a number, and black or white for its text, whichever is easier to read.
 * @param {number} value
 * @param {number} most  the number of the full colour
 * @param {import('./theme.js').Theme} theme
 */
export function colorOf(value, most, theme) {
  const {ground, below, above} = THEMES[theme];
  const share = most > 0 ? Math.max(-1, Math.min(1, value / most)) : 0;
  const end = share < 0 ? below : above;
  const mixed = /** @type {Rgb} */ (ground.map((part, i) =>
    Math.round(part + (end[i] - part) * Math.abs(share))));
  const light = luminance(mixed);
  const text = (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? '#000000' : '#ffffff';
  return {background: `rgb(${mixed.join(', ')})`, text};
}

/**
 * Relative luminance. Source: W3C, "Web Content Accessibility Guidelines 2.2", section 1.4.3.
 * @param {Rgb} color
 */
function luminance(color) {
  const [r, g, b] = color.map((part) => {
    const x = part / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
