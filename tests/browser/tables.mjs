// The tables that the page that computes is given: of all formats, with and without names, gaps and mistakes.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { csv, points, random } from './pages.mjs';

/** Two columns, `a` with 1, 1, 2 and `b` with 2, 2, 3, written by pyarrow 26 with zstd. */
const ZSTD = 'UEFSMRUEFRAVIkwVBBUAEgAAKLUv/SAIQQAAAQAAAAIAAAAVABUSFSQsFQYVEBUGFQYcAAAAKLUv/SAJSQAAAgAAAAYBAQMEFQQVEBUiTBUEFQASAAAotS/9IAhBAAACAAAAAwAAABUAFRIVJCwVBhUQFQYVBhwAAAAotS/9IAlJAAACAAAABgEBAwQVBBk8NQAYBnNjaGVtYRUEABUCJQIYAWElHkysEwgRAAAAFQIlAhgBYiUeTKwTCBEAAAAWBhkcGSwmABwVAhk1AAYQGRgBYRUMFgYWZBaIASZGJggpLBUEFQAVAgAVABUQFQIAPCkGGSYABgAAACYAHBUCGTUABhAZGAFiFQwWBhZkFogBJs4BJpABKSwVBBUAFQIAFQAVEBUCADwpBhkmAAYAAAAWyAEWBiYIFpACACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZLBwAABwAAADbAAAAUEFSMQ==';

/** Labels of `groups` groups by `r` clusterings, some of them wrong, some missing. */
function labels(n, r, groups, { wrong = 0.12, missing = 0, gap = '', seed = 5, ids = false, name = String } = {}) {
  const next = random(seed);
  const rows = [[...(ids ? ['patient'] : []), ...Array.from({ length: r }, (_, h) => `run${h}`)]];
  for (let i = 0; i < n; i += 1) {
    const row = ids ? [`p${i}`] : [];
    for (let h = 0; h < r; h += 1) {
      const label = ((i % groups) + (next() < wrong ? 1 + Math.floor(next() * (groups - 1)) : 0) + h) % groups;
      row.push(next() < missing ? gap : name(label));
    }
    rows.push(row);
  }
  return csv(rows);
}

/** Two half rings, one inside the other. */
function rings(n) {
  const next = random(13);
  const rows = [['x', 'y']];
  for (let i = 0; i < n; i += 1) {
    const [angle, radius] = [Math.PI * next(), 1 + 0.2 * next()];
    const [x, y] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    rows.push((i % 2 ? [x, y] : [1 - x, 0.4 - y]).map((v) => v.toFixed(6)));
  }
  return csv(rows);
}

function npy(path, rows) {
  const [n, r] = [rows.length, rows[0].length];
  let header = `{'descr': '|i1', 'fortran_order': False, 'shape': (${n}, ${r}), }`;
  header += ' '.repeat(63 - ((header.length + 10) % 64)) + '\n';
  const bytes = Buffer.alloc(10 + header.length + n * r);
  bytes.write('\x93NUMPY\x01\x00', 'latin1');
  bytes.writeUInt16LE(header.length, 8);
  bytes.write(header, 10, 'latin1');
  rows.forEach((row, i) => row.forEach((cell, h) => bytes.writeInt8(Number(cell), 10 + header.length + i * r + h)));
  writeFileSync(path, bytes);
}

/** Writes them all into `folder`. */
export function makeTables(program, folder) {
  const write = (name, content) => writeFileSync(join(folder, name), content);
  write('labels.csv', labels(200, 9, 4));
  write('words.csv', labels(150, 8, 3, { ids: true, missing: 0.2, gap: 'NA', name: (label) => ['red', 'green', 'blue'][label] }));
  write('noise.csv', labels(180, 10, 5, { wrong: 0.25, missing: 0.1, gap: '-1', seed: 3 }));
  write('labels.tsv', labels(120, 7, 3, { seed: 8, ids: true }).replaceAll(',', '\t'));
  write('labels.csv.gz', gzipSync(labels(400, 6, 6, { seed: 21, wrong: 0.3 })));
  npy(join(folder, 'codes.npy'), labels(160, 8, 4, { seed: 9, missing: 0.05, gap: '-1' }).trim().split('\n').slice(1).map((line) => line.split(',')));
  write('points.csv', points(150));
  const next = random(17);
  const plants = Array.from({ length: 240 }, (_, i) => Array.from({ length: 6 }, (_, j) => ((i % 4) * (j % 3) + next() + next() + next()).toFixed(4)));
  write('plants.csv', csv([['a', 'b', 'c', 'd', 'e', 'f'], ...plants]));
  write('rings.csv', rings(300));
  const decimals = plants.map((row) => row.join(';').replaceAll('.', ','));
  write('commas.csv', ['a;b;c;d;e;f', ...decimals].join('\n') + '\n');
  write('dashes.csv', labels(150, 8, 3, { ids: true, missing: 0.2, gap: '-1', name: (label) => ['red', 'green', 'blue'][label] }));
  execFileSync(program, ['generate', 'plants.csv', '-o', 'members.parquet', '--size', '12', '--progress', 'never'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });

  write('ragged.csv', 'a,b\n1,2\n1,2,3\n');
  write('empty.csv', '');
  write('table.xlsx', 'PK');
  const parquet = readFileSync(join(folder, 'members.parquet'));
  write('damaged.parquet', parquet.subarray(0, parquet.length / 2));
  write('zstd.parquet', Buffer.from(ZSTD, 'base64'));
  const many = random(29);
  write('large.csv', csv([['x', 'y', 'z'], ...Array.from({ length: 20_000 }, (_, i) => [0, 1, 2].map((j) => ((i % 7) * j + many() * 3).toFixed(4)))]));
}
