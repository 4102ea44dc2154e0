// The modules: their types, and how they become one script.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {test} from 'node:test';
import {block, textOf} from './page.mjs';

const source = process.env.PLAYER_SOURCE;
const modules = readdirSync(source).filter((name) => name.endsWith('.js'));

test('the types in the comments hold', () => {
  const tsc = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const run = () =>
    execFileSync(
      process.execPath,
      [
        tsc,
        '--noEmit',
        '--allowJs',
        '--checkJs',
        '--strict',
        '--noUnusedLocals',
        '--noUnusedParameters',
        '--target',
        'es2023',
        '--module',
        'es2022',
        '--moduleResolution',
        'bundler',
        '--lib',
        'es2023,dom,dom.iterable',
        ...modules.map((name) => join(source, name)),
      ],
      {encoding: 'utf8'},
    );
  assert.doesNotThrow(run, (error) => {
    console.log(error.stdout);
    return false;
  });
});

test('the script of a page is all modules, each behind what it imports, without import and export', () => {
  const script = block(textOf('attention'), '<script type="module">', '</script>');
  const at = {};
  for (const name of modules) {
    const text = readFileSync(join(source, name), 'utf8');
    const stripped = text.replace(/^import .* from '.*';$/gm, '').replace(/^export /gm, '');
    at[name] = script.indexOf(stripped);
    assert.notEqual(at[name], -1, `${name} is in the script as it is`);
  }
  assert.equal(
    script.length,
    modules.reduce(
      (sum, name) =>
        sum +
        readFileSync(join(source, name), 'utf8')
          .replace(/^import .* from '.*';$/gm, '')
          .replace(/^export /gm, '').length,
      0,
    ),
  );
  for (const name of modules)
    for (const [, imported] of readFileSync(join(source, name), 'utf8').matchAll(
      /^import .* from '\.\/(.*)';$/gm,
    ))
      assert.ok(at[imported] < at[name], `${name} stands behind ${imported}`);
});

test('a page without its data is below 150 KB', (t) => {
  const html = textOf('attention');
  const data = ['tape-data', 'page-data'].reduce(
    (sum, id) => sum + block(html, `id="${id}">`, '</script>').length,
    0,
  );
  const graphs = [...html.matchAll(/<template.*?<\/template>/gs)].reduce(
    (sum, [text]) => sum + text.length,
    0,
  );
  const size = html.length - data - graphs;
  t.diagnostic(`${size} bytes`);
  assert.ok(size < 150_000, `${size}`);
});
