// ---- matrix: heatmaps of the consensus matrix and of the members' agreement ----

/** A symmetric matrix as an image inside a picture; bins may have different widths. */
function heatmap({ widths, value, strip, describe, marks, cuts }) {
  const ends = [0];
  widths.forEach((w) => ends.push(ends[ends.length - 1] + w));
  const total = ends[ends.length - 1];
  const n = widths.length;
  const bin = (share) => {
    let [low, high] = [0, n - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle + 1] / total > share) high = middle; else low = middle + 1;
    }
    return low;
  };
  return (of, width, view) => {
    const band = 12;
    const left = band + 6;
    const bar = width > 420 ? 58 : 0;
    const side = Math.max(120, Math.min(width - left - bar - 4, 760));
    const height = side + left + 26;
    const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}` });
    const pixels = Math.min(1200, Math.round(side * 2));
    const canvas = html('canvas', { width: pixels, height: pixels });
    const pen = canvas.getContext('2d');
    const edge = (i, from) => Math.round(((ends[i] / total - from) / view.size) * pixels);
    const [first, last] = [bin(view.x), bin(view.x + view.size - 1e-9)];
    const [top, bottom] = [bin(view.y), bin(view.y + view.size - 1e-9)];
    for (let i = top; i <= bottom; i += 1) {
      const [y0, y1] = [edge(i, view.y), edge(i + 1, view.y)];
      for (let j = first; j <= last; j += 1) {
        const share = value(i, j);
        const [x0, x1] = [edge(j, view.x), edge(j + 1, view.x)];
        pen.fillStyle = share === null ? of.card : `rgb(${shade(share, of).join(' ')})`;
        pen.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
      }
    }
    picture.append(svg('image', { x: left, y: left, width: side, height: side, href: canvas.toDataURL('image/png'), preserveAspectRatio: 'none' }));
    // Strips along the sides, drawn run by run.
    const run = (from, to, size0, draw) => {
      for (let i = from; i <= to;) {
        let j = i;
        while (j < to && strip(j + 1, of) === strip(i, of)) j += 1;
        const a = Math.max(0, (ends[i] / total - size0) / view.size);
        const b = Math.min(1, (ends[j + 1] / total - size0) / view.size);
        draw(a * side, Math.max(0.5, (b - a) * side), strip(i, of));
        i = j + 1;
      }
    };
    run(first, last, view.x, (at, size, fill) => picture.append(svg('rect', { x: left + at, y: 2, width: size, height: band, fill, 'shape-rendering': 'crispEdges' })));
    run(top, bottom, view.y, (at, size, fill) => picture.append(svg('rect', { x: 2, y: left + at, width: band, height: size, fill, 'shape-rendering': 'crispEdges' })));
    for (const cut of cuts ?? []) {
      const [x, y] = [(ends[cut] / total - view.x) / view.size, (ends[cut] / total - view.y) / view.size];
      const line = { stroke: of.dark ? '#ffffff' : '#000000', 'stroke-opacity': 0.55, 'stroke-width': 1 };
      if (x > 0 && x < 1) picture.append(svg('line', { x1: left + x * side, x2: left + x * side, y1: left, y2: left + side, ...line }));
      if (y > 0 && y < 1) picture.append(svg('line', { y1: left + y * side, y2: left + y * side, x1: left, x2: left + side, ...line }));
    }
    for (const i of marks ?? []) {
      const at = ((ends[i] + ends[i + 1]) / 2 / total - view.y) / view.size;
      if (at > 0 && at < 1) picture.append(svg('path', { d: `M ${left + side + 2} ${left + at * side} l 8 -5 v 10 z`, fill: of.weak }));
    }
    picture.append(svg('rect', { x: left, y: left, width: side, height: side, fill: 'none', stroke: of.line }));
    // The scale.
    const steps = 24;
    const scale = bar
      ? { x: left + side + 20, y: left, w: 12, h: Math.min(220, side), upright: true }
      : { x: left, y: left + side + 6, w: side * 0.6, h: 8, upright: false };
    for (let i = 0; i < steps; i += 1) {
      const fill = `rgb(${shade((i + 0.5) / steps, of).join(' ')})`;
      picture.append(scale.upright
        ? svg('rect', { x: scale.x, y: scale.y + scale.h * (1 - (i + 1) / steps), width: scale.w, height: scale.h / steps + 0.6, fill })
        : svg('rect', { x: scale.x + (scale.w * i) / steps, y: scale.y, width: scale.w / steps + 0.6, height: scale.h, fill }));
    }
    if (scale.upright) {
      for (const tick of [0, 0.5, 1]) picture.append(text(scale.x + 17, scale.y + scale.h * (1 - tick) + (tick === 1 ? 9 : tick === 0 ? 0 : 4), String(tick), of));
    } else {
      picture.append(text(scale.x + scale.w + 6, scale.y + 9, '0 to 1', of));
    }
    const at = (i, j) => ({
      x: left + (((ends[j] + ends[j + 1]) / 2 / total - view.x) / view.size) * side,
      y: left + (((ends[i] + ends[i + 1]) / 2 / total - view.y) / view.size) * side,
      lines: describe(i, j),
    });
    return {
      svg: picture,
      area: { x: left, y: left, width: side, height: side },
      probe: (x, y) => {
        const [u, v] = [(x - left) / side, (y - left) / side];
        if (u < 0 || u >= 1 || v < 0 || v >= 1) return null;
        return { x, y, lines: describe(bin(view.y + v * view.size), bin(view.x + u * view.size)) };
      },
      step: (now, key) => {
        let [i, j] = now < 0 ? [top, first] : [Math.floor(now / n), now % n];
        if (now >= 0) {
          if (key === 'ArrowDown') i += 1;
          if (key === 'ArrowUp') i -= 1;
          if (key === 'ArrowRight') j += 1;
          if (key === 'ArrowLeft') j -= 1;
          if (key === 'Home') [i, j] = [top, first];
          if (key === 'End') [i, j] = [bottom, last];
        }
        i = Math.min(Math.max(i, top), bottom);
        j = Math.min(Math.max(j, first), last);
        return [at(i, j), i * n + j];
      },
    };
  };
}

const half = (values, i, j) => values[(Math.max(i, j) * (Math.max(i, j) + 1)) / 2 + Math.min(i, j)];

function consensusMatrix() {
  const m = data.matrix;
  if (!m) return;
  const cuts = m.clusters.map((c, i) => (i > 0 && c !== m.clusters[i - 1] ? i : 0)).filter(Boolean);
  const value = (i, j) => half(m.values, i, j) / 1000;
  figure('matrix', {
    zoom: true,
    draw: heatmap({
      widths: m.weights,
      value,
      strip: (i, of) => colour(m.clusters[i], of),
      cuts: cuts.length <= 40 ? cuts : [],
      describe: (i, j) => {
        const one = `${clusterName(m.clusters[i])} (${count(m.weights[i])} objects)`;
        const other = `${clusterName(m.clusters[j])} (${count(m.weights[j])} objects)`;
        return [`together in ${percent(value(i, j))} of the clusterings`, i === j ? `cluster ${one}` : `cluster ${one} with ${other}`];
      },
    }),
    rows: () => {
      const rows = [['bin', 'cluster', 'objects', 'confidence', ...m.weights.map((_, j) => `bin ${j}`)]];
      m.weights.forEach((w, i) => rows.push([i, clusterName(m.clusters[i]), w, m.confidence[i] / 1000, ...m.weights.map((_, j) => value(i, j))]));
      return rows;
    },
  });
}

function agreementMatrix() {
  const m = data.members;
  if (m.names.length < 2) return;
  const value = (i, j) => { const x = half(m.values, i, j); return x > 1000 ? null : x / 1000; };
  const several = new Set(m.camps).size > 1;
  const cuts = several ? m.camps.map((c, i) => (i > 0 && c !== m.camps[i - 1] ? i : 0)).filter(Boolean) : [];
  figure('agreement', {
    zoom: true,
    draw: heatmap({
      widths: m.names.map(() => 1),
      value,
      strip: (i, of) => `rgb(${shade(m.consensus[i] > 1000 ? 0 : m.consensus[i] / 1000, of).join(' ')})`,
      cuts,
      marks: m.dissents.map((d, i) => (d ? i : -1)).filter((i) => i >= 0),
      describe: (i, j) => {
        const own = (h) => `${m.names[h]}: ${m.k[h]} clusters, ${fixed(m.consensus[h] / 1000, 2)} with the consensus${m.dissents[h] ? ', dissents' : ''}`;
        const both = value(i, j);
        return i === j ? [own(i)] : [`agreement ${both === null ? 'unknown: no object in common' : fixed(both, 2)}`, own(i), own(j)];
      },
    }),
    rows: () => {
      const rows = [['clustering', 'clusters', 'with the consensus', 'dissents', 'camp', ...m.names]];
      m.names.forEach((name, i) => rows.push([name, m.k[i], m.consensus[i] > 1000 ? null : m.consensus[i] / 1000, m.dissents[i] ? 'yes' : 'no', m.camps[i], ...m.names.map((_, j) => value(i, j))]));
      return rows;
    },
  });
}
