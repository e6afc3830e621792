// The report page in a real browser: nothing breaks, nothing is asked from elsewhere, everything can
// be seen, read, reached and saved.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { HOSTILE, makePages } from './pages.mjs';

const program = process.env.CONSILIENCE;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const COMMON = ['matrix', 'clusters', 'support', 'flow', 'agreement', 'number', 'resampled', 'tracking', 'distribution'];
const FIGURES = {
  demo: [...COMMON, 'scatter'],
  soft: [...COMMON, 'scatter', 'trace'],
  missing: [...COMMON, 'trace'],
  hostile: [...COMMON, 'trace'],
  million: COMMON,
};

// Every figure once; the method of the demonstration takes no steps that a trace could show.
const EACH = [...FIGURES.demo.map((id) => ['demo', id]), ['soft', 'trace']];

let browser;
let pages;
before(async () => {
  pages = makePages(program);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    // Continuous integration often runs as root, where the sandbox cannot.
    args: ['--no-sandbox'],
  });
});
after(async () => {
  await browser?.close();
  pages?.remove();
});

/** Opens a page and hands it to `look`; fails on any error in it or request by it. */
async function open(name, options, look) {
  // The policy of the page stays in force but for what the test itself injects.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const wrong = [];
  const address = pathToFileURL(pages.paths[name]).href;
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith('data:') && !url.startsWith('blob:')) wrong.push(`request of ${url}`);
  });
  await page.goto(address);
  await page.waitForSelector('html[data-ready="yes"]');
  await look(page);
  await context.close();
  assert.deepEqual(wrong, []);
}

for (const name of Object.keys(FIGURES)) {
  describe(`the page of ${name}`, () => {
    test('is smaller than a megabyte', () => assert.ok(statSync(pages.paths[name]).size < 1_000_000));

    test('has every figure, and none is empty', () => open(name, {}, async (page) => {
      for (const id of FIGURES[name]) {
        const drawn = await page.locator(`#${id} .plot svg > *`).count();
        assert.ok(drawn > 4, `${id} has ${drawn} elements`);
        const box = await page.locator(`#${id} .plot svg`).boundingBox();
        assert.ok(box.width > 200 && box.height > 100, `${id} is ${box.width} x ${box.height}`);
      }
      assert.ok((await page.locator('.verdict li').count()) >= 3);
    }));

    test('fits narrow and wide windows', async () => {
      for (const width of [360, 1280, 1920]) {
        await open(name, { viewport: { width, height: 800 } }, async (page) => {
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${over} px too wide at ${width}`);
        });
      }
    });

    for (const colorScheme of ['light', 'dark']) {
      test(`has no serious accessibility problem, ${colorScheme}`, () => open(name, { colorScheme, bypassCSP: true }, async (page) => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const serious = violations.filter((v) => ['serious', 'critical'].includes(v.impact));
        assert.deepEqual(serious.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))]), []);
      }));
    }
  });
}

describe('a figure', () => {
  test('tells values under the pointer', () => open('demo', {}, async (page) => {
    const tips = { matrix: /together in .* of the clusterings/, scatter: null, clusters: /cluster \d+: \d+ objects/, distribution: /of the pairs/ };
    for (const [id, expected] of Object.entries(tips)) {
      if (!expected) continue;
      const plot = page.locator(`#${id} .plot`);
      await plot.scrollIntoViewIfNeeded();
      await plot.hover({ position: { x: 90, y: 60 } });
      await page.locator(`#${id} .tip`).waitFor({ state: 'visible' });
      assert.match(await page.locator(`#${id} .tip`).innerText(), expected);
    }
  }));

  test('can be zoomed and shown whole again', () => open('demo', {}, async (page) => {
    for (const id of ['matrix', 'scatter', 'agreement']) {
      const picture = () => page.locator(`#${id} .plot svg`).evaluate((svg) => svg.outerHTML);
      const whole = await picture();
      await page.locator(`#${id}`).getByRole('button', { name: /Zoom into/ }).click();
      const near = await picture();
      assert.notEqual(near, whole, `${id} zooms in`);
      await page.locator(`#${id} .plot`).focus();
      await page.keyboard.press('+');
      assert.notEqual(await picture(), near, `${id} zooms by key`);
      await page.locator(`#${id}`).getByRole('button', { name: /^Whole/ }).click();
      assert.equal(await picture(), whole, `${id} is whole again`);
    }
  }));

  for (const name of ['demo', 'soft']) {
    test(`reads its values aloud by keys: ${name}`, () => open(name, {}, async (page) => {
      for (const [, id] of EACH.filter(([own]) => own === name)) {
        await page.locator(`#${id} .plot`).focus();
        await page.keyboard.press('ArrowRight');
        const first = await page.locator(`#${id} [aria-live]`).textContent();
        assert.ok(first.length > 3, `${id} says "${first}"`);
        await page.keyboard.press('End');
        assert.notEqual(await page.locator(`#${id} [aria-live]`).textContent(), first, id);
      }
    }));
  }

  test('has its data in a table', () => open('demo', {}, async (page) => {
    for (const id of FIGURES.demo) {
      await page.locator(`#${id} summary`).click();
      await page.locator(`#${id} details tbody tr`).first().waitFor();
      assert.ok((await page.locator(`#${id} details tbody tr`).count()) >= 2, id);
    }
    const sizes = await page.locator('#clusters details tbody tr').evaluateAll((rows) => rows.map((row) => Number(row.cells[1].textContent)));
    assert.equal(sizes.reduce((a, b) => a + b, 0), 150);
  }));

  const saved = async (page, id, kind) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator(`#${id}`).getByRole('button', { name: new RegExp(`as ${kind}$`) }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `${id}.${kind.toLowerCase()}`);
    return readFileSync(await download.path());
  };
  // A page each: browsers stop a page that saves many files in a row.
  for (const [name, id] of EACH) {
    test(`can be saved as CSV, SVG and PNG: ${id}`, () => open(name, {}, async (page) => {
      const lines = (await saved(page, id, 'CSV')).toString().trim().split('\r\n');
      assert.ok(lines.length > 2, `${id} has ${lines.length} lines`);
      if (id === 'clusters') {
        const sizes = lines.slice(1).map((line) => Number(line.split(',')[1]));
        assert.equal(sizes.reduce((a, b) => a + b), 150);
      }
      const picture = (await saved(page, id, 'SVG')).toString();
      assert.match(picture, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      const parsed = await page.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') === null, picture);
      assert.ok(parsed, `${id} is well-formed`);
      const caption = await page.locator(`#${id} figcaption p`).evaluate((p) => p.innerText.trim().split(' ').slice(0, 5).join(' '));
      assert.ok(picture.includes(await page.locator(`#${id} h3`).innerText()), `${id} has its title inside`);
      assert.ok(picture.includes(caption.replaceAll('&', '&amp;')), `${id} has its caption inside: ${caption}`);
      if (await page.locator(`#${id} .legend`).count()) assert.ok(picture.includes('>Clusters<'), `${id} has its legend inside`);
      const png = await saved(page, id, 'PNG');
      assert.equal(png.subarray(1, 4).toString(), 'PNG');
      assert.ok(png.length > 5000);
    }));
  }

  test('follows another clustering when one is chosen', () => open('demo', {}, async (page) => {
    const picture = () => page.locator('#flow .plot svg').evaluate((svg) => svg.outerHTML);
    const first = await picture();
    await page.locator('#flow select').selectOption({ index: 5 });
    assert.notEqual(await picture(), first);
  }));
});

test('the keyboard reaches every control', () => open('demo', {}, async (page) => {
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll('button, select, summary, a[href], [tabindex="0"]')];
    return all.filter((e) => e.checkVisibility() && !e.disabled).length;
  });
  const reached = new Set();
  for (let i = 0; i < wanted + 20; i += 1) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => {
      window.seen ??= new Map();
      const e = document.activeElement;
      if (!window.seen.has(e)) window.seen.set(e, e === document.body ? 'body' : window.seen.size);
      return window.seen.get(e);
    }));
  }
  reached.delete('body');
  assert.ok(reached.size >= wanted, `${reached.size} of ${wanted}`);
}));

test('the page opens with the headline', () => open('demo', {}, async (page) => {
  const first = await page.locator('main > *').first().locator('h2').innerText();
  assert.match(first, /clusters/);
  assert.equal(await page.locator('.verdict li').filter({ hasText: first }).count(), 0, 'said once');
}));

test('captions speak of the colours that are there', async () => {
  for (const [colorScheme, word] of [['light', 'Dark squares'], ['dark', 'Bright squares']]) {
    await open('demo', { colorScheme }, async (page) => {
      const words = () => page.locator('#matrix figcaption').innerText();
      assert.ok((await words()).includes(word), colorScheme);
      await page.locator('#theme').click();
      assert.ok(!(await words()).includes(word), `${colorScheme}, exchanged`);
    });
  }
});

test('no axis has the same number twice', async () => {
  for (const [name, id] of [['demo', 'number'], ['demo', 'resampled'], ['soft', 'trace']]) {
    await open(name, {}, async (page) => {
      const places = await page.locator(`#${id} .plot text[text-anchor="end"]`).evaluateAll((all) => all.map((t) => [t.getAttribute('x'), t.textContent]));
      assert.ok(places.length >= 2, id);
      assert.ok(!places.some(([, label], i) => i > 0 && places[i - 1][1] === label && label !== '0'), `${id}: ${places}`);
    });
  }
});

test('two figures never have one name', () => open('soft', {}, async (page) => {
  const names = await page.locator('figure h3').allInnerTexts();
  assert.equal(new Set(names).size, names.length, names.join(', '));
}));

test('a table that is cut says so, and only then', async () => {
  for (const [width, cut] of [[360, true], [1280, false]]) {
    await open('missing', { viewport: { width, height: 800 } }, async (page) => {
      const hints = page.locator('.scroll[aria-label="The most doubtful objects"] + .hint');
      assert.equal(await hints.isVisible(), cut, `at ${width}`);
    });
  }
});

test('missing labels and all methods have their tables', async () => {
  await open('missing', {}, async (page) => {
    assert.ok((await page.locator('th', { hasText: 'labelled by' }).count()) === 1);
    assert.ok((await page.locator('.verdict').innerText()).includes('of the labels are missing'));
  });
  await open('board', {}, async (page) => {
    const rows = page.locator('[aria-label="Leaderboard"] tbody tr');
    assert.ok((await rows.count()) > 10);
  });
});

test('light and dark can be exchanged', () => open('demo', {}, async (page) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.locator('#theme').click();
  assert.notEqual(await background(), light);
}));

test('hostile names are text', () => open('hostile', {}, async (page) => {
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('img').count(), 0);
  const options = await page.locator('#flow option').allTextContents();
  assert.ok(options.some((text) => text.startsWith('<script>window')), options.join('\n'));
  await page.locator('#agreement summary').click();
  // The table behind a figure is made when it is opened.
  await page.locator('#agreement tbody tr').first().waitFor();
  const names = await page.locator('#agreement tbody tr td:first-child').allTextContents();
  assert.ok(names.includes(HOSTILE[0]), names.join('\n'));
  // What turns the direction of text is spelled out.
  assert.ok(!(await page.content()).includes('\u202e'));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('#agreement').getByRole('button', { name: /as CSV$/ }).click(),
  ]);
  const csv = readFileSync(await download.path(), 'utf8');
  assert.ok(!/(^|,)"?=/m.test(csv), 'no cell begins like a formula');
  assert.ok(csv.includes("'=cmd()"));
}));

test('the script cannot be joined by another', () => open('missing', {}, async (page) => {
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.joined = 1';
    let refused = false;
    document.addEventListener('securitypolicyviolation', () => { refused = true; });
    document.body.append(script);
    return [window.joined, refused];
  }).catch((error) => [undefined, error.message]);
  assert.equal(ran[0], undefined);
}).catch((error) => {
  // The browser tells of the refusal in its console, which is what this test is about.
  assert.match(error.message, /Content.Security.Policy/i);
}));
