// How values are shown: as numbers, as pictures, as samples, and what is no ordinary number.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {open, tensors} from './page.mjs';

test('the place along leading axes is one choice for all tensors that have them', async () => {
  const {page, close} = await open('heads');
  await page.fill('#search', 'S');
  await page.keyboard.press('Enter');
  const before = await tensors(page);
  await page.fill('.places label:has-text("axis 1") input', '1');
  await page.keyboard.press('Tab');
  const after = await tensors(page);
  assert.equal(before.length, 3);
  before.forEach((tensor, i) => assert.notDeepEqual(after[i].cells, tensor.cells));
  await page.hover('#inspector tbody td');
  assert.match(await page.textContent('#tip'), /^S\[0, 1, 0, 0\] = /);
  await close();
});

test('numbers can be left out of the cells; then colours stand side by side', async () => {
  const {page, close} = await open('attention', {hash: '#step=16'});
  const count = (query) => page.locator(`#inspector ${query}`).count();
  assert.equal(await count('canvas'), 0);
  await page.click('#numbers');
  assert.equal(await count('table'), 0);
  assert.equal(await count('canvas'), 5);
  await page.hover('#inspector canvas >> nth=0', {position: {x: 100, y: 5}});
  assert.match(await page.textContent('#tip'), /^dQ\[0, \d\] = /);
  await page.click('#numbers');
  assert.equal(await count('table'), 5);
  await close();
});

test('a large value is a picture whose numbers can be unfolded, or a sample that says so', async () => {
  const {page, close} = await open('numbers', {hash: '#step=5'}); // wide
  assert.equal(await page.locator('#inspector canvas').count(), 1);
  assert.equal(await page.locator('#inspector .note').count(), 0);
  await page.click('#inspector summary');
  assert.equal(await page.locator('#inspector td').count(), 2000);
  await page.keyboard.press('ArrowRight'); // the focus is on the summary
  assert.match(
    await page.textContent('#inspector .note'),
    /^A sample: 3000 of 24000 numbers\. axis 1: 0, 4, 8 \.\. 96/,
  );
  await page.hover('#inspector canvas', {position: {x: 20, y: 20}});
  assert.match(await page.textContent('#tip'), /^sampled\[0, 4, 2\] = /);
  await close();
});

test('what is masked is hatched and left out of the scale; NaN and infinities can be told', async () => {
  const {page, close} = await open('numbers');
  const [a] = await tensors(page);
  assert.deepEqual(a.cells, [
    ['1.00', 'nan', '-inf'],
    ['inf', '-1e+9', '0.00'],
  ]);
  assert.equal(await page.locator('#inspector td.masked').count(), 2);
  assert.equal(await page.locator('#inspector td.nan').count(), 1);
  assert.match(await page.textContent('#inspector .scale'), /^-11masked$/);
  await page.hover('#inspector td >> nth=4');
  assert.equal(await page.textContent('#tip'), 'a[1, 1] = -1000000000 (masked)');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.textContent('#inspector'), /no numbers/);
  assert.equal(await page.locator('#inspector .grid').count(), 0);
  await close();
});

test('a name that is read from the right does not turn its number; -0 is not 0', async () => {
  const {page, close} = await open('long_names');
  await page.hover('#inspector td >> nth=1');
  assert.equal(
    await page.textContent('#tip'),
    '\u2068שלום\u2069[\u2068אחת\u2069, 1] = -0',
  );
  await close();
});

test('a long name scrolls its panel, not the page', async () => {
  const {page, close} = await open('long_names', {width: 1200});
  for (let at = 1; at <= 3; ++at, await page.keyboard.press('ArrowRight')) {
    assert.equal(
      await page.$eval(':root', (root) => root.scrollWidth - root.clientWidth),
      0,
      `step ${at}`,
    );
    const ends = await page.$$eval('#inspector figcaption', (found) =>
      found.map((caption) => caption.getBoundingClientRect().right),
    );
    assert.ok(Math.max(...ends) <= 1200, `step ${at}`);
  }
  await close();
});
