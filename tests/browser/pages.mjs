// The pages that the tests look at, made by the program itself.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const HOSTILE = [
  '<script>window.hacked = 1</script>',
  '"><img src=x onerror="window.hacked = 1">',
  "it's 'quoted'",
  '=cmd()',
  '\u05e9\u05dc\u05d5\u05dd \u202eabc',
  '🧬🧫',
  'x'.repeat(10000),
];

/** A small generator of our own: the same pages every time. */
export function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
export const csv = (rows) => rows.map((row) => row.map((cell) => quoted(String(cell))).join(',')).join('\n') + '\n';

/** Groups of points: `n` rows, three groups, an identifier. */
export function points(n) {
  const next = random(7);
  const rows = [['name', 'length', 'width', 'height']];
  for (let i = 0; i < n; i += 1) {
    const group = i % 3;
    rows.push([`plant ${i}`, group * 2 + 2 * next(), 3 * group + 2.5 * next(), next()]);
  }
  return csv(rows);
}

/** Clusterings of three groups with some wrong labels and some missing ones. */
function clusterings(n, r, names, missing) {
  const next = random(11);
  const rows = [['id', ...names(r)]];
  for (let i = 0; i < n; i += 1) {
    const row = [`object ${i}`];
    for (let h = 0; h < r; h += 1) {
      const wrong = next() < 0.12 ? 1 : 0;
      row.push(next() < missing ? 'NA' : `c${((i % 3) + wrong + h) % 3}`);
    }
    rows.push(row);
  }
  return csv(rows);
}

/** Hostile identifiers, cluster and member names. */
function hostile() {
  const rows = [['id', ...HOSTILE.map((name, h) => `${name}${h === 0 ? '' : ` ${h}`}`)]];
  for (let i = 0; i < 28; i += 1) {
    const row = [`${HOSTILE[i % HOSTILE.length]} ${i}`];
    for (let h = 0; h < HOSTILE.length; h += 1) {
      const group = (i + (i % 5 === h % 5 ? 1 : 0)) % 2;
      row.push(HOSTILE[(group + h) % HOSTILE.length]);
    }
    rows.push(row);
  }
  return csv(rows);
}

/** A million objects in a hundred clusterings, as NumPy writes them. */
function million(path) {
  const [n, r] = [1_000_000, 100];
  const next = random(3);
  const kinds = Array.from({ length: 400 }, (_, i) => Uint8Array.from({ length: r }, () => (next() < 0.1 ? Math.floor(next() * 5) : i % 5)));
  let header = `{'descr': '|u1', 'fortran_order': False, 'shape': (${n}, ${r}), }`;
  header += ' '.repeat(63 - ((header.length + 10) % 64)) + '\n';
  const bytes = Buffer.alloc(10 + header.length + n * r);
  bytes.write('\x93NUMPY\x01\x00', 'latin1');
  bytes.writeUInt16LE(header.length, 8);
  bytes.write(header, 10, 'latin1');
  for (let i = 0; i < n; i += 1) bytes.set(kinds[Math.floor(next() * kinds.length)], 10 + header.length + i * r);
  writeFileSync(path, bytes);
}

/** Makes all pages; answers their paths by name, and how to remove them. */
export function makePages(program) {
  const folder = mkdtempSync(join(tmpdir(), 'consilience-pages-'));
  const at = (name) => join(folder, name);
  const run = (...args) => execFileSync(program, [...args, '--progress', 'never'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const members = (r) => Array.from({ length: r }, (_, h) => `member ${h}`);

  run('demo', 'iris', '-o', 'demo');
  writeFileSync(at('points.csv'), points(150));
  run('run', 'points.csv', '--id', 'name', '--k', '3', '--method', 'scec', '--soft', '--base', 'fuzzy-kmeans', '--size', '12', '-o', 'soft');
  writeFileSync(at('missing.csv'), clusterings(120, 15, members, 0.15));
  run('combine', 'missing.csv', '--id', 'id', '--method', 'scec', '--k', '3', '-o', 'missing-out.csv', '--report', 'missing.html');
  writeFileSync(at('hostile.csv'), hostile());
  run('combine', 'hostile.csv', '--id', 'id', '--method', 'scec', '--k', '2', '-o', 'hostile-out.csv', '--report', 'hostile.html');
  run('combine', 'missing.csv', '--id', 'id', '--method', 'all', '--k', '3', '-o', 'board-out.csv', '--report', 'board.html');
  million(at('million.npy'));
  run('combine', 'million.npy', '--method', 'scec', '--k', '5', '-o', 'million-out.npy', '--report', 'million.html');

  return {
    paths: { demo: at('demo/report.html'), soft: at('soft/report.html'), missing: at('missing.html'), hostile: at('hostile.html'), million: at('million.html'), board: at('board.html') },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
