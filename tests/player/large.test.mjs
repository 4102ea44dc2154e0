// Long tapes, and the time that pages take to open.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {jsonOf, open, step, textOf} from './page.mjs';

/** Milliseconds from the start of navigation until the first step is there. */
const opened = (page) => page.evaluate(() => performance.getEntriesByName('shown')[0].startTime);

test('60 nodes open in under half a second', async (t) => {
  const times = [];
  for (let i = 0; i < 3; ++i) {
    const {page, close} = await open('sixty');
    times.push(await opened(page));
    await close();
  }
  t.diagnostic(`60 nodes: ${times.map((time) => time.toFixed(0)).join(', ')} ms`);
  assert.equal(jsonOf('sixty').nodes.length, 60);
  assert.ok(Math.min(...times) < 500, `${times}`);
});

test("a GPT's tape opens folded, and is walked scope by scope", async (t) => {
  const {page, close} = await open('gpt');
  t.diagnostic(
    `gpt: ${jsonOf('gpt').nodes.length} nodes, ${(textOf('gpt').length / 1e6).toFixed(1)} MB, ${(await opened(page)).toFixed(0)} ms`,
  );
  assert.ok((await page.locator('#tape li:visible').count()) <= 40);
  const names = [];
  for (let i = 0; i < 30 && !(await page.isDisabled('#next')); ++i) {
    await page.keyboard.press('ArrowRight');
    names.push((await page.textContent('#inspector h2')).replace(', folded', ''));
    assert.equal(await page.locator('#graph .current.node').count(), 1);
  }
  const blocks = ['block0', 'block1', 'block2', 'block3'];
  assert.deepEqual(
    names.filter((name) => name.startsWith('block')),
    [...blocks, ...[...blocks].reverse()],
  );
  assert.equal(await page.isDisabled('#next'), true);
  await close();
});

// Case E08.
test('15001 nodes: the list instead of a graph, with a note that says why', async (t) => {
  const {page, close} = await open('large');
  t.diagnostic(
    `15001 nodes: ${(textOf('large').length / 1e6).toFixed(1)} MB, ${(await opened(page)).toFixed(0)} ms`,
  );
  assert.match(
    await page.textContent('#graph-note'),
    /15001 nodes are more than max_nodes = 300; there are no scopes to fold/,
  );
  assert.equal(await page.locator('#tape li').count(), 15001);
  await page.keyboard.press('End');
  assert.equal(await step(page), 30001);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await step(page), 30000);
  await page.fill('#search', '#7000');
  await page.keyboard.press('Enter');
  assert.match(await page.textContent('#inspector h2'), /#7000/);
  assert.equal(await page.locator('#tape li[data-node="7000"]').isVisible(), true);
  await close();
});

// Case E09.
test('without dot there is the list, and a note that names the package', async () => {
  const {page, close} = await open('no_dot');
  assert.match(
    await page.textContent('#graph-note'),
    /^No graph: the program dot is missing; .*apt-get install graphviz/,
  );
  assert.equal(await page.locator('#graph svg').count(), 0);
  for (let at = 1; at < 7; ++at) await page.keyboard.press('ArrowRight');
  assert.equal(await step(page), 7);
  await close();
});
