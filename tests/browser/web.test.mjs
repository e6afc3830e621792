// The page that computes, in a real browser: a file in, the consensus, the verdict and the report out, the same
// labels as the program gives, and not a single request.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { makeTables } from './tables.mjs';

const program = process.env.CONSILIENCE;
const path = process.env.WEB_PAGE ?? '';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const skip = existsSync(path) ? false : 'the page was not built: Rust for the browser is not on this machine';

describe('the page that computes', { skip }, () => {
  let browser;
  let folder;
  const at = (name) => join(folder, name);
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'consilience-web-'));
    makeTables(program, folder);
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  });
  after(async () => {
    await browser?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Opens the page and hands it to `look`; fails on any error in it or request by it. */
  async function open(options, look) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    const wrong = [];
    const address = pathToFileURL(path).href;
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
    page.on('pageerror', (error) => wrong.push(error.message));
    let requests = 0;
    context.on('request', (request) => {
      const url = request.url();
      if (url === address || url === 'about:srcdoc' || url.startsWith('data:')) return;
      // The worker's own source, made by the page.
      if (url.startsWith('blob:')) return;
      requests += 1;
      wrong.push(`request of ${url}`);
    });
    await page.goto(address);
    await page.waitForSelector('html[data-ready="yes"]');
    await look(page);
    await context.close();
    assert.deepEqual(wrong, []);
    assert.equal(requests, 0);
  }

  const done = (page, name) => page.waitForSelector(`html[data-result="${name}"] #result:not([hidden])`, { timeout: 120_000 });
  const choose = async (page, name) => {
    await page.locator('#file').setInputFiles(at(name));
    await done(page, name);
  };
  const saved = async (page, name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator(`#downloads a[download="${name}"]`).click()]);
    assert.equal(download.suggestedFilename(), name);
    return readFileSync(await download.path(), 'utf8');
  };
  const columns = (csv) => csv.trim().split('\n').map((line) => line.split(',').slice(0, 2).join(','));

  test('is one file of at most 4 MB that may not connect to anything', () => {
    assert.ok(statSync(path).size <= 4_000_000, `${statSync(path).size} bytes`);
    const page = readFileSync(path, 'utf8');
    const policy = page.match(/Content-Security-Policy" content="([^"]*)"/)[1];
    assert.match(policy, /default-src 'none'; connect-src 'none'/);
    assert.ok(!policy.includes('unsafe-inline') && !policy.includes('http'), policy);
  });

  test('takes a file that is dropped', () => open({}, async (page) => {
    const bytes = [...readFileSync(at('labels.csv'))];
    const transfer = await page.evaluateHandle((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(content)], 'labels.csv'));
      return transfer;
    }, bytes);
    await page.dispatchEvent('#drop', 'dragover', { dataTransfer: transfer });
    assert.ok(await page.locator('#drop.over').count());
    await page.dispatchEvent('#drop', 'drop', { dataTransfer: transfer });
    await done(page, 'labels.csv');
    assert.match(await page.locator('#headline').innerText(), /clusters/);
    assert.match(await page.locator('#summary').innerText(), /read as clusterings: 200 objects/);
  }));

  for (const name of ['labels.csv', 'words.csv', 'noise.csv', 'labels.tsv', 'labels.csv.gz', 'members.parquet', 'codes.npy', 'points.csv', 'plants.csv', 'rings.csv']) {
    test(`gives the labels of the program: ${name}`, () => open({}, async (page) => {
      await choose(page, name);
      const words = (await page.locator('#command').textContent()).split(' ');
      assert.equal(words.shift(), 'consilience');
      assert.ok(words.every((word) => !word.includes("'")), 'plain words');
      execFileSync(program, [...words, '--progress', 'never', '--force'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      const ours = await saved(page, 'labels.csv');
      const file = words[0] === 'run' ? 'results/labels.csv' : words[words.indexOf('-o') + 1];
      const theirs = readFileSync(at(file), 'utf8');
      assert.deepEqual(columns(ours), columns(theirs));
      assert.equal(ours, theirs, 'confidence too');
      assert.ok(ours.trim().split('\n').length > 20);
    }));
  }

  test('shows the verdict and the whole report, and saves all of it', () => open({}, async (page) => {
    await page.getByRole('button', { name: /iris/ }).click();
    await done(page, 'iris.csv');
    const report = page.frameLocator('#report');
    await report.locator('.verdict li').first().waitFor();
    assert.equal(await page.locator('#headline').innerText(), await report.locator('#verdict-title span[dir]').innerText());
    for (const id of ['matrix', 'scatter', 'clusters', 'flow', 'agreement', 'number']) {
      assert.ok((await report.locator(`#${id} .plot svg > *`).count()) > 4, id);
    }
    // All of it is seen without a second scroll bar.
    const [inside, outside] = await page.locator('#report').evaluate((frame) => [frame.contentDocument.documentElement.scrollHeight, frame.clientHeight]);
    assert.ok(outside >= inside, `${outside} of ${inside}`);
    const [figure] = await Promise.all([page.waitForEvent('download'), report.locator('#matrix').getByRole('button', { name: /as SVG$/ }).click()]);
    assert.match(readFileSync(await figure.path(), 'utf8'), /^<svg /);
    const [picture] = await Promise.all([page.waitForEvent('download'), report.locator('#matrix').getByRole('button', { name: /as PNG$/ }).click()]);
    assert.equal(readFileSync(await picture.path()).subarray(1, 4).toString(), 'PNG');
    assert.match(await saved(page, 'report.html'), /^<!DOCTYPE html>[^]*consensus report<\/title>/);
    assert.equal((await saved(page, 'clusterings.csv')).trim().split('\n').length, 151);
    assert.equal(JSON.parse(await saved(page, 'result.json')).command.name, 'run');
  }));

  test('obeys its settings', () => open({}, async (page) => {
    await choose(page, 'labels.csv');
    await page.locator('#settings summary').click();
    await page.getByLabel('Number of clusters').fill('2');
    await page.getByLabel('Method').selectOption('scec');
    await page.getByLabel('Seed').fill('5');
    await page.evaluate(() => delete document.documentElement.dataset.result);
    await page.getByRole('button', { name: 'Run again' }).click();
    await done(page, 'labels.csv');
    assert.match(await page.locator('#summary').innerText(), /2 clusters by scec/);
    assert.match(await page.locator('#command').textContent(), /--method scec --k 2 --seed 5/);
    const offered = await page.locator('select[name="method"] option').evaluateAll((all) => all.map((one) => one.value));
    assert.ok(offered.length > 20 && !offered.includes('cspa') && !offered.includes('edge-cut'), offered.join());
  }));

  test('says what is wrong in the words of the program', () => open({}, async (page) => {
    for (const [name, words] of [
      ['ragged.csv', 'ragged.csv, line 3: 3 fields, but 2 are expected; mend the line, or quote cells that contain the separator `,`'],
      ['empty.csv', 'empty.csv is empty; it needs at least one row'],
      ['table.xlsx', /^table\.xlsx: /],
      ['damaged.parquet', /^damaged\.parquet is damaged/],
      ['zstd.parquet', /write it again without compression, or by snappy or gzip/],
    ]) {
      await page.locator('#file').setInputFiles(at(name));
      await page.locator('#failure').waitFor();
      await page.waitForFunction((name) => document.getElementById('reason').textContent.includes(name), name);
      const said = await page.locator('#reason').innerText();
      if (typeof words === 'string') assert.equal(said, words);
      else assert.match(said, words);
      assert.ok(await page.locator('#result').isHidden());
    }
    await choose(page, 'labels.csv');
    assert.ok(await page.locator('#failure').isHidden());
  }));

  test('can be cancelled, and goes on with another file', () => open({}, async (page) => {
    await page.locator('#file').setInputFiles(at('large.csv'));
    await page.locator('#work').waitFor();
    await page.waitForFunction(() => document.getElementById('stage').textContent !== 'Starting');
    assert.match(await page.locator('#work-title').innerText(), /large\.csv/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.ok(await page.locator('#work').isHidden());
    assert.ok(await page.locator('#result').isHidden());
    await choose(page, 'labels.csv');
    assert.match(await page.locator('#summary').innerText(), /labels\.csv/);
  }));

  test('keeps to the last file, however long an earlier one takes to read', () => open({}, async (page) => {
    await page.evaluate(() => {
      const read = Blob.prototype.arrayBuffer;
      Blob.prototype.arrayBuffer = async function slowly() {
        const bytes = await read.call(this);
        if (this.name === 'large.csv') {
          await new Promise((passed) => { window.goOn = passed; });
          window.wentOn = true;
        }
        return bytes;
      };
    });
    await page.locator('#file').setInputFiles(at('large.csv'));
    await page.waitForFunction(() => window.goOn);
    await choose(page, 'labels.csv');
    await page.evaluate(() => window.goOn());
    await page.waitForFunction(() => window.wentOn);
    await page.waitForTimeout(200);
    assert.ok(await page.locator('#work').isHidden());
    assert.match(await page.locator('#summary').innerText(), /labels\.csv/);
  }));

  test('compares with known classes, which do not vote', () => open({}, async (page) => {
    await choose(page, 'labels.csv');
    await page.locator('#settings summary').click();
    await page.getByLabel('Known classes').fill('run8');
    await page.evaluate(() => delete document.documentElement.dataset.result);
    await page.getByRole('button', { name: 'Run again' }).click();
    await done(page, 'labels.csv');
    assert.match(await page.locator('#summary').innerText(), /200 objects, 8 clusterings/);
    assert.match(await page.locator('#command').textContent(), / --drop run8 /);
    await page.frameLocator('#report').getByText('with the classes').first().waitFor();
  }));

  test('reads decimal commas and words for missing labels as the program does, set with the keyboard', () => open({}, async (page) => {
    const again = async (name, label, keys) => {
      await page.evaluate(() => delete document.documentElement.dataset.result);
      await page.getByLabel(label).focus();
      for (const key of keys) await page.keyboard.press(key);
      // To the button, from wherever that is.
      for (let i = 0; i < 12 && (await page.evaluate(() => document.activeElement.id)) !== 'again'; i += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await done(page, name);
      const words = (await page.locator('#command').textContent()).split(' ');
      execFileSync(program, [...words.slice(1), '--progress', 'never', '--force'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      const file = words[1] === 'run' ? 'results/labels.csv' : words[words.indexOf('-o') + 1];
      assert.equal(await saved(page, 'labels.csv'), readFileSync(at(file), 'utf8'));
      return words.join(' ');
    };
    await page.locator('#settings summary').focus();
    await page.keyboard.press('Enter');
    await page.locator('#file').setInputFiles(at('commas.csv'));
    await page.locator('#failure').waitFor();
    assert.match(await page.locator('#reason').innerText(), /a comma as Decimals/);
    assert.match(await again('commas.csv', 'Decimals', ['ArrowDown']), / run commas\.csv --decimal , /);
    // The same numbers as with points.
    const ours = await saved(page, 'labels.csv');
    await choose(page, 'plants.csv');
    assert.equal(await saved(page, 'labels.csv'), ours);
    await choose(page, 'dashes.csv');
    const taken = await saved(page, 'labels.csv');
    assert.ok(!taken.startsWith('id,cluster,confidence,coverage'), 'among words, -1 is one');
    assert.match(await again('dashes.csv', 'Missing values', ['-', '1']), / combine dashes\.csv .*--missing -1 /);
    assert.ok((await saved(page, 'labels.csv')).startsWith('id,cluster,confidence,coverage'));
  }));

  test('clears what was said of a file when another comes, keeps what was asked, and shows both', () => open({}, async (page) => {
    const values = () => page.evaluate(() => Object.fromEntries(new FormData(document.getElementById('form'))));
    const settled = page.locator('#settled');
    await page.locator('#settings summary').click();
    // Before the first file, this is said of that one.
    await page.getByLabel('Leave out').fill('run5');
    await choose(page, 'labels.tsv');
    assert.equal(await settled.innerText(), '');
    assert.match(await page.locator('#command').textContent(), /--drop run5 /);
    for (const [label, value] of [['Number of clusters', '3'], ['Seed', '5'], ['Identifiers', 'patient'], ['Known classes', 'run6'], ['Leave out', 'run5'], ['Missing values', '-1, ?']]) await page.getByLabel(label).fill(value);
    for (const [label, value] of [['The table holds', 'clusterings'], ['Decimals', ','], ['Method', 'scec']]) await page.getByLabel(label).selectOption(value);
    await page.evaluate(() => delete document.documentElement.dataset.result);
    await page.getByRole('button', { name: 'Run again' }).click();
    await done(page, 'labels.tsv');
    assert.match(await page.locator('#command').textContent(), /--missing -1 --missing '\?' --decimal , --method scec --k 3 --seed 5/);
    await choose(page, 'words.csv');
    assert.deepEqual(await values(), { kind: '', id: '', truth: '', drop: '', missing: '', decimal: '', k: '3', method: 'scec', seed: '5' });
    assert.equal(
      await settled.innerText(),
      'Cleared for words.csv: The table holds, Identifiers, Known classes, Leave out, Missing values, Decimals. Kept: Number of clusters 3, Method scec, Seed 5.',
    );
    assert.match(await page.locator('#command').textContent(), /^consilience combine words\.csv --id patient --method scec --k 3 --seed 5 /);
    // It is over once the settings are used as they stand.
    await page.evaluate(() => delete document.documentElement.dataset.result);
    await page.getByRole('button', { name: 'Run again' }).click();
    await done(page, 'words.csv');
    assert.equal(await settled.innerText(), '');
    // An example brings its own classes.
    await page.getByLabel('Number of clusters').fill('');
    await page.getByLabel('Method').selectOption('');
    await page.getByRole('button', { name: /iris/ }).click();
    await done(page, 'iris.csv');
    assert.deepEqual(await values(), { kind: '', id: '', truth: 'species', drop: '', missing: '', decimal: '', k: '', method: '', seed: '5' });
    assert.equal(await settled.innerText(), 'Kept: Seed 5.');
  }));

  test('can be used with the keyboard alone', () => open({}, async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.dataset.example || document.activeElement.textContent.trim());
    const seen = [];
    for (let i = 0; i < 12 && seen.at(-1) !== 'labels.csv'; i += 1) {
      await page.keyboard.press('Tab');
      seen.push(await focused());
    }
    assert.ok(seen.includes('file') && seen.includes('theme'), seen.join());
    await page.keyboard.press('Enter');
    await done(page, 'labels.csv');
    assert.equal(await focused(), 'headline');
    await page.keyboard.press('Tab');
    assert.match(await focused(), /Labels/);
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    assert.equal(download.suggestedFilename(), 'labels.csv');
  }));

  for (const colorScheme of ['light', 'dark']) {
    test(`has no serious accessibility problem, ${colorScheme}`, () => open({ colorScheme, bypassCSP: true }, async (page) => {
      const problems = async () => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run(document, { iframes: false }));
        const serious = violations.filter((v) => ['serious', 'critical'].includes(v.impact));
        return serious.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))]);
      };
      await page.locator('#settings summary').click();
      assert.deepEqual(await problems(), []);
      await choose(page, 'labels.csv');
      assert.deepEqual(await problems(), []);
    }));
  }

  test('fits narrow windows, and its colours can be exchanged', () => open({ viewport: { width: 360, height: 800 } }, async (page) => {
    await choose(page, 'labels.csv');
    await page.locator('#settings summary').click();
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${over} px too wide`);
    const background = () => page.evaluate(() => [document.body, document.getElementById('report').contentDocument.body].map((body) => getComputedStyle(body).backgroundColor));
    const light = await background();
    await page.locator('#theme').click();
    const dark = await background();
    assert.notEqual(dark[0], light[0]);
    assert.equal(dark[0], dark[1]);
  }));
});
