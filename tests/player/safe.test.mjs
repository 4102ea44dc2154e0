// One file that asks for nothing, runs nothing else, and shows names as they are.

import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {test} from 'node:test';
import {block, jsonOf, open, textOf} from './page.mjs';

test('the page allows its own script and style, by their digests, and nothing else', () => {
  const html = textOf('names');
  const digest = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = block(html, '<meta http-equiv="Content-Security-Policy" content="', '">');
  assert.equal(
    policy,
    `default-src 'none'; script-src ${digest(block(html, '<script type="module">', '</script>'))}; ` +
      `style-src ${digest(block(html, '<style>', '</style>'))}; base-uri 'none'; form-action 'none'`,
  );
  assert.equal(html.match(/<script/g).length, 3);
});

test('no script, style or request that is added later gets through', async () => {
  const {page, problems} = await open('attention');
  const result = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.hacked = 1';
    document.head.append(script);
    document.body.insertAdjacentHTML(
      'beforeend',
      '<p id="x" style="color: red" onclick="window.hacked = 2">x</p><img src="x.png">',
    );
    document.getElementById('x').click();
    const fetched = await fetch('https://example.org/').then(
      () => true,
      () => false,
    );
    return {hacked: window.hacked, fetched, color: document.getElementById('x').style.color};
  });
  assert.deepEqual(result, {hacked: undefined, fetched: false, color: ''});
  assert.ok(
    problems.length >= 4 && problems.every((text) => /Content Security Policy|x\.png/.test(text)),
    problems.join('\n'),
  );
});

// Cases E02 and E11.
test('hostile names are text: in the list, the equations, the graph, and as words', async () => {
  const json = jsonOf('names'),
    {page, close} = await open('names');
  const given = json.nodes.filter(({kind}) => kind === 'leaf').map(({name}) => name);
  for (const name of [
    'A & B',
    'a<b>',
    'say "hi"',
    "it's",
    '</script><script>alert(1)</script>',
    'İstanbul ığüşöç 模型 😀',
    'ok\ufffd',
  ])
    assert.ok(given.includes(name), name);
  const rows = await page.$$eval('#tape .leaf .spoken', (found) =>
    found.map((x) => x.textContent.replace(/, a leaf$/, '')),
  );
  assert.deepEqual(
    rows,
    json.nodes.filter(({kind}) => kind === 'leaf').map(({label}) => label),
  );
  const graph = await page.$$eval('#graph g.node', (found) =>
    found.map((x) => x.querySelector('text').textContent),
  );
  for (const name of ['A & B', 'a<b>', "it's", '</title>', 'İstanbul ığüşöç 模型 😀'])
    assert.ok(graph.includes(name), `${name} in the graph`);
  const words = await page.$$eval('#inspector thead th', (found) =>
    found.map((x) => x.textContent),
  );
  assert.deepEqual(words, ['</td><b>', '"it\'s" & 模型']);
  assert.equal(await page.title(), '</title><script>alert(1)</script> & \ufffd 😀');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 3);
  for (let i = 0; i < json.nodes.length; ++i) await page.keyboard.press('ArrowRight');
  await close();
});

test('the bytes of a page are UTF-8 without control characters', () => {
  const html = textOf('names');
  assert.doesNotMatch(html, /[\x00-\x08\x0b-\x1f\x7f]/);
  assert.ok(html.includes('İstanbul ığüşöç 模型 😀'));
});

test('the page works inside another, as a notebook shows it', async () => {
  const {page, problems} = await open('no_dot');
  // Only the page around it is new: its own policy would forbid a frame.
  await page.goto('about:blank');
  await page.evaluate((html) => {
    const frame = document.createElement('iframe');
    frame.srcdoc = html;
    frame.sandbox = 'allow-scripts';
    document.body.append(frame);
  }, textOf('attention'));
  const inner = page.frameLocator('iframe');
  await inner.locator('#next').click();
  await inner.locator('#next').click();
  assert.equal(await inner.locator('#where').textContent(), 'step 3 of 16');
  assert.deepEqual(
    problems.filter((text) => !text.startsWith('asked for about:')),
    [],
  );
});
