// Light or dark: as the system prefers, until the reader chooses; paper is always light.

import {byId} from './dom.js';

/** @typedef {'light' | 'dark'} Theme */

/** @returns {Theme} */
export function currentTheme() {
  const {theme, printing} = document.documentElement.dataset;
  if (printing) return 'light';
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** @param {() => void} redraw */
export function connectTheme(redraw) {
  byId('theme').addEventListener('click', () => {
    document.documentElement.dataset.theme = currentTheme() === 'dark' ? 'light' : 'dark';
    redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  const print = (/** @type {boolean} */ isPrinting) => {
    if (isPrinting) document.documentElement.dataset.printing = 'yes';
    else delete document.documentElement.dataset.printing;
    redraw();
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  matchMedia('print').addEventListener('change', (event) => print(event.matches));
}
