// For everyone: keyboard, screen readers, light and dark, narrow windows, paper.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import {open, pictures, step} from './page.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Everything that axe has rules for, and nothing left out. */
async function assertAccessible(page, what) {
  // The page lets no other script in; the debugger may run it.
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() =>
    window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }),
  );
  const text = violations.map(
    ({id, help, nodes}) =>
      `${id}: ${help}\n    ${nodes
        .map((node) => `${node.target}: ${node.any[0]?.message ?? ''}`)
        .slice(0, 2)
        .join('\n    ')}`,
  );
  assert.deepEqual(text, [], what);
}

/** What there is to look at: a page, where in it, and what to do there. */
const VIEWS = [
  ['leaf', 'attention', {hash: '#step=1'}],
  ['forward', 'attention', {hash: '#step=8'}],
  ['softmax', 'attention', {hash: '#step=12'}],
  ['sum', 'attention', {hash: '#step=16'}],
  ['sum-colours', 'attention', {hash: '#step=16'}, (page) => page.keyboard.press('n')],
  ['sum-dark', 'attention', {hash: '#step=16', colorScheme: 'dark'}],
  ['closed-form', 'attention', {}, (page) => page.click('#closed-form')],
  ['closed-form-dark', 'heads', {colorScheme: 'dark'}, (page) => page.click('#closed-form')],
  ['mask', 'mask', {hash: '#step=4'}],
  ['mask-wide', 'mask', {hash: '#step=6', width: 1600}],
  ['numbers', 'numbers', {}],
  ['sampled', 'numbers', {hash: '#step=6'}],
  ['names', 'names', {hash: '#step=12'}],
  ['heads', 'heads', {hash: '#step=40'}],
  ['gpt', 'gpt', {}, (page) => page.keyboard.press('ArrowRight')],
  ['gpt-back', 'gpt', {hash: '#step=433'}],
  ['no-graph', 'no_dot', {}],
  ['help', 'attention', {}, (page) => page.keyboard.press('?')],
  ['narrow', 'attention', {hash: '#step=16', width: 900, height: 700}],
  ['phone', 'attention', {hash: '#step=12', width: 480, height: 900}],
  ['phone-narrow', 'attention', {width: 320, height: 640}, (page) => page.click('#closed-form')],
  ['long-names', 'long_names', {hash: '#step=3'}],
  ['forced-colours', 'attention', {hash: '#step=16', forcedColors: 'active'}],
];

for (const [view, name, options, act] of VIEWS)
  test(`axe finds nothing wrong: ${view}`, async () => {
    const {page, close} = await open(name, {width: 1200, height: 800, ...options});
    if (act) await act(page);
    await page.screenshot({path: `${pictures}/${view}.png`});
    // Nothing hangs out of the window.
    assert.equal(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
    );
    await assertAccessible(page, view);
    await close();
  });

test('Tab reaches every control and every tensor, and shows where it is', async () => {
  const {page, close} = await open('attention', {hash: '#step=12'});
  const seen = [];
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const on = document.activeElement;
      if (on === document.body) return null;
      return {
        id: on.id || on.className || on.textContent,
        outline: getComputedStyle(on).outlineStyle,
      };
    });
    if (!at) break;
    assert.equal(at.outline, 'solid', at.id);
    seen.push(at.id);
  }
  for (const id of [
    'first',
    'back',
    'next',
    'last',
    'play',
    'slider',
    'search',
    'theme',
    'help-open',
    'numbers',
    'closed-form',
    'graph',
    'inspector',
    'grid',
    'zoom-in',
  ])
    assert.ok(seen.includes(id), id);
  assert.equal(seen.filter((id) => /^#\d/.test(id)).length, 10, 'the rows of the tape');
  await close();
});

test('arrow keys read the numbers of a tensor that has the focus, and do not step', async () => {
  const {page, close} = await open('attention', {hash: '#step=12'});
  await page.focus('#inspector .grid');
  for (const [key, cell] of [
    ['ArrowRight', 'küçük, küçük'],
    ['ArrowRight', 'küçük, kedi'],
    ['ArrowDown', 'kedi, kedi'],
    ['ArrowUp', 'küçük, kedi'],
    ['ArrowUp', 'küçük, kedi'],
    ['ArrowLeft', 'küçük, küçük'],
  ]) {
    await page.keyboard.press(key);
    assert.ok(
      (await page.textContent('#tip')).startsWith(`dP[${cell}] = `),
      `${key}: ${await page.textContent('#tip')}`,
    );
    assert.equal(await page.textContent('#spoken'), await page.textContent('#tip'));
  }
  assert.equal(await step(page), 12);
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#tip'), false);
  await page.keyboard.press('ArrowRight');
  assert.equal(await step(page), 13);
  await close();
});

test('a step is announced, with its equation in words', async () => {
  const {page, close} = await open('attention', {hash: '#step=11'});
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.textContent('#spoken'), 'step 12 of 16, backward through P = softmax(S)');
  assert.equal(await page.getAttribute('#spoken', 'aria-live'), 'polite');
  await close();
});

test('forced colours leave the heatmap, its scale, the slider and the row of the step', async () => {
  const {page, close} = await open('attention', {hash: '#step=16', forcedColors: 'active'});
  const style = (query, property) =>
    page.$eval(query, (found, name) => getComputedStyle(found)[name], property);
  const cells = await page.$$eval('#inspector tbody td', (found) => [
    ...new Set(found.map((td) => getComputedStyle(td).backgroundColor)),
  ]);
  assert.ok(cells.length > 10, `${cells.length} colours`);
  assert.match(await style('.ramp', 'backgroundImage'), /gradient/);
  assert.equal(await style('.ramp', 'forcedColorAdjust'), 'none');
  assert.equal(await style('#slider', 'forcedColorAdjust'), 'none');
  const row = (at) => style(`#tape li[data-node="${at}"] button`, 'backgroundColor');
  assert.notEqual(await row(4), await row(5));
  assert.notEqual(
    await style('#numbers', 'backgroundColor'),
    await style('#closed-form', 'backgroundColor'),
  );
  await close();
});

test('on paper there are the graph and the step in light colours, and no controls', async () => {
  const {page, close} = await open('attention', {hash: '#step=16', colorScheme: 'dark'});
  await page.pdf({path: `${pictures}/print.pdf`, format: 'A4'});
  await page.emulateMedia({media: 'print'});
  for (const id of ['next', 'slider', 'tape', 'numbers'])
    assert.equal(await page.isVisible(`#${id}`), false, id);
  for (const id of ['graph', 'inspector']) assert.equal(await page.isVisible(`#${id}`), true, id);
  assert.equal(
    await page.$eval('body', (body) => getComputedStyle(body).backgroundColor),
    'rgb(255, 255, 255)',
  );
  await page.waitForFunction(() => document.documentElement.dataset.printing === 'yes');
  const cells = await page.$$eval('#inspector td', (found) => found.map((td) => td.style.background));
  assert.ok(cells.includes('rgb(0, 114, 178)') && !cells.includes('rgb(86, 180, 233)'));
  await page.emulateMedia({media: 'screen'});
  await page.waitForFunction(() => document.documentElement.dataset.printing === undefined);
  await close();
});
