// ---- base: elements, colours, numbers, downloads ----
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';

/** An HTML element; strings among the children become text, never markup. */
function html(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** An SVG element, likewise. */
function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    made.setAttribute(key, typeof value === 'number' ? String(Math.round(value * 100) / 100) : value);
  }
  made.append(...children);
  return made;
}

const LIGHT = {
  dark: false, ink: '#1a2230', soft: '#556074', line: '#d9dee6', card: '#ffffff', accent: '#1d5bb8',
  weak: '#b3261e', caution: '#8a5200',
  ramp: ['#f7f9fc', '#d3e1f2', '#93b9de', '#4a86c0', '#1c5396', '#0a2a58'],
  palette: ['#1f6fb2', '#c8511b', '#158a63', '#a8488f', '#8a6d00', '#3a9bc4', '#6d4fb0', '#a5472f', '#5c6675', '#9b1c4a', '#4d7a1f', '#2b3f8c'],
};
const DARK = {
  dark: true, ink: '#e7ebf1', soft: '#a7b1c1', line: '#2c3644', card: '#161d27', accent: '#86b7ff',
  weak: '#ff9a90', caution: '#f0b455',
  ramp: ['#131a23', '#1d3552', '#27578c', '#3f86c4', '#82bdec', '#e4f3ff'],
  palette: ['#62aee8', '#f28a4f', '#45c497', '#e08ac8', '#d9b53a', '#8fd6f0', '#b39cf0', '#e88a70', '#a9b3c2', '#f0709f', '#9ccf62', '#90a4f4'],
};

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
const theme = () => (isDark() ? DARK : LIGHT);

/** The colour of a cluster: by its number, so that it is the same wherever the number is. */
function colour(cluster, of) {
  const number = cluster === null || cluster === undefined ? null : data.clusters[cluster]?.colour;
  if (number === null || number === undefined || number === 4294967295) return of.dark ? '#6b7585' : '#9aa3b0';
  if (number < of.palette.length) return of.palette[number];
  // Golden-angle hues beyond the palette.
  const hue = (number * 137.508) % 360;
  return `hsl(${hue.toFixed(0)} 55% ${of.dark ? 68 : 40}%)`;
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
/** The colour of a share in [0, 1]. */
function shade(share, of) {
  const at = Math.min(Math.max(share, 0), 1) * (of.ramp.length - 1);
  const low = Math.min(Math.floor(at), of.ramp.length - 2);
  const [a, b] = [channels(of.ramp[low]), channels(of.ramp[low + 1])];
  return a.map((x, i) => Math.round(x + (b[i] - x) * (at - low)));
}

const thousands = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const count = (n) => thousands.format(n);
const percent = (share) => {
  const whole = 100 * share;
  if (whole > 0 && whole < 0.1) return 'under 0.1 %';
  return `${whole >= 10 || whole === 0 ? Math.round(whole) : Math.round(whole * 10) / 10} %`;
};
const fixed = (x, digits = 3) => (x === null || x === undefined || Number.isNaN(x) ? '' : x.toFixed(digits));
const clusterName = (c) => (c === null || c === undefined ? 'no cluster' : data.clusters[c].name);
const sum = (list) => list.reduce((a, b) => a + b, 0);
/** A name that fits: the middle is left out. */
const fit = (name, letters) => {
  const all = [...name];
  if (all.length <= letters) return name;
  const head = Math.ceil((letters - 1) / 2);
  return all.slice(0, head).join('') + '…' + all.slice(all.length - (letters - 1 - head)).join('');
};

/** A sentence that fits: the end is left out. */
const clipped = (sentence, letters) => {
  const all = [...sentence];
  return all.length <= letters ? sentence : `${all.slice(0, Math.max(1, letters - 1)).join('')}…`;
};

/** Numbers for an axis, with as many digits as it takes to tell them apart. */
function ticks(values) {
  const most = Math.max(...values.map(Math.abs));
  const small = most < 1e-3 || most >= 1e5;
  for (let digits = small ? 1 : most < 10 ? 2 : 1; digits < 12; digits += 1) {
    const words = values.map((v) => (v === 0 ? '0' : small ? v.toExponential(digits) : v.toFixed(digits)));
    if (new Set(words).size === new Set(values).size) return words;
  }
  return values.map(String);
}

/** Text in a figure. */
function text(x, y, content, of, more = {}) {
  return svg('text', {
    x, y, fill: of.soft, 'font-size': 12, 'font-family': 'system-ui, sans-serif', 'unicode-bidi': 'plaintext', ...more,
  }, content);
}

/** CSV; a text that a spreadsheet would take for a formula is quoted by an apostrophe. */
function csv(rows) {
  const cell = (value) => {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

function save(name, blob) {
  const link = html('a', { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
