// Every step of a page, against the numbers in its JSON.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {assertCells, jsonOf, open, step, tensors} from './page.mjs';

const equation = (node) => (node.kind === 'op' ? `${node.label} = ${node.equation}` : node.label);
const spoken = (page, selector) =>
  page.$$eval(`${selector} .spoken`, (found) => found.map((x) => x.textContent));
const parts = (page, query) =>
  page.$$eval(query, (found) => found.map((x) => x.getAttribute('data-part')).sort());

async function assertForward(page, json, node) {
  assert.equal(await page.textContent('#phase'), 'forward');
  const shown = await tensors(page);
  const inputs = [...new Set(node.inputs.map((input) => input.node))].map((id) => json.nodes[id]);
  assert.deepEqual(
    shown.map(({name}) => name),
    [node, ...inputs].map(({label}) => label),
  );
  [node, ...inputs].forEach((one, i) => assertCells(shown[i], one.value.numbers, one.shape));
  // All its edges, in the direction of the computation.
  assert.deepEqual(
    await parts(page, '#graph .edge.current.forward'),
    node.inputs.map((input) => `e${node.id}_${input.position}`).sort(),
  );
  assert.equal(await page.locator('#graph [marker-start]').count(), 0);
}

async function assertBackward(page, json, node, sweep) {
  assert.equal(await page.textContent('#phase'), 'backward');
  const [incoming] = await tensors(page, '#inspector > section:first-of-type');
  assert.equal(incoming.name, `d${node.label}`);
  assertCells(incoming, sweep.adjoint.numbers, node.shape);
  const cards = page.locator('#inspector .contribution');
  assert.equal(await cards.count(), sweep.contributions.length);
  for (const [i, part] of sweep.contributions.entries()) {
    const card = cards.nth(i),
      input = json.nodes[part.input];
    const rule = node.inputs.find(({position}) => position === part.position).rule;
    assert.equal(
      await card.locator('h4 .spoken').textContent(),
      `d${input.label} ${part.before ? '+=' : '='} ${rule}`,
    );
    assert.equal(
      await card.locator('.chip').textContent(),
      part.complete ? 'complete' : 'more will come',
    );
    const own = await tensors(page, `#inspector .contribution[data-input="${part.position}"]`);
    if (!part.before) {
      assertCells(own[0], part.value.numbers, input.shape);
      continue;
    }
    assert.deepEqual(
      own.map(({name}) => name),
      ['before', 'contribution', 'after'].map((word) => `d${input.label} ${word}`),
    );
    ['before', 'value', 'after'].forEach((key, k) =>
      assertCells(own[k], part[key].numbers, input.shape),
    );
    // And the sum is one.
    part.after.numbers.forEach((sum, k) =>
      assert.ok(
        Math.abs(part.before.numbers[k] + part.value.numbers[k] - sum) <=
          1e-12 * Math.max(1, Math.abs(sum)),
      ),
    );
  }
  // The edges along which something flowed, each with its head at the input.
  assert.deepEqual(
    await parts(page, '#graph .edge.current.backward'),
    sweep.contributions.map((part) => `e${node.id}_${part.position}`).sort(),
  );
  assert.equal(
    await page.locator('#graph .edge.current path[marker-start]').count(),
    sweep.contributions.length,
  );
}

test('every step of the attention page shows the numbers of the JSON', async () => {
  const json = jsonOf('attention'),
    {page, close} = await open('attention');
  const forward = json.steps[0].node + 1,
    total = forward + json.steps.length;
  for (let at = 1; at <= total; ++at) {
    assert.equal(await step(page), at);
    assert.equal(await page.textContent('#where'), `step ${at} of ${total}`);
    const sweep = json.steps[at - forward - 1],
      node = json.nodes[sweep ? sweep.node : at - 1];
    assert.deepEqual(await spoken(page, '#inspector h2'), [equation(node)]);
    if (sweep) await assertBackward(page, json, node, sweep);
    else await assertForward(page, json, node);
    // The node has the ring; what is not computed yet is pale; the list says the same.
    assert.deepEqual(await parts(page, '#graph .node.current'), [`n${node.id}`]);
    assert.equal((await parts(page, '#graph .node.todo')).length, Math.max(0, forward - at));
    assert.equal(
      await page.getAttribute('#tape li:has([aria-current="step"])', 'data-node'),
      String(node.id),
    );
    if (at < total) await page.keyboard.press('ArrowRight');
  }
  await close();
});

test('adjoints are marked as there in part and as complete, in list and graph', async () => {
  const json = jsonOf('attention'),
    {page, close} = await open('attention', {hash: '#step=12'});
  const X = json.nodes.find(({name}) => name === 'X').id;
  const state = () => page.getAttribute(`#tape li[data-node="${X}"]`, 'data-state');
  const seen = [];
  for (let at = 12; at <= 16; ++at, await page.keyboard.press('ArrowRight')) {
    seen.push(await state());
    const classes = await page.getAttribute(`#graph [data-part="n${X}"]`, 'class');
    assert.equal(classes.includes('partial'), seen.at(-1) === 'partial');
    assert.equal(classes.includes('complete'), seen.at(-1) === 'complete');
  }
  assert.deepEqual(seen, ['', '', 'partial', 'partial', 'complete']);
  // That of y is given when the way back begins.
  const given = () => page.getAttribute('#tape li[data-node="9"]', 'data-state');
  await page.fill('#slider', '10');
  assert.equal(await given(), '');
  await page.fill('#slider', '11');
  assert.equal(await given(), 'complete');
  await close();
});

test('words label the rows and columns of a value and of its adjoint', async () => {
  const {page, close} = await open('attention', {hash: '#step=9'}); // P
  const words = ['küçük', 'kedi', 'ağaçta', 'uyudu'];
  const [P] = await tensors(page);
  assert.deepEqual([P.name, P.rowWords, P.columnWords], ['P', words, words]);
  await page.goto(page.url().replace(/#.*/, '#step=12')); // backward through P
  const [dP] = await tensors(page);
  assert.deepEqual([dP.name, dP.rowWords, dP.columnWords], ['dP', words, words]);
  await page.hover('#inspector tbody td >> nth=1');
  const dS = jsonOf('attention').steps[1].adjoint.numbers[1];
  assert.equal(await page.textContent('#tip'), `dP[küçük, kedi] = ${dS}`);
  await close();
});

test('equations are MathML with the names in them', async () => {
  const {page, close} = await open('attention', {hash: '#step=8'});
  const math = await page.locator('#inspector h2 math').innerHTML();
  for (const name of ['S', 'Q', 'K', 'd']) assert.match(math, new RegExp(`<mi>${name}</mi>`));
  assert.match(math, /<mfrac>.*<msqrt>/);
  await page.fill('#slider', '16');
  assert.deepEqual(
    await page.$$eval('#inspector h4 math', (found) => found.map((x) => x.textContent)),
    ['dX+=dQWQ⊤', 'dWQ=X⊤dQ'],
  );
  await close();
});
