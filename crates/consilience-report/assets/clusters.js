// ---- clusters: sizes and confidence, scatter plot, support ----

function clusterSizes() {
  const { clusters } = data;
  if (!clusters.length) return;
  const largest = Math.max(...clusters.map((c) => c.objects));
  figure('clusters', {
    draw: (of, width) => {
      // Many clusters stand closer.
      const row = clusters.length > 10 ? 28 : 44;
      const bar = row / 2;
      const longest = Math.max(...clusters.map((c) => [...c.name].length), 2);
      const label = Math.min(14 + 8 * longest, 150, width * 0.26);
      const right = Math.max(96, Math.min(300, width * 0.34));
      const bars = width - label - right - 28 - 8 * count(largest).length;
      const height = clusters.length * row + 34;
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${height}` });
      const marks = [];
      picture.append(text(label, 12, 'objects', of), text(width - right, 12, right > 120 ? 'confidence, 0 to 1' : 'confidence', of));
      clusters.forEach((c, i) => {
        const y = 24 + i * row;
        const fill = colour(i, of);
        const full = (bars * c.objects) / largest;
        picture.append(
          text(label - 8, y + 6 + 0.75 * bar, fit(c.name, Math.floor(label / 8)), of, { 'text-anchor': 'end', fill: of.ink, 'font-weight': 600 }),
          svg('rect', { x: label, y: y + 6, width: Math.max(1, full), height: bar, fill, 'fill-opacity': 0.35, rx: 2 }),
          svg('rect', { x: label, y: y + 6, width: Math.max(0.5, (bars * c.safe) / largest), height: bar, fill, rx: 2 }),
        );
        picture.append(text(label + full + 6, y + 6 + 0.75 * bar, count(c.objects), of, { fill: of.ink }));
        const most = Math.max(...c.histogram, 1);
        const step = right / c.histogram.length;
        c.histogram.forEach((n, b) => {
          const tall = n ? Math.max(1.5, ((row - 14) * n) / most) : 0;
          picture.append(svg('rect', { x: width - right + b * step + 0.5, y: y + row - 10 - tall, width: Math.max(1, step - 1), height: tall, fill }));
          marks.push({ box: [width - right + b * step, y, step, row - 6], lines: [`cluster ${c.name}`, `${count(n)} objects with confidence ${fixed(b / c.histogram.length, 2)} to ${fixed((b + 1) / c.histogram.length, 2)}`] });
        });
        picture.append(
          svg('line', { x1: width - right, x2: width, y1: y + row - 9.5, y2: y + row - 9.5, stroke: of.line }),
          svg('line', { x1: width - right + (right * c.confidence) / 1000, x2: width - right + (right * c.confidence) / 1000, y1: y + 4, y2: y + row - 6, stroke: of.ink, 'stroke-width': 1.5, 'stroke-dasharray': '3 2' }),
        );
        const near = c.nearest ? [`nearest: ${clusterName(c.nearest[0])} (co-association ${fixed(c.nearest[1] / 1000, 2)}; within ${fixed((c.cohesion ?? 0) / 1000, 2)})`] : [];
        marks.push({ box: [0, y, width - right - 6, row - 4], lines: [`cluster ${c.name}: ${count(c.objects)} objects (${percent(c.objects / data.n)})`, `${percent(c.safe / Math.max(1, c.objects))} of them safe, mean confidence ${fixed(c.confidence / 1000, 2)}`, ...near] });
      });
      return { svg: picture, ...fromMarks(marks) };
    },
    rows: () => [
      ['cluster', 'objects', 'safe', 'mean confidence', 'cohesion', 'nearest cluster', 'co-association with nearest', ...clusters[0].histogram.map((_, b) => `confidence from ${fixed(b / clusters[0].histogram.length, 2)}`)],
      ...clusters.map((c) => [c.name, c.objects, c.safe, c.confidence / 1000, c.cohesion === null ? null : c.cohesion / 1000, c.nearest ? clusterName(c.nearest[0]) : null, c.nearest ? c.nearest[1] / 1000 : null, ...c.histogram]),
    ],
  });
}

/** Circle, square, triangle, diamond: shapes tell clusters apart without colours. */
function shape(kind, x, y, size) {
  const s = size;
  if (kind === 1) return `M ${x - s} ${y - s} h ${2 * s} v ${2 * s} h ${-2 * s} z`;
  if (kind === 2) return `M ${x} ${y - 1.2 * s} L ${x + 1.15 * s} ${y + 0.9 * s} H ${x - 1.15 * s} z`;
  if (kind === 3) return `M ${x} ${y - 1.35 * s} L ${x + 1.35 * s} ${y} L ${x} ${y + 1.35 * s} L ${x - 1.35 * s} ${y} z`;
  return `M ${x - s} ${y} a ${s} ${s} 0 1 0 ${2 * s} 0 a ${s} ${s} 0 1 0 ${-2 * s} 0 z`;
}
const shapeOf = (cluster) => (cluster === null ? 0 : data.clusters[cluster].colour % 4);

function scatterPlot() {
  const s = data.scatter;
  if (!s) return;
  // Unsure objects are drawn last and light, so that they are seen.
  const order = s.places.map((_, i) => i).sort((a, b) => s.confidence[b] - s.confidence[a]);
  figure('scatter', {
    zoom: true,
    draw: (of, width, view) => {
      const pad = { left: 22, bottom: 26, top: 6, right: 6 };
      const w = width - pad.left - pad.right;
      const h = Math.max(240, Math.min(w * Math.min(Math.max(s.aspect / 1000, 0.62), 1), 640));
      const height = h + pad.top + pad.bottom;
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}` });
      const clip = `clip-${of.dark ? 'd' : 'l'}`;
      picture.append(svg('clipPath', { id: clip }, svg('rect', { x: pad.left, y: pad.top, width: w, height: h })));
      picture.append(svg('rect', { x: pad.left, y: pad.top, width: w, height: h, fill: 'none', stroke: of.line }));
      const inside = svg('g', { 'clip-path': `url(#${clip})` });
      const radius = s.places.length > 1200 ? 2.6 : s.places.length > 300 ? 3.4 : 4.4;
      const at = (i) => {
        const x = 0.02 + 0.96 * (s.places[i][0] / 10000);
        const y = 0.02 + 0.96 * (1 - s.places[i][1] / 10000);
        return [pad.left + ((x - view.x) / view.size) * w, pad.top + ((y - view.y) / view.size) * h];
      };
      const shown = [];
      for (const i of order) {
        const far = s.outside.includes(i);
        const [x, y] = at(i);
        if (x < pad.left - 5 || x > width + 5 || y < -5 || y > height) continue;
        shown.push([i, x, y]);
        inside.append(svg('path', {
          d: shape(shapeOf(s.clusters[i]), Math.round(x * 10) / 10, Math.round(y * 10) / 10, radius),
          fill: far ? 'none' : colour(s.clusters[i], of), 'fill-opacity': 0.2 + 0.75 * (s.confidence[i] / 1000),
          stroke: colour(s.clusters[i], of), 'stroke-width': 0.9, 'stroke-opacity': 0.9,
        }));
      }
      picture.append(inside,
        text(pad.left + w / 2, height - 6, clipped(s.axes[0], Math.floor(w / 6.4)), of, { 'text-anchor': 'middle' }),
        text(0, 0, clipped(s.axes[1], Math.floor(h / 6.4)), of, { 'text-anchor': 'middle', transform: `translate(14 ${pad.top + h / 2}) rotate(-90)` }));
      const told = ([i, x, y]) => ({ x, y, lines: [s.names[i], `cluster ${clusterName(s.clusters[i])}, confidence ${fixed(s.confidence[i] / 1000, 2)}`, ...(s.outside.includes(i) ? ['far off, shown at the edge'] : [])] });
      return {
        svg: picture,
        area: { x: pad.left, y: pad.top, width: w, height: h },
        probe: (x, y) => {
          let best = null;
          let nearest = 14 * 14;
          for (const point of shown) {
            const far = (point[1] - x) ** 2 + (point[2] - y) ** 2;
            if (far < nearest) [nearest, best] = [far, point];
          }
          return best && told(best);
        },
        step: (now, key) => {
          if (!shown.length) return [null, -1];
          const by = shown.slice().sort((a, b) => a[1] - b[1]);
          const next = key === 'Home' ? 0 : key === 'End' ? by.length - 1
            : Math.min(Math.max(now + (key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1), 0), by.length - 1);
          return [told(by[next]), next];
        },
      };
    },
    rows: () => [['object', s.axes[0], s.axes[1], 'cluster', 'confidence'], ...s.places.map((p, i) => [s.names[i], p[0] / 10000, p[1] / 10000, clusterName(s.clusters[i]), s.confidence[i] / 1000])],
  });
}

/** Support of every bin for every cluster, stacked, in the order of the matrix. */
function supportBars() {
  const m = data.matrix;
  if (!m || !m.support.length) return;
  const total = sum(m.weights);
  figure('support', {
    draw: (of, width) => {
      const pad = { left: 44, bottom: 22, top: 14 };
      const [w, h] = [width - pad.left - 4, 210];
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${h + pad.top + pad.bottom}` });
      const marks = [];
      // Bars end at whole pixels: neither gaps nor overlaps between them.
      let [x, end] = [pad.left, pad.left];
      for (const tick of [0, 0.5, 1]) {
        picture.append(text(pad.left - 6, pad.top + h * (1 - tick) + 4, percent(tick), of, { 'text-anchor': 'end', 'font-size': 11 }));
      }
      m.support.forEach((support, i) => {
        end += (w * m.weights[i]) / total;
        const wide = Math.max(0, Math.round(end) - x);
        const own = m.clusters[i];
        // One's own cluster stands at the bottom, the others above by size.
        const order = support.map((v, j) => [j, v]).filter(([, v]) => v > 0)
          .sort((a, b) => (b[0] === own) - (a[0] === own) || b[1] - a[1]);
        let y = pad.top + h;
        for (const [j, v] of order) {
          const tall = (h * v) / 1000;
          y -= tall;
          picture.append(svg('rect', { x, y, width: wide, height: tall, fill: colour(j, of), 'fill-opacity': j === own ? 1 : 0.75, 'shape-rendering': 'crispEdges' }));
        }
        picture.append(svg('rect', { x, y: 0, width: wide, height: 8, fill: colour(own, of), 'shape-rendering': 'crispEdges' }));
        marks.push({ box: [x, 0, Math.max(wide, 0.5), pad.top + h], lines: [`${count(m.weights[i])} objects of cluster ${clusterName(own)}, confidence ${fixed(m.confidence[i] / 1000, 2)}`, ...order.slice(0, 4).map(([j, v]) => `${percent(v / 1000)} for ${clusterName(j)}`)] });
        x += wide;
      });
      picture.append(
        svg('line', { x1: pad.left, x2: width - 4, y1: pad.top + h / 2, y2: pad.top + h / 2, stroke: of.card, 'stroke-dasharray': '4 3', 'stroke-opacity': 0.8 }),
        text(pad.left + w / 2, h + pad.top + 17, w > 300 ? 'objects, in the order of the consensus matrix' : 'objects, as in the matrix', of, { 'text-anchor': 'middle' }));
      return { svg: picture, ...fromMarks(marks) };
    },
    rows: () => [['bin', 'cluster', 'objects', ...data.clusters.map((c) => `support for ${c.name}`)], ...m.support.map((v, i) => [i, clusterName(m.clusters[i]), m.weights[i], ...v.map((x) => x / 1000)])],
  });
}
