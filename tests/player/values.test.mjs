// How values are shown: as numbers, as pictures, as samples, and what is no ordinary number.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {jsonOf, open, tensors} from './page.mjs';

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
  await page.fill('.places label:has-text("axis 1") input', '9');
  await page.keyboard.press('Tab');
  assert.equal(await page.inputValue('.places label:has-text("axis 1") input'), '1');
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

test('-1e8 is masked, and what is above it is in the scale: blue below 0, orange above', async () => {
  const {page, close} = await open('long_names');
  const ground = () =>
    page.$$eval('#inspector td:not(.masked):not(.corner)', (found) =>
      found.map((td) => td.style.background),
    );
  const masked = page.locator('#inspector td.masked');
  assert.deepEqual(await masked.allTextContents(), ['-1e+8']);
  await masked.hover();
  assert.match(await page.textContent('#tip'), /= -100000000 \(masked\)$/);
  assert.match(await page.textContent('#inspector .scale'), /^-1\.00e\+81\.00e\+8masked$/);
  assert.deepEqual(await ground(), [
    'rgb(255, 255, 255)',
    'rgb(255, 255, 255)',
    'rgb(0, 114, 178)',
  ]);
  // The same in a picture.
  await page.click('#numbers');
  const pixels = await page.$eval('#inspector canvas', (canvas) => {
    const side = 34,
      sharpness = canvas.width / parseFloat(canvas.style.width),
      left = canvas.width / sharpness - 2 * side;
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return [0, 1, 2, 3].map((i) => {
      const x = (left + (i % 2) * side + 5) * sharpness,
        y = (Math.floor(i / 2) * side + 5) * sharpness;
      return [...data.slice(4 * (y * canvas.width + x)).slice(0, 3)].join(', ');
    });
  });
  assert.deepEqual(pixels, ['255, 255, 255', '255, 255, 255', '138, 143, 152', '0, 114, 178']);
  await page.click('#numbers');
  await page.keyboard.press('ArrowRight');
  assert.equal((await ground())[3], 'rgb(213, 94, 0)');
  await close();
});

test('a sum has one scale, so that its terms can be compared', async () => {
  const {page, close} = await open('attention', {hash: '#step=16'});
  const scales = await page.locator('#inspector .sum .scale').allTextContents();
  assert.equal(scales.length, 3);
  assert.equal(new Set(scales).size, 1);
  const largest = jsonOf('attention').steps.at(-1).contributions[0];
  const most = Math.max(...['before', 'value', 'after'].flatMap((key) => largest[key].numbers).map(Math.abs));
  assert.ok(scales[0].endsWith(String(Number(most.toPrecision(4)))));
  await close();
});

test('many words above a table are written upright', async () => {
  for (const [name, hash, count] of [
    ['mask', '#step=5', 12],
    ['attention', '#step=9', 0],
  ]) {
    const {page, close} = await open(name, {hash, width: 1600});
    const [first] = await page.$$eval('#inspector figure', (found) =>
      found.map((figure) => figure.querySelectorAll('th.upright').length),
    );
    assert.equal(first, count, name);
    await close();
  }
});

test('a long name scrolls its panel, not the page', async () => {
  const {page, close} = await open('long_names', {width: 1200});
  for (let at = 1; at <= 3; ++at, await page.keyboard.press('ArrowRight')) {
    assert.equal(
      await page.$eval(':root', (root) => root.scrollWidth - root.clientWidth),
      0,
      `step ${at}`,
    );
  }
  await close();
});
