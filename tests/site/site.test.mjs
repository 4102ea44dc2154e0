// The site from file://: every page opens without an error and without a network, in light and dark,
// in a wide window and on a telephone.

import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const site = process.env.SITE;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
after(() => browser.close());

const all = readdirSync(site).filter((name) => name.endsWith('.html'));
const players = readdirSync(site, {withFileTypes: true})
  .filter((entry) => entry.isDirectory() && !['mathjax', 'search'].includes(entry.name))
  .flatMap(({name}) => readdirSync(join(site, name)).map((file) => join(name, file)))
  .filter((name) => name.endsWith('.html'));
/** Pages that a person wrote; the others are Doxygen's lists and the API. */
const isApi = (name) => /^(class|struct|union|namespace|functions|hierarchy|annotated|inherits|files|dir_)|_8hpp/.test(name);
const written = all.filter((name) => !isApi(name));
const wide = {width: 1280, height: 900};
/** One of each kind of the others, to be looked at more closely. */
const samples = ['classmicrotape_1_1Var.html', 'losses_8hpp.html'];

/** Opens pages one after another in one window, and hands each to `look`. */
async function visit(names, {without, ...options}, look = () => []) {
  const context = await browser.newContext({viewport: wide, ...options});
  if (without) await context.route(without, (route) => route.fulfill({body: ''}));
  const page = await context.newPage();
  const problems = [];
  let name = '';
  const note = (text) => problems.push(`${name}: ${text}`);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) note(message.text());
  });
  page.on('pageerror', (error) => note(error.message));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) note(`asked for ${request.url()}`);
  });
  for (name of names) {
    await page.goto(pathToFileURL(join(site, name)).href);
    for (const problem of await look(page, name)) note(problem);
  }
  await context.close();
  assert.deepEqual(problems, []);
}

/** Waits until MathJax has written every formula; tells of those that it could not read. */
async function formulas(page) {
  return page.evaluate(async () => {
    if (!document.querySelector('script[src*="MathJax.js"]')) return [];
    for (let i = 0; !window.MathJax?.Hub?.Queue; i++) {
      if (i === 200) return ['MathJax does not start'];
      await new Promise((done) => setTimeout(done, 50));
    }
    await new Promise((done) => window.MathJax.Hub.Queue(done));
    const isWrong = (node) => node?.type === 'merror' ||
      (Array.isArray(node?.data) && node.data.some(isWrong));
    const wrong = window.MathJax.Hub.getAllJax().filter((formula) => isWrong(formula.root));
    const raw = document.querySelector('.contents')?.innerText.match(/\\[([]|\\f[$[]/);
    return [...wrong.map(({originalText}) => `a formula: ${originalText}`), ...(raw ? ['raw LaTeX'] : [])];
  });
}

/** Text that does not stand out from what is behind it; a formula has the colour of its text. */
async function contrast(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() =>
    window.axe.run({include: [['.contents']], exclude: [['svg']]}, {runOnly: ['color-contrast']}));
  return violations.flatMap(({nodes}) =>
    nodes.slice(0, 3).map((node) => `${node.target}: ${node.any[0]?.message}`));
}

/** Pictures that are drawn in dark ink and have nothing light behind them. */
async function darkOnDark(page) {
  return page.evaluate(() => [...document.querySelectorAll('.contents img, .contents .dotgraph')]
    .filter((picture) => getComputedStyle(picture).backgroundColor !== 'rgb(255, 255, 255)')
    .map((picture) => `${picture.src ?? 'a graph'} cannot be seen in the dark`));
}

/** On a telephone: whether anything is wider than the window, and does not scroll by itself. */
async function tooWide(page) {
  await page.setViewportSize({width: 390, height: 800});
  const [width, room] = await page.evaluate(() => {
    const frame = document.querySelector('#doc-content') ?? document.documentElement;
    return [frame.scrollWidth, frame.clientWidth];
  });
  await page.setViewportSize(wide);
  return width <= room + 1 ? [] : [`is ${width} wide, in a window of ${room}`];
}

test('there are pages', () => {
  assert.ok(written.length >= 3 && all.length > 100, `${written.length} of ${all.length}`);
  for (const name of samples) assert.ok(all.includes(name), name);
});

/** A picture of each page, for a person to look at. */
const picture = (page, name) => page.screenshot({path: join(process.env.SITE_PICTURES, name)});
const withoutFormulas = '**/MathJax.js';

test('every page that was written opens, can be read, and fits a telephone', () =>
  visit([...written, ...samples], {}, async (page, name) => {
    const problems = [...(await formulas(page)), ...(await contrast(page)), ...(await tooWide(page))];
    await picture(page, `${name}.png`);
    return problems;
  }));

test('every page that was written can be read in the dark', () =>
  visit([...written, ...samples], {colorScheme: 'dark', without: withoutFormulas}, async (page) =>
    [...(await contrast(page)), ...(await darkOnDark(page))]));

for (const colorScheme of ['light', 'dark'])
  test(`every page to step through opens, ${colorScheme}`, () => visit(players, {colorScheme}));

// There are some hundreds, without formulas, which Doxygen makes alike: every eighth tells, unless
// EVERY_PAGE is set.
test('pages of the API open', () => {
  const some = all.filter(isApi).filter((_, i) => process.env.EVERY_PAGE || i % 8 === 0);
  return visit(some, {without: withoutFormulas});
});

test('the map of the course leads to a tutorial', async () => {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(join(site, 'index.html')).href);
  await page.click('.dotgraph a >> text=softmax');
  await page.waitForURL(/course_07_softmax\.html$/);
  await page.close();
});

test('the search finds a function without a server', async () => {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(join(site, 'index.html')).href);
  await page.click('#MSearchField');
  await page.keyboard.type('layer_norm', {delay: 50});
  const results = page.frameLocator('#MSearchResults');
  await results.locator('.SRResult:visible', {hasText: 'layer_norm.hpp'}).waitFor();
  await page.close();
});
