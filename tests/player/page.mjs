// What the browser tests share: a browser, pages, and what stands in them.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after} from 'node:test';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

/** The folder with the pages that player_pages wrote. */
const folder = process.env.PLAYER_PAGES;
/** The folder for screenshots, for a person to look at. */
export const pictures = process.env.PLAYER_PICTURES;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
after(() => browser.close());

export const fileOf = (name) => join(folder, `${name}.html`);
export const textOf = (name) => readFileSync(fileOf(name), 'utf8');
/** The text of a <script> or <style> of a page. */
export const block = (html, begin, end) => {
  const at = html.indexOf(begin);
  assert.notEqual(at, -1, begin);
  return html.slice(at + begin.length, html.indexOf(end, at));
};
/** The tape as to_json() wrote it into a page. */
export const jsonOf = (name) =>
  JSON.parse(block(textOf(name), '<script type="application/json" id="tape-data">', '</script>'));

/**
 * Opens a page. It may print no error, and may ask for nothing but its own file.
 * @param wrong  gives another tape for the page to read
 */
export async function open(
  name,
  {hash = '', width = 1600, height = 1000, wrong = null, ...options} = {},
) {
  const context = await browser.newContext({viewport: {width, height}, ...options});
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== pathToFileURL(fileOf(name)).href)
      problems.push(`asked for ${request.url()}`);
  });
  if (wrong)
    await page.route('**/*.html', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: textOf(name).replace(
          /(id="tape-data">)[^]*?(<\/script>)/,
          (_, begin, end) => begin + JSON.stringify(wrong()) + end,
        ),
      }),
    );
  await page.goto(pathToFileURL(fileOf(name)).href + hash);
  return {
    page,
    problems,
    close: async () => {
      assert.deepEqual(problems, []);
      await context.close();
    },
  };
}

/** The step that is shown, from 1. */
export const step = async (page) => Number(await page.getAttribute('body', 'data-step'));

/** Every tensor in an element: its name, its words and its cells as text. */
export const tensors = (page, selector = '#inspector') =>
  page.$$eval(`${selector} figure.tensor`, (figures) =>
    figures.map((figure) => {
      const texts = (query) => [...figure.querySelectorAll(query)].map((cell) => cell.textContent);
      return {
        name: figure.dataset.name,
        rowWords: texts('tbody th'),
        columnWords: texts('thead th'),
        cells: [...figure.querySelectorAll('tbody tr')].map((row) =>
          [...row.querySelectorAll('td')].map((cell) => cell.textContent),
        ),
      };
    }),
  );

/** Holds the cells of a tensor against the numbers of to_json(), as far as its digits go. */
export function assertCells({name, cells}, numbers, shape) {
  const columns = shape.at(-1) ?? 1,
    rows = shape.at(-2) ?? 1;
  assert.equal(cells.length, rows, `${name} has ${rows} rows`);
  cells.forEach((row, i) => {
    assert.equal(row.length, columns, `${name} has ${columns} columns`);
    row.forEach((text, j) => {
      const value = Number(numbers[i * columns + j]),
        shown = Number(text.replace('inf', 'Infinity'));
      const digits = text.includes('e') ? null : (text.split('.')[1] ?? '').length;
      const allowed = digits === null ? 0.051 * Math.abs(value) : 0.5000001 * 10 ** -digits;
      assert.ok(
        Object.is(value, NaN)
          ? Object.is(shown, NaN)
          : shown === value || Math.abs(shown - value) <= allowed,
        `${name}[${i}, ${j}]: shown ${text}, is ${value}`,
      );
    });
  });
}
