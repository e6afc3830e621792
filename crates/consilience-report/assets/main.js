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

/** Clusters that a legend names. */
const NAMED = 24;
/** What a legend says besides the names. */
const legendWords = () => [data.clusters.length === 1 ? 'Cluster' : 'Clusters', data.clusters.length > NAMED ? `and ${data.clusters.length - NAMED} more` : null];
const legendMark = (i, of, shapes, x, y) => svg('path', { d: shape(shapes ? shapeOf(i) : 1, x, y, 5), fill: colour(i, of) });

function legend() {
  const of = theme();
  const [first, last] = legendWords();
  for (const list of document.querySelectorAll('.legend')) {
    const names = data.clusters.slice(0, NAMED).map((c, i) => {
      const icon = svg('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' }, legendMark(i, of, list.dataset.shapes, 7, 7));
      return html('li', { title: c.name }, icon, html('bdi', {}, fit(c.name, 28)));
    });
    list.replaceChildren(html('li', {}, first), ...names, ...(last ? [html('li', {}, last)] : []));
  }
}
/** The legend inside a picture of this width, and how tall it is. */
function drawnLegend(of, width, shapes) {
  const [first, last] = legendWords();
  const drawn = [];
  let [x, y] = [0, 14];
  const put = (words, mark) => {
    const wide = 7 * [...words].length + (mark ? 16 : 0) + 14;
    if (x > 0 && x + wide > width) [x, y] = [0, y + 19];
    if (mark) drawn.push(mark(x + 6, y - 4));
    drawn.push(text(x + (mark ? 16 : 0), y, words, of));
    x += wide;
  };
  put(first);
  data.clusters.slice(0, NAMED).forEach((c, i) => put(fit(c.name, 28), (at, level) => legendMark(i, of, shapes, at, level)));
  if (last) put(last);
  return [drawn, y + 8];
}
function redraw() {
  legend();
  figures.forEach((f) => f.redraw());
}
redraw();
document.querySelectorAll('.scroll').forEach(hinted);

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
addEventListener('beforeprint', () => {
  printing = true;
  before = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = 'light';
  redraw();
});
addEventListener('afterprint', () => {
  printing = false;
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
