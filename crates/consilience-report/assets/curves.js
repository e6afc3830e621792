// ---- curves: what speaks for which number of clusters; how decided pairs are; the objective ----

/** Axes of a small chart in a picture. */
function axes(picture, box, of, { x, y, xs, ys }) {
  picture.append(svg('line', { x1: box.x, x2: box.x + box.w, y1: box.y + box.h, y2: box.y + box.h, stroke: of.soft }));
  for (const [at, label] of ys) {
    const v = box.y + box.h * (1 - at);
    picture.append(svg('line', { x1: box.x, x2: box.x + box.w, y1: v, y2: v, stroke: of.line }), text(box.x - 5, v + 4, label, of, { 'text-anchor': 'end', 'font-size': 11 }));
  }
  for (const [at, label] of xs) picture.append(text(box.x + box.w * at, box.y + box.h + 15, label, of, { 'text-anchor': 'middle', 'font-size': 11 }));
  if (x) picture.append(text(box.x + box.w / 2, box.y + box.h + 31, x, of, { 'text-anchor': 'middle' }));
  if (y) picture.append(text(box.x, box.y - 20, y, of, { fill: of.ink, 'font-weight': 600 }));
}

/** Three heights of an axis; of a flat curve only one. */
const heights = (low, high) => (high > low
  ? ticks([low, (low + high) / 2, high]).map((label, i) => [i / 2, label])
  : [[0, ticks([low])[0]]]);

function numberCurves() {
  const { number } = data;
  const panels = [
    ['Lifetimes', 'longest lifetime', number.lifetimes],
    ['Prominences of groups', 'gap of prominences', [1, ...number.prominences].slice(0, number.lifetimes.length)],
    ['Eigenvalues', 'gap of bipartite eigenvalues', number.eigenvalues],
    ['Cumulated shares', 'dominating eigenvalues', number.shares],
  ].filter(([, , values]) => values.length > 1);
  if (!panels.length) return;
  const said = (rule) => number.votes.find(([name]) => name === rule)?.[1] ?? null;
  figure('number', {
    draw: (of, width) => {
      const across = width > 1000 ? panels.length : width > 520 ? 2 : 1;
      const each = width / across;
      const tall = 218;
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${tall * Math.ceil(panels.length / across)}` });
      const marks = [];
      panels.forEach(([name, rule, values], p) => {
        const box = { x: (p % across) * each + 50, y: Math.floor(p / across) * tall + 36, w: each - 64, h: 130 };
        const most = Math.max(...values, 1e-9);
        const step = box.w / values.length;
        const every = Math.ceil(values.length / Math.max(2, Math.floor(box.w / 22)));
        axes(picture, box, of, {
          x: 'number of clusters k', y: name,
          xs: values.map((_, i) => [(i + 0.5) / values.length, String(i + 1)]).filter((_, i) => i % every === 0),
          ys: heights(0, most),
        });
        const votes = said(rule);
        values.forEach((v, i) => {
          const h = Math.max(0, (box.h * v) / most);
          const chosen = i + 1 === number.k;
          picture.append(svg('rect', { x: box.x + i * step + step * 0.14, y: box.y + box.h - h, width: step * 0.72, height: Math.max(h, 0.5), fill: chosen ? of.accent : of.soft, 'fill-opacity': chosen ? 1 : 0.5 }));
          if (i + 1 === votes) picture.append(svg('path', { d: `M ${box.x + (i + 0.5) * step} ${box.y + box.h - h - 3} l -5 -8 h 10 z`, fill: of.caution }));
          marks.push({ box: [box.x + i * step, box.y, step, box.h + 16], lines: [`${name.toLowerCase()}, k = ${i + 1}: ${fixed(v, 3)}`, ...(chosen ? ['the result has this many'] : []), ...(i + 1 === votes ? ['this rule says so'] : [])] });
        });
      });
      return { svg: picture, ...fromMarks(marks) };
    },
    rows: () => {
      const most = Math.max(...panels.map((p) => p[2].length));
      const rows = [['k', ...panels.map((p) => p[0].toLowerCase()), 'result', 'recommended', 'rules that say so']];
      for (let i = 0; i < most; i += 1) rows.push([i + 1, ...panels.map((p) => p[2][i] ?? null), i + 1 === number.k ? 'yes' : 'no', i + 1 === number.recommended ? 'yes' : 'no', number.votes.filter((v) => v[1] === i + 1).map((v) => v[0]).join('; ')]);
      return rows;
    },
  });
}

/** A line through values at equal steps. */
function line(values, box, low, high) {
  const at = (v, i) => `${(box.x + (box.w * i) / Math.max(1, values.length - 1)).toFixed(1)} ${(box.y + box.h * (1 - (v - low) / Math.max(high - low, 1e-300))).toFixed(1)}`;
  return `M ${values.map(at).join(' L ')}`;
}
const columns = (values, box, lines) => values.map((v, i) => ({ box: [box.x + (box.w * (i - 0.5)) / Math.max(1, values.length - 1), box.y, box.w / Math.max(1, values.length - 1), box.h], lines: lines(v, i) }));

function distributionCurve() {
  const values = data.number.distribution;
  if (values.length < 2) return;
  const steps = values.length - 1;
  figure('distribution', {
    draw: (of, width) => {
      const box = { x: 44, y: 14, w: width - 58, h: 190 };
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} 244` });
      picture.append(svg('rect', { x: box.x + box.w * 0.1, y: box.y, width: box.w * 0.8, height: box.h, fill: of.caution, 'fill-opacity': 0.1 }),
        text(box.x + box.w / 2, box.y + 16, `undecided: ${percent(data.number.undecided)} of the pairs`, of, { 'text-anchor': 'middle', fill: of.ink }));
      axes(picture, box, of, { x: 'share of clusterings that put a pair together', xs: [0, 0.25, 0.5, 0.75, 1].map((t) => [t, String(t)]), ys: [[0, '0 %'], [0.5, '50 %'], [1, '100 %']] });
      picture.append(svg('path', { d: line(values, box, 0, 1), fill: 'none', stroke: of.accent, 'stroke-width': 2.5, 'stroke-linejoin': 'round' }));
      const told = (v, i) => [`${percent(v)} of the pairs are together in at most ${percent(i / steps)} of the clusterings`];
      return { svg: picture, ...fromMarks(columns(values, box, told)) };
    },
    rows: () => [['co-association at most', 'share of pairs'], ...values.map((v, i) => [i / steps, v])],
  });
}

function traceCurve() {
  const values = data.trace;
  if (values.length < 2) return;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  figure('trace', {
    draw: (of, width) => {
      const levels = heights(low, high);
      const wide = 14 + 7 * Math.max(...levels.map(([, label]) => label.length));
      const box = { x: wide, y: 14, w: width - wide - 16, h: 190 };
      // Whole iterations, each once.
      const places = [...new Set([0, 0.5, 1].map((t) => Math.round(t * (values.length - 1))))];
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} 244` });
      axes(picture, box, of, {
        x: 'iteration', xs: places.map((i) => [i / (values.length - 1), String(i + 1)]), ys: levels,
      });
      picture.append(svg('path', { d: line(values, box, low, high), fill: 'none', stroke: of.accent, 'stroke-width': 2.5, 'stroke-linejoin': 'round' }));
      return { svg: picture, ...fromMarks(columns(values, box, (v, i) => [`iteration ${i + 1}: ${v}`])) };
    },
    rows: () => [['iteration', 'objective'], ...values.map((v, i) => [i + 1, v])],
  });
}

/** Stability over k: consensus distributions, delta area, undecided pairs, agreement of the draws. */
function resampledCurves() {
  const s = data.resampled;
  if (s.ks.length < 2) return;
  const steps = s.distributions[0].length - 1;
  figure('resampled', {
    draw: (of, width) => {
      const across = width > 1000 ? 4 : width > 520 ? 2 : 1;
      const each = width / across;
      const tall = 236;
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${tall * (4 / across)}` });
      const marks = [];
      const box = (p) => ({ x: (p % across) * each + 50, y: Math.floor(p / across) * tall + 36, w: each - 66, h: 146 });
      const first = box(0);
      axes(picture, first, of, { x: 'share of the draws', y: 'Consensus distribution', xs: [0, 0.5, 1].map((t) => [t, String(t)]), ys: [[0, '0 %'], [0.5, '50 %'], [1, '100 %']] });
      const chosen = s.ks.indexOf(s.k);
      const shown = s.ks.map((_, i) => i).filter((i) => i !== chosen);
      if (chosen >= 0) shown.push(chosen);
      for (const i of shown) {
        const own = i === chosen;
        const stroke = own ? of.accent : `rgb(${shade(0.3 + (0.5 * i) / s.ks.length, of).join(' ')})`;
        picture.append(svg('path', { d: line(s.distributions[i].map((v) => v / 1000), first, 0, 1), fill: 'none', stroke, 'stroke-width': own ? 3 : 1.3, 'stroke-linejoin': 'round' }));
      }
      const ends = [s.ks[0], s.ks[s.ks.length - 1]];
      picture.append(text(first.x + first.w - 4, first.y + first.h - 8, `k = ${ends[0]} to ${ends[1]}${chosen >= 0 ? `, ${s.k} in bold` : ''}`, of, { 'text-anchor': 'end' }));
      for (let i = 0; i <= steps; i += 1) {
        const x = first.x + (first.w * (i - 0.5)) / steps;
        const best = chosen >= 0 ? chosen : 0;
        marks.push({ box: [x, first.y, first.w / steps, first.h], lines: [`k = ${s.ks[best]}: ${percent(s.distributions[best][i] / 1000)} of the pairs are together in at most ${percent(i / steps)} of the draws`] });
      }
      const bars = [['Growth of the area (delta area)', s.deltas], ['Undecided pairs', s.undecided], ['Agreement of the draws', s.stability]];
      bars.forEach(([name, values], p) => {
        const own = box(p + 1);
        const most = Math.max(...values, 1e-9);
        const step = own.w / values.length;
        const every = Math.ceil(values.length / Math.max(2, Math.floor(own.w / 22)));
        axes(picture, own, of, {
          x: 'number of clusters k', y: name,
          xs: values.map((_, i) => [(i + 0.5) / values.length, String(s.ks[i])]).filter((_, i) => i % every === 0),
          ys: heights(0, most),
        });
        const told = [
          (v, i) => (s.ks[i] === 2 ? `area ${fixed(v, 3)}` : `the area grows by ${percent(Math.max(0, v))}`),
          (v) => `${percent(v)} of the pairs are undecided`,
          (v) => `adjusted Rand index ${fixed(v, 3)} with all clusterings`,
        ][p];
        values.forEach((v, i) => {
          const h = Math.max(0, (own.h * v) / most);
          picture.append(svg('rect', { x: own.x + i * step + step * 0.14, y: own.y + own.h - h, width: step * 0.72, height: Math.max(h, 0.5), fill: i === chosen ? of.accent : of.soft, 'fill-opacity': i === chosen ? 1 : 0.5 }));
          marks.push({ box: [own.x + i * step, own.y, step, own.h + 16], lines: [`k = ${s.ks[i]}: ${told(v, i)}`, ...(i === chosen ? ['the result has this many'] : [])] });
        });
      });
      return { svg: picture, ...fromMarks(marks) };
    },
    rows: () => [
      ['k', 'result', 'area', 'delta area', 'undecided pairs', 'agreement of the draws', ...Array.from({ length: steps + 1 }, (_, i) => `pairs together in at most ${fixed(i / steps, 2)}`)],
      ...s.ks.map((k, i) => [k, k === s.k ? 'yes' : 'no', s.areas[i], s.deltas[i], s.undecided[i], s.stability[i], ...s.distributions[i].map((v) => v / 1000)]),
    ],
  });
}
