// The closed form of attention: its arithmetic, where it is found, and its verdict.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {jsonOf, open, step, tensors} from './page.mjs';

const {chain, compare} = await import(pathToFileURL(`${process.env.PLAYER_SOURCE}/closed_form.js`));

test('the closed form gives the numbers of the board', () => {
  const ln3 = Math.log(3);
  const found = chain({
    Q: [
      [2, 0, 0, 0],
      [0, 2, 0, 0],
    ],
    K: [
      [ln3, 0, 0, 0],
      [0, ln3, 0, 0],
    ],
    V: [
      [4, 0],
      [0, 8],
    ],
    P: [
      [0.75, 0.25],
      [0.25, 0.75],
    ],
    dC: [
      [1, 1],
      [1, 1],
    ],
    c: 0.5,
    R: null,
  });
  const q = (3 / 8) * ln3;
  const expected = {
    dV: [
      [1, 1],
      [1, 1],
    ],
    dP: [
      [4, 8],
      [4, 8],
    ],
    dS: [
      [-0.75, 0.75],
      [-0.75, 0.75],
    ],
    dQ: [
      [-q, q, 0, 0],
      [-q, q, 0, 0],
    ],
    dK: [
      [-0.75, -0.75, 0, 0],
      [0.75, 0.75, 0, 0],
    ],
  };
  for (const [what, numbers] of Object.entries(expected))
    assert.ok(compare(found[what], numbers, 1e-15).agrees, what);
});

test('a comparison tells numbers that differ, NaN, and other sizes', () => {
  assert.equal(compare([[1, 2]], [[1, 2]], 0).agrees, true);
  assert.deepEqual(compare([[1, 2.5]], [[1, 2]], 1e-12), {difference: 0.5, agrees: false});
  assert.deepEqual(compare([[NaN, 1]], [[1, 1]], 1), {difference: Infinity, agrees: false});
  assert.equal(compare([[1]], [[NaN]], 1).agrees, false);
  assert.equal(compare([[1, NaN]], [[1, NaN]], 1e-12).agrees, true);
  assert.equal(compare([[1, NaN]], [[2, NaN]], 1e-12).agrees, false);
  assert.equal(compare([[1, Infinity]], [[1, Infinity]], 1e-12).agrees, true);
  assert.equal(compare([[1, Infinity]], [[2, Infinity]], 1e-12).agrees, false);
  assert.equal(compare([[-Infinity]], [[Infinity]], 1).agrees, false);
  assert.equal(compare([[1e-13, 1]], [[0, 1]], 1e-12).agrees, true);
  assert.equal(compare([[3e-12, 1]], [[0, 1]], 1e-12).agrees, false);
  assert.equal(compare([[1]], [[1], [2]], 1).agrees, false);
});

const lines = (page) =>
  page.$$eval('#inspector .line', (found) => found.map((line) => line.dataset.line));

test('the panel shows the five lines beside the numbers of the tape, and they agree', async () => {
  const {page, close} = await open('attention');
  await page.click('#closed-form');
  assert.deepEqual(await lines(page), ['dV', 'dP', 'dS', 'dQ', 'dK']);
  assert.equal(
    await page.textContent('#inspector .verdict'),
    'The tape agrees with the textbook in all 5 lines.',
  );
  assert.deepEqual(
    await page.$$eval('#inspector h3 .spoken', (found) => found.map((x) => x.textContent)),
    [
      'dV = P^T dC',
      'dP = dC V^T',
      'dS = P ⊙ (dP − rowsum(dP ⊙ P))',
      'dQ = dS K / sqrt(d)',
      'dK = dS^T Q / sqrt(d)',
    ],
  );
  for (const line of await lines(page)) {
    const [tape, closed] = await tensors(page, `#inspector [data-line="${line}"]`);
    assert.deepEqual(tape.cells, closed.cells);
  }
  // Each line leads to the step where the tape computed it.
  assert.equal(await page.textContent('#inspector [data-line="dS"] .link'), 'step 12');
  await page.click('#inspector [data-line="dS"] .link');
  assert.equal(await step(page), 12);
  assert.equal(await page.getAttribute('#closed-form', 'aria-pressed'), 'false');
  await close();
});

test('masks and dropout are part of it, and so is attention in other words', async () => {
  const {page, close} = await open('mask');
  await page.click('#closed-form');
  assert.deepEqual(await lines(page), ['dV', 'dZ', 'dP', 'dS', 'dQ', 'dK']);
  assert.match(await page.textContent('#inspector .facts'), /with a mask.*with dropout/);
  assert.equal(await page.locator('#inspector .chip.agrees').count(), 6);
  await page.selectOption('#inspector select', '1');
  assert.deepEqual(await lines(page), ['dV', 'dP', 'dS', 'dQ', 'dK']);
  assert.equal(await page.locator('#inspector .chip.agrees').count(), 5);
  await close();
});

test('each batch and head has its own numbers', async () => {
  const {page, close} = await open('heads');
  await page.click('#closed-form');
  const first = await tensors(page, '#inspector [data-line="dS"]');
  await page.fill('.places label:has-text("head") input', '1');
  await page.keyboard.press('Tab');
  await page.fill('.places label:has-text("batch") input', '2');
  await page.keyboard.press('Tab');
  const other = await tensors(page, '#inspector [data-line="dS"]');
  assert.notDeepEqual(other[0].cells, first[0].cells);
  assert.equal(await page.locator('#inspector .chip.agrees').count(), 5);
  await close();
});

test('a tape whose numbers are wrong is told so', async () => {
  const json = jsonOf('attention');
  const {page, close} = await open('attention', {
    wrong: () => {
      // The contribution dS of the step through P, with one sign turned.
      const step = json.steps.find(({node}) => json.nodes[node].op === 'softmax');
      step.contributions[0].value.numbers[0] *= -1;
      return json;
    },
  });
  await page.click('#closed-form');
  assert.equal(
    await page.textContent('#inspector .verdict'),
    'The tape differs from the textbook: dS.',
  );
  assert.equal(await page.locator('#inspector .chip.differs').count(), 1);
  await close();
});

const verdict = (page) => page.textContent('#inspector .verdict');

test('a quotient is a factor, and the verdict is on attention alone', async () => {
  const {page, close} = await open('verdicts');
  await page.click('#closed-form');
  assert.deepEqual(
    await page.$$eval('#inspector option', (found) =>
      found.map((option) => option.textContent.slice(-3)),
    ),
    ['C_0', 'C_1', 'C_2', 'C_3', 'C_4', 'C_9'],
  );
  assert.equal(await verdict(page), 'The tape agrees with the textbook in all 5 lines.');
  assert.match(
    await page.textContent('#inspector [data-line="dQ"] h3 .spoken'),
    / K \/ sqrt\(d\)$/,
  );
  // One node that is Q and K has two parts.
  await page.selectOption('#inspector select', '5');
  assert.equal(await verdict(page), 'The tape agrees with the textbook in all 5 lines.');
  for (const [which, name] of [
    ['1', 'P_1'],
    ['2', 'S_2'],
  ]) {
    await page.selectOption('#inspector select', which);
    assert.equal(
      await verdict(page),
      `${name} is used once more, which adds to its adjoint; the closed form is that of attention alone.`,
    );
    assert.deepEqual(await lines(page), []);
  }
  await close();
});

test('an op with a wrong rule is told so, and what depends on it', async () => {
  const {page, close} = await open('verdicts');
  await page.click('#closed-form');
  await page.selectOption('#inspector select', '3');
  assert.match(await verdict(page), /^The tape differs from the textbook: d\S+, dQ, dK\.$/);
  assert.equal(await page.locator('#inspector .chip.agrees').count(), 2);
  // NaN everywhere agrees with NaN; and the factor is 1 / 3.
  await page.selectOption('#inspector select', '4');
  assert.equal(await verdict(page), 'The tape agrees with the textbook in all 5 lines.');
  assert.match(await page.textContent('#inspector [data-line="dQ"] h3 .spoken'), / K \/ 3$/);
  await close();
});

test('a difference in the tenth digit is one', async () => {
  const json = jsonOf('attention');
  const {page, close} = await open('attention', {
    wrong: () => {
      const step = json.steps.find(({node}) => json.nodes[node].op === 'softmax');
      const {numbers} = step.contributions[0].value;
      numbers[numbers.indexOf(Math.max(...numbers))] *= 1 + 1e-10;
      return json;
    },
  });
  await page.click('#closed-form');
  assert.equal(await verdict(page), 'The tape differs from the textbook: dS.');
  await close();
});

test('where the page has only a sample there is no verdict', async () => {
  const {page, close} = await open('gpt');
  await page.click('#closed-form');
  assert.match(await page.textContent('#inspector .verdict'), /only a sample/);
  await close();
});
