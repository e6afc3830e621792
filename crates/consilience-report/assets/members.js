// ---- members: from the clusters of a member to those of the consensus ----

function flow() {
  const { flows } = data;
  if (!flows.length) return;
  const root = document.getElementById('flow');
  if (!root) return;
  const choice = html('select', { 'aria-label': 'The clustering that is shown' },
    ...flows.map((f, i) => html('option', { value: i }, `${fit(f.member, 40)} (agreement ${fixed(f.agreement / 1000, 2)})`)));
  root.querySelector('.tools').prepend(choice);
  let now = flows[0];
  figure('flow', {
    draw: (of, width) => {
      const gap = 8;
      const label = Math.min(150, Math.max(64, width * 0.2));
      const right = data.clusters.map((_, j) => sum(now.cells.filter((c) => c[1] === j).map((c) => c[2])));
      const left = now.clusters.map((_, i) => sum(now.cells.filter((c) => c[0] === i).map((c) => c[2])));
      const total = sum(left);
      const rows = Math.max(left.length, right.filter(Boolean).length);
      const height = Math.min(760, Math.max(260, rows * 26, width * 0.9));
      const scale = (height - 30 - gap * rows) / Math.max(total, 1e-9);
      const picture = svg('svg', { viewBox: `0 0 ${Math.round(width)} ${height}` });
      const marks = [];
      // Clusters of the member stand in the order of where most of them goes.
      const main = now.clusters.map((_, i) => {
        const own = now.cells.filter((c) => c[0] === i);
        return own.length ? own.reduce((a, b) => (b[2] > a[2] ? b : a))[1] : 1e9;
      });
      const order = now.clusters.map((_, i) => i).sort((a, b) => main[a] - main[b] || left[b] - left[a]);
      const stack = (sizes, which) => {
        const tops = [];
        let y = 22;
        for (const i of which) {
          if (!sizes[i]) continue;
          tops[i] = y;
          y += sizes[i] * scale + gap;
        }
        return tops;
      };
      const targets = right.map((_, j) => j);
      const [a, b] = [stack(left, order), stack(right, targets)];
      const [x0, x1] = [label, width - label];
      picture.append(text(x0, 12, 'its clusters', of, { 'text-anchor': 'end' }), text(x1, 12, 'consensus', of));
      const [from, to] = [a.slice(), b.slice()];
      const sorted = now.cells.slice().sort((p, q) => order.indexOf(p[0]) - order.indexOf(q[0]) || p[1] - q[1]);
      for (const [i, j, weight] of sorted) {
        const tall = weight * scale;
        const [y0, y1] = [from[i], to[j]];
        const middle = (x0 + x1) / 2;
        const at = (t) => Math.round(t * 10) / 10;
        picture.append(svg('path', {
          d: `M ${at(x0 + 8)} ${at(y0)} C ${at(middle)} ${at(y0)} ${at(middle)} ${at(y1)} ${at(x1 - 8)} ${at(y1)} v ${at(tall)} C ${at(middle)} ${at(y1 + tall)} ${at(middle)} ${at(y0 + tall)} ${at(x0 + 8)} ${at(y0 + tall)} z`,
          fill: colour(j, of), 'fill-opacity': 0.45,
        }));
        const told = [`${now.clusters[i]} to ${clusterName(j)}: ${count(weight)} objects`, `${percent(weight / left[i])} of ${now.clusters[i]}, ${percent(weight / right[j])} of ${clusterName(j)}`];
        marks.push({ box: [x0 + 8, y0, (x1 - x0) / 2 - 8, Math.max(tall, 3)], lines: told }, { box: [middle, y1, (x1 - x0) / 2 - 8, Math.max(tall, 3)], lines: told });
        from[i] += tall;
        to[j] += tall;
      }
      order.filter((i) => left[i]).forEach((i) => {
        const tall = left[i] * scale;
        picture.append(svg('rect', { x: x0, y: a[i], width: 8, height: Math.max(1, tall), fill: of.soft }),
          text(x0 - 6, a[i] + tall / 2 + 4, fit(now.clusters[i], Math.floor(label / 8)), of, { 'text-anchor': 'end', fill: of.ink }));
        marks.push({ box: [0, a[i], x0 + 8, Math.max(tall, 4)], lines: [`${now.clusters[i]} of ${now.member}`, `${count(left[i])} objects`] });
      });
      targets.filter((j) => right[j]).forEach((j) => {
        const tall = right[j] * scale;
        picture.append(svg('rect', { x: x1 - 8, y: b[j], width: 8, height: Math.max(1, tall), fill: colour(j, of) }),
          text(x1 + 6, b[j] + tall / 2 + 4, fit(clusterName(j), Math.floor(label / 8)), of, { fill: of.ink, 'font-weight': 600 }));
        marks.push({ box: [x1 - 8, b[j], label + 8, Math.max(tall, 4)], lines: [`consensus cluster ${clusterName(j)}`, `${count(right[j])} objects`] });
      });
      return { svg: picture, ...fromMarks(marks) };
    },
    rows: () => [['clustering', 'its cluster', 'consensus cluster', 'objects'], ...flows.flatMap((f) => f.cells.map(([i, j, w]) => [f.member, f.clusters[i], clusterName(j), w]))],
  });
  choice.addEventListener('change', () => {
    now = flows[Number(choice.value)];
    figures.find((f) => f.id === 'flow').redraw();
  });
}
