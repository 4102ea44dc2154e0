// Every control: buttons, slider, keys, clicks, links, search, folds.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {open, step, tensors} from './page.mjs';

const visible = (page) => page.locator('#tape li:visible').count();

test('buttons step, and are disabled at the ends', async () => {
  const {page, close} = await open('attention');
  for (const [id, at] of [
    ['next', 2],
    ['next', 3],
    ['back', 2],
    ['last', 16],
    ['back', 15],
    ['first', 1],
  ]) {
    await page.click(`#${id}`);
    assert.equal(await step(page), at, id);
  }
  assert.equal(await page.isDisabled('#back'), true);
  assert.equal(await page.isDisabled('#next'), false);
  await page.click('#last');
  assert.equal(await page.isDisabled('#next'), true);
  await close();
});

test('Left, Right, Home and End step, and stop at the ends', async () => {
  const {page, close} = await open('attention');
  for (const [key, at] of [
    ['ArrowLeft', 1],
    ['ArrowRight', 2],
    ['ArrowRight', 3],
    ['ArrowLeft', 2],
    ['End', 16],
    ['ArrowRight', 16],
    ['Home', 1],
  ]) {
    await page.keyboard.press(key);
    assert.equal(await step(page), at, key);
  }
  await close();
});

test('Space plays and pauses; at the end it begins anew', async () => {
  const {page, close} = await open('attention', {hash: '#step=14'});
  await page.keyboard.press(' ');
  assert.equal(await page.textContent('#play'), 'Pause');
  await page.waitForFunction(() => document.body.dataset.step === '16', null, {timeout: 10000});
  await page.waitForFunction(() => document.querySelector('#play').textContent === 'Play', null, {
    timeout: 5000,
  });
  await page.keyboard.press(' ');
  assert.equal(await step(page), 1);
  await page.click('#play');
  assert.equal(await page.textContent('#play'), 'Play');
  const at = await step(page);
  await page.waitForTimeout(1500);
  assert.equal(await step(page), at);
  await close();
});

test('the slider goes to any step', async () => {
  const {page, close} = await open('attention');
  await page.fill('#slider', '12');
  assert.equal(await step(page), 12);
  await page.focus('#slider');
  await page.keyboard.press('ArrowRight');
  assert.equal(await step(page), 13);
  assert.match(
    await page.getAttribute('#slider', 'aria-valuetext'),
    /^step 13 of 16, backward through S = Q K\^T \/ sqrt\(d\)$/,
  );
  await close();
});

test('a click on a node of the graph, or of the list, goes to its step of the same phase', async () => {
  const {page, close} = await open('attention');
  await page.click('#graph [data-part="n8"]'); // P
  assert.equal(await step(page), 9);
  await page.click('#tape li[data-node="4"] button'); // Q
  assert.equal(await step(page), 5);
  await page.keyboard.press('End');
  await page.click('#graph [data-part="n8"]');
  assert.equal(await step(page), 12);
  await page.click('#tape li[data-node="4"] button');
  assert.equal(await step(page), 16);
  // A leaf has no step back.
  await page.click('#tape li[data-node="0"] button');
  assert.equal(await step(page), 1);
  await close();
});

test('#step=17 opens that step, also in an open page, and every step has its link', async () => {
  const {page, close} = await open('attention', {hash: '#step=13'});
  assert.equal(await step(page), 13);
  await page.evaluate(() => {
    location.hash = '#step=7';
  });
  await page.waitForFunction(() => document.body.dataset.step === '7');
  await page.keyboard.press('ArrowRight');
  assert.match(page.url(), /#step=8$/);
  for (const [hash, at] of [
    ['#step=999', 16],
    ['#step=0', 16],
    ['#nonsense', 16],
  ]) {
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await page.waitForTimeout(50);
    assert.equal(await step(page), at, hash);
  }
  await close();
});

test('search goes from match to match by name, and says how many there are', async () => {
  const {page, close} = await open('attention');
  await page.keyboard.press('/');
  await page.keyboard.type('w_');
  assert.equal(await page.textContent('#found'), '3: Enter');
  const seen = [];
  for (let i = 0; i < 4; ++i) {
    await page.keyboard.press('Enter');
    seen.push(await step(page));
  }
  assert.deepEqual(seen, [2, 3, 4, 2]);
  await page.keyboard.press('Shift+Enter');
  assert.equal(await step(page), 4);
  await page.keyboard.press('Enter');
  assert.equal(await page.textContent('#found'), '1 of 3');
  // The name itself comes before names that begin with it.
  await page.fill('#search', 'S');
  await page.keyboard.press('Enter');
  assert.equal(await step(page), 8);
  await page.fill('#search', 'xyz');
  assert.equal(await page.textContent('#found'), 'none');
  // Keys in the field are text, not steps.
  await page.keyboard.press('ArrowLeft');
  assert.equal(await step(page), 8);
  await page.keyboard.press('Escape');
  assert.equal(await page.inputValue('#search'), '');
  await page.keyboard.press('ArrowRight');
  assert.equal(await step(page), 9);
  await close();
});

test('search prefers the name as it is written; a node after y cannot be gone to', async () => {
  const {page, close} = await open('numbers');
  await page.fill('#search', 'A');
  await page.keyboard.press('Enter');
  assert.equal(await step(page), 7);
  assert.equal(await page.textContent('#found'), '1 of 6'); // a, A; what has an a in its name or op
  const after = page.locator('#tape li').last().locator('button');
  assert.match(await after.textContent(), /after/);
  assert.equal(await after.isDisabled(), true);
  await page.click('#graph .node:has-text("after")');
  assert.equal(await step(page), 7);
  await close();
});

test('a folded scope is one row, one box, and one step', async () => {
  const {page, close} = await open('heads');
  const all = await visible(page),
    attention = '#tape li[data-region]:has(.name:text-is("attention")) button';
  await page.click('#fold');
  assert.equal(await visible(page), 4); // X, attention, and two nodes after it
  assert.equal(await page.getAttribute(attention, 'aria-expanded'), 'false');
  assert.equal(await page.locator('#graph .node').count(), 4);
  // Forward: X, the whole of attention, what follows; then back through it.
  const steps = [];
  for (let i = 0; i < 6; ++i, await page.keyboard.press('ArrowRight')) steps.push(await step(page));
  assert.equal(steps[0], 1);
  assert.ok(steps[1] > 30, 'attention is passed as one step');
  assert.equal(new Set(steps).size, 6);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('End');
  assert.match(await page.textContent('#inspector h2'), /attention, folded/);
  assert.deepEqual(
    (await tensors(page, '#inspector section:has(h3:text-is("The adjoint that leaves"))')).map(
      ({name}) => name,
    ),
    ['dX'],
  );
  assert.equal(
    (await tensors(page, '#inspector section:has(h3:text-is("What stays inside"))')).length,
    8,
  );
  await page.click(attention);
  assert.equal(await page.getAttribute(attention, 'aria-expanded'), 'true');
  await page.click('#unfold');
  assert.equal(await visible(page), all);
  await close();
});

test('folded scopes at both ends are steps too, and playing ends', async () => {
  const {page, close} = await open('scopes');
  await page.click('#fold');
  const walk = async (key) => {
    const seen = [];
    for (let i = 0; i < 5; ++i, await page.keyboard.press(key))
      seen.push([await step(page), (await page.textContent('#inspector h2')).split(',')[0]]);
    return seen.map(([at, title]) => [at, title.replace(/^.*between.*$/, 'between')]);
  };
  await page.keyboard.press('Home');
  const forth = await walk('ArrowRight');
  assert.deepEqual(forth, [
    [3, 'first'],
    [4, 'between'],
    [6, 'last'],
    [8, 'last'],
    [9, 'between'],
  ]);
  assert.equal(await step(page), 11);
  assert.equal(await page.isDisabled('#next'), true);
  await page.keyboard.press('ArrowLeft');
  assert.deepEqual((await walk('ArrowLeft')).reverse(), forth);
  assert.equal(await page.isDisabled('#back'), true);
  // From inside of a folded scope the way leads to the whole of it.
  await page.fill('#slider', '10');
  assert.equal(await page.isDisabled('#next'), false);
  await page.click('#play');
  await page.waitForFunction(() => document.body.dataset.step === '11', null, {timeout: 5000});
  await page.waitForFunction(() => document.querySelector('#play').textContent === 'Play', null, {
    timeout: 5000,
  });
  await close();
});

test('what comes out of the scope in which y stands is y, not what was computed after it', async () => {
  const {page, close} = await open('scopes');
  await page.click('#fold');
  await page.fill('#slider', '6');
  const names = (title) =>
    tensors(page, `#inspector section:has(h3:text-is("${title}"))`).then((found) =>
      found.map(({name}) => name),
    );
  assert.deepEqual(await names('What comes out'), ['y']);
  assert.deepEqual(await names('What goes in'), ['between']);
  await page.click('#next');
  assert.deepEqual(await names('The adjoint that arrives'), ['dy']);
  assert.deepEqual(await names('The adjoint that leaves'), ['dbetween']);
  await close();
});

test('a step begins at its top; N is also Shift+N', async () => {
  const {page, close} = await open('attention', {hash: '#step=16', width: 900, height: 500});
  const top = () => page.$eval('#inspector', (box) => box.scrollTop);
  await page.$eval('#inspector', (box) => {
    box.scrollTop = 300;
  });
  assert.equal(await top(), 300);
  await page.keyboard.press('Shift+N');
  assert.equal(await page.getAttribute('#numbers', 'aria-pressed'), 'false');
  assert.ok((await top()) > 0);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await top(), 0);
  await close();
});

test('one scope can be folded alone; the graph covers it, and a click opens it', async () => {
  const {page, close} = await open('heads');
  await page.click('#unfold');
  const all = await visible(page),
    inside = await page.locator('#graph .node:visible').count();
  const q_proj = '#tape li[data-region]:has(.name:text-is("q_proj"))';
  await page.click(`${q_proj} button`);
  assert.equal(await visible(page), all - 5);
  assert.equal(await page.locator('#graph .node:visible').count(), inside - 5);
  assert.equal(await page.locator('#graph .cover').count(), 1);
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  assert.equal(await step(page), 6); // the last node of q_proj
  assert.equal(await page.locator('#graph .cover.current').count(), 1);
  await page.locator('#graph .cover text').first().click();
  assert.equal(await visible(page), all);
  assert.equal(await page.locator('#graph .cover').count(), 0);
  await close();
});

test('a name that begins with what is looked for comes before one that has it inside', async () => {
  const {page, close} = await open('scopes');
  await page.fill('#search', 'e'); // between, early, unused, exp
  await page.keyboard.press('Enter');
  assert.match(await page.textContent('#inspector h2'), /early/);
  await page.keyboard.press('Enter');
  assert.match(await page.textContent('#inspector h2'), /between/);
  await close();
});

test('keys of the browser, of a dialog and of a button are not those of the page', async () => {
  const {page, close} = await open('attention', {hash: '#step=5'});
  const entries = () => page.evaluate(() => history.length);
  const before = await entries();
  await page.keyboard.press('Control+ArrowRight');
  await page.keyboard.press('Shift+Alt+ArrowRight');
  assert.equal(await step(page), 5);
  await page.keyboard.press('?');
  assert.equal(await page.isVisible('#help'), true);
  await page.keyboard.press('ArrowRight');
  assert.equal(await step(page), 5);
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#help'), false);
  await page.focus('#next');
  await page.keyboard.press(' ');
  assert.equal(await step(page), 6);
  assert.equal(await page.textContent('#play'), 'Play');
  await page.focus('#search');
  await page.keyboard.press(' ');
  assert.equal(await page.inputValue('#search'), ' ');
  assert.equal(await page.textContent('#play'), 'Play');
  // Steps are no pages: Back leaves.
  assert.equal(await entries(), before);
  await close();
});

test('search opens the scopes around what it finds', async () => {
  const {page, close} = await open('heads');
  await page.click('#fold');
  await page.fill('#search', 'W_K');
  await page.keyboard.press('Enter');
  const row = page.locator('#tape li:has([aria-current="step"])');
  assert.equal(await row.isVisible(), true);
  assert.match(await page.textContent('#inspector h2'), /W_K/);
  await close();
});

test('zoom makes the graph larger and smaller, and fits it', async () => {
  const {page, close} = await open('attention');
  const width = () => page.$eval('#graph svg', (svg) => svg.getBoundingClientRect().width);
  const fit = await width();
  await page.click('#zoom-in');
  assert.ok((await width()) > 1.2 * fit);
  await page.click('#zoom-out');
  await page.click('#zoom-out');
  assert.ok((await width()) < 0.9 * fit);
  await page.click('#zoom-fit');
  assert.equal(await width(), fit);
  await close();
});

test('light or dark is as the system prefers, until the reader chooses', async () => {
  const ground = (page) => page.$eval('body', (body) => getComputedStyle(body).backgroundColor);
  const {page, close} = await open('attention', {colorScheme: 'dark'});
  assert.equal(await ground(page), 'rgb(22, 25, 31)');
  const cell = await page.$eval('#inspector td', (td) => td.style.background);
  await page.click('#theme');
  assert.equal(await ground(page), 'rgb(255, 255, 255)');
  assert.notEqual(await page.$eval('#inspector td', (td) => td.style.background), cell);
  await page.emulateMedia({colorScheme: 'light'});
  await page.click('#theme');
  assert.equal(await ground(page), 'rgb(22, 25, 31)');
  await close();
});
