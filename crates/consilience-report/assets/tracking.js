// ---- tracking: the cluster of every group of objects at each number of clusters ----

/** The colour of a cluster of a cut: that of the result where it corresponds to one. */
function trackColour(cluster, of) {
  if (cluster < data.tracking.k && cluster < data.clusters.length) return colour(cluster, of);
  const hue = (cluster * 137.508 + 60) % 360;
  return `hsl(${hue.toFixed(0)} 38% ${of.dark ? 60 : 52}%)`;
}
const trackName = (cluster) => (cluster < data.tracking.k && cluster < data.clusters.length ? `cluster ${clusterName(cluster)}` : `part ${cluster - data.tracking.k + 1}, which this result does not tell apart`);

function trackingPlot() {
  const t = data.tracking;
  if (t.ks.length < 2) return;
  const total = sum(t.weights);
  const rows = [['this result', t.consensus.map((c) => c ?? -1)], ...t.ks.map((k, i) => [`k = ${k}`, t.clusters[i]])];
  figure('tracking', {
    draw: (of, width) => {
      const pad = { left: 84, right: 24, top: 4 };
      const [w, row] = [width - pad.left - pad.right, 24];
      const height = pad.top + rows.length * row + 12 + 26;
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${height}` });
      const marks = [];
      rows.forEach(([name, clusters], r) => {
        // The result stands a little apart from the cuts.
        const y = pad.top + r * row + (r ? 12 : 0);
        const chosen = r === 0 || t.ks[r - 1] === t.k;
        picture.append(text(pad.left - 8, y + 16, name, of, { 'text-anchor': 'end', fill: chosen ? of.ink : of.soft, 'font-weight': chosen ? 700 : 400 }));
        let start = 0;
        let x = pad.left;
        for (let i = 0; i < clusters.length;) {
          let j = i;
          let weight = 0;
          while (j < clusters.length && clusters[j] === clusters[i]) { weight += t.weights[j]; j += 1; }
          start += weight;
          const end = pad.left + (w * start) / total;
          const cluster = clusters[i];
          picture.append(svg('rect', { x, y: y + 1, width: Math.max(0.4, end - x), height: row - 3, fill: cluster < 0 ? colour(null, of) : r ? trackColour(cluster, of) : colour(cluster, of) }));
          if (end - x > 1.5 && x > pad.left) picture.append(svg('line', { x1: x, x2: x, y1: y + 1, y2: y + row - 2, stroke: of.card, 'stroke-width': 1 }));
          const what = cluster < 0 ? 'no cluster' : r ? trackName(cluster) : `cluster ${clusterName(cluster)}`;
          marks.push({ box: [x, y, end - x, row], lines: [`${name}: ${what}`, `${count(weight)} objects (${percent(weight / total)})`] });
          x = end;
          i = j;
        }
        if (r && chosen) {
          picture.append(
            svg('rect', { x: pad.left - 1.5, y: y - 0.5, width: w + 3, height: row, fill: 'none', stroke: of.ink, 'stroke-width': 2 }),
            svg('path', { d: `M ${width - pad.right + 6} ${y + row / 2 - 1} l 9 -6 v 12 z`, fill: of.caution }));
        }
      });
      picture.append(text(pad.left + w / 2, height - 8, 'objects, by cluster of this result', of, { 'text-anchor': 'middle' }));
      return { svg: picture, ...fromMarks(marks) };
    },
    rows: () => [
      ['group', 'objects', 'this result', ...t.ks.map((k) => `k = ${k}`)],
      ...t.weights.map((weight, i) => [i, weight, clusterName(t.consensus[i]), ...t.clusters.map((clusters) => (clusters[i] < t.k && clusters[i] < data.clusters.length ? clusterName(clusters[i]) : `part ${clusters[i] - t.k + 1}`))]),
    ],
  });
}
