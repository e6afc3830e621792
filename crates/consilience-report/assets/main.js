// ---- main ----
consensusMatrix();
scatterPlot();
clusterSizes();
supportBars();
flow();
agreementMatrix();
numberCurves();
resampledCurves();
trackingPlot();
distributionCurve();
traceCurve();

function legend() {
  const of = theme();
  for (const list of document.querySelectorAll('.legend')) {
    const shown = data.clusters.slice(0, 24);
    list.replaceChildren(...shown.map((c, i) => {
      const icon = svg('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' }, svg('path', { d: shape(list.dataset.shapes ? shapeOf(i) : 1, 7, 7, 5), fill: colour(i, of) }));
      return html('li', {}, icon, html('bdi', {}, c.name));
    }));
    list.prepend(html('li', {}, data.clusters.length === 1 ? 'Cluster' : 'Clusters'));
    if (data.clusters.length > shown.length) list.append(html('li', {}, `and ${data.clusters.length - shown.length} more`));
  }
}
function redraw() {
  legend();
  figures.forEach((f) => f.redraw());
}
redraw();

let width = document.documentElement.clientWidth;
addEventListener('resize', () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  redraw();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
document.getElementById('theme').addEventListener('click', () => {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  redraw();
});
// Paper is white.
let before;
addEventListener('beforeprint', () => { before = document.documentElement.dataset.theme; document.documentElement.dataset.theme = 'light'; redraw(); });
addEventListener('afterprint', () => {
  if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
  redraw();
});
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = 'Copied';
    } catch {
      // Without the clipboard the text is selected, ready to be copied by hand.
      getSelection().selectAllChildren(source);
      button.textContent = 'Selected';
    }
  });
}
document.documentElement.dataset.ready = 'yes';
