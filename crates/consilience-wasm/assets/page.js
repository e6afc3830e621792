(() => {
'use strict';
const $ = (id) => document.getElementById(id);
const form = $('form');
const decoder = new TextDecoder();
const MIME = { csv: 'text/csv', json: 'application/json', html: 'text/html' };
/** What a result consists of, in the order of the buttons. */
const FILES = [
  ['labels.csv', 'Labels (CSV)'],
  ['report.html', 'Report (HTML)'],
  ['clusterings.csv', 'All clusterings (CSV)'],
  ['result.json', 'Details (JSON)'],
];

// ---- the module: unpacked and compiled once, handed to a worker for every job ----
const module = (async () => {
  const packed = Uint8Array.from(atob($('module').textContent), (c) => c.charCodeAt(0));
  $('module').remove();
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
})();
const workerSource = URL.createObjectURL(new Blob([$('worker').textContent], { type: 'text/javascript' }));

/** Starts a worker on `job`; `hear` gets what it says. Gives what ends it. */
function start(job, hear) {
  const worker = new Worker(workerSource);
  const end = () => worker.terminate();
  worker.onmessage = ({ data }) => {
    if (data.finished || data.broken) end();
    hear(data);
  };
  worker.onerror = (event) => {
    end();
    hear({ broken: event.message || 'the worker could not be started' });
  };
  module.then(
    (compiled) => worker.postMessage({ ...job, module: compiled }),
    (error) => { end(); hear({ broken: String(error) }); },
  );
  return end;
}

// ---- what the page offers ----
const examples = new Map();
const offered = new Promise((ready) => {
  start({}, (data) => {
    if (data.name === 'offer') {
      const offer = JSON.parse(decoder.decode(data.bytes));
      for (const { name, title } of offer.methods) form.method.append(new Option(`${name}: ${title}`, name));
      for (const { file, title, truth } of offer.examples) {
        const button = Object.assign(document.createElement('button'), { type: 'button', textContent: title });
        button.dataset.example = file;
        button.addEventListener('click', () => bring(file, () => offered.then(() => examples.get(file)), truth));
        $('try').append(' ', button);
      }
    } else if (data.name) {
      examples.set(data.name, data.bytes);
    } else {
      if (data.broken) fail(`This browser cannot run the page: ${data.broken}. A current Firefox, Chrome, Edge or Safari can.`);
      document.documentElement.dataset.ready = 'yes';
      ready();
    }
  });
});

// ---- one job at a time ----
let current = null; // { name, bytes } of the last file
let stop = null; // ends what is being computed
let links = [];

const show = (id, shown) => { $(id).hidden = !shown; };
function say(words) { $('said').textContent = words; }

function fail(reason) {
  show('work', false);
  $('reason').textContent = reason;
  show('failure', true);
}

function clear() {
  links.forEach((link) => URL.revokeObjectURL(link));
  links = [];
  ['failure', 'result', 'report', 'warnings'].forEach((id) => show(id, false));
  $('report').srcdoc = '';
  $('warnings').replaceChildren();
  $('downloads').replaceChildren();
}

const seconds = (from) => ((performance.now() - from) / 1000);

function compute() {
  stop?.();
  clear();
  const settings = { name: current.name };
  for (const name of ['kind', 'k', 'method', 'id', 'truth', 'drop', 'missing', 'decimal']) settings[name] = form[name].value.trim();
  settings.seed = Number(form.seed.value || 0);
  if (!Number.isSafeInteger(settings.seed) || settings.seed < 0) {
    fail('The seed must be a whole number from 0 on.');
    return;
  }
  const begun = performance.now();
  const files = new Map();
  let failure = null;
  $('work-title').textContent = `Computing: ${current.name}`;
  $('stage').textContent = 'Starting';
  $('bar').removeAttribute('value');
  const tick = () => { $('clock').textContent = `${Math.floor(seconds(begun))} s`; };
  tick();
  const ticking = setInterval(tick, 500);
  show('work', true);
  $('again').disabled = true;
  say('Computing.');
  const finished = () => {
    clearInterval(ticking);
    stop = null;
    show('work', false);
    $('again').disabled = false;
  };
  // The worker gets a copy: the file can be run again.
  const end = start({ settings, file: current.bytes }, (data) => {
    if (data.stage) {
      $('stage').textContent = `${data.stage[0].toUpperCase()}${data.stage.slice(1)}`;
      if (data.total > 0) $('bar').value = Math.min(1, data.done / data.total);
      else $('bar').removeAttribute('value');
    } else if (data.name === 'warning') {
      const item = document.createElement('li');
      item.textContent = decoder.decode(data.bytes);
      $('warnings').append(item);
    } else if (data.name === 'failure') {
      failure = decoder.decode(data.bytes);
    } else if (data.name) {
      files.set(data.name, data.bytes);
    } else {
      finished();
      if (failure || data.broken) fail(failure ?? broken(data.broken));
      else present(files, seconds(begun));
    }
  });
  stop = () => { end(); finished(); };
}

function broken(error) {
  const memory = /memory|alloc|unreachable/i.test(error);
  return memory ? `The table is too large for this page (${error}): use the command line, which has all of the machine's memory.` : error;
}

function present(files, took) {
  const answer = JSON.parse(decoder.decode(files.get('answer')));
  const [headline] = answer.verdict;
  $('headline').textContent = headline.text;
  $('summary').textContent = `${answer.file}, read as ${answer.kind}: ${answer.objects.toLocaleString('en')} objects, ${answer.clusterings.toLocaleString('en')} clusterings, ${answer.k} ${answer.k === 1 ? 'cluster' : 'clusters'} by ${answer.method}${answer.id ? `; objects are named by ${answer.id}` : ''}; ${took.toFixed(1)} s.`;
  $('command').textContent = answer.command;
  $('columns').replaceChildren(...answer.columns.map((name) => new Option(name)));
  show('warnings', $('warnings').childElementCount > 0);
  for (const [name, words] of FILES) {
    if (!files.has(name)) continue;
    const link = URL.createObjectURL(new Blob([files.get(name)], { type: `${MIME[name.split('.').pop()]};charset=utf-8` }));
    links.push(link);
    const button = Object.assign(document.createElement('a'), { href: link, download: name, className: 'button', textContent: words });
    $('downloads').append(button);
  }
  const note = document.createElement('span');
  note.textContent = 'Every figure below has buttons that save it as SVG, PNG or CSV.';
  $('downloads').append(note);
  show('result', true);
  const report = $('report');
  report.onload = () => {
    const inner = report.contentDocument;
    if (!inner?.body?.childElementCount) return;
    // As tall as what is in it: one bar to scroll by, not two.
    const fit = () => {
      const height = `${Math.ceil(inner.body.getBoundingClientRect().height)}px`;
      if (report.style.height !== height) report.style.height = height;
    };
    new ResizeObserver(fit).observe(inner.body);
    fit();
  };
  const chosen = document.documentElement.dataset.theme;
  const page = decoder.decode(files.get('report.html'));
  report.srcdoc = chosen ? page.replace('<html lang="en">', `<html lang="en" data-theme="${chosen}">`) : page;
  show('report', true);
  say(`Done: ${headline.text}`);
  document.documentElement.dataset.result = answer.file;
  $('headline').focus({ preventScroll: false });
}

function take(name, bytes, truth = '') {
  // What was said of another file does not hold for this one; what is asked stays, and both are shown. Before the
  // first file it was said of this one.
  const another = current !== null;
  current = { name, bytes };
  const told = (fields) => [...$(fields).elements].filter((field) => 'value' in field && field.value.trim() !== (field.defaultValue ?? ''));
  const called = (field) => field.labels[0].firstChild.textContent.trim();
  const cleared = (another ? told('of-file') : []).map((field) => { field.value = ''; return called(field); });
  const kept = told('of-question').map((field) => `${called(field)} ${field.value.trim()}`);
  if (truth) form.truth.value = truth;
  const parts = [cleared.length && `Cleared for ${name}: ${cleared.join(', ')}.`, kept.length && `Kept: ${kept.join(', ')}.`];
  $('settled').textContent = parts.filter(Boolean).join(' ');
  compute();
}

let brought = 0; // how many files so far: one that is read slowly does not replace a later one

async function bring(name, read, truth) {
  stop?.();
  brought += 1;
  const turn = brought;
  try {
    const bytes = await read();
    if (turn === brought) take(name, bytes, truth);
  } catch (error) {
    if (turn !== brought) return;
    clear();
    fail(`${name} cannot be read: ${error.message}`);
  }
}

function takeFile(file) {
  if (file) bring(file.name, async () => new Uint8Array(await file.arrayBuffer()));
}

// ---- what the user does ----
$('file').addEventListener('change', () => { takeFile($('file').files[0]); $('file').value = ''; });
for (const kind of ['dragenter', 'dragover']) {
  document.addEventListener(kind, (event) => { event.preventDefault(); $('drop').classList.add('over'); });
}
document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) $('drop').classList.remove('over'); });
document.addEventListener('drop', (event) => {
  event.preventDefault();
  $('drop').classList.remove('over');
  takeFile(event.dataTransfer.files[0]);
});
form.addEventListener('submit', (event) => { event.preventDefault(); $('settled').textContent = ''; if (current) compute(); });
$('cancel').addEventListener('click', () => { stop?.(); say('Cancelled.'); $('file').focus(); });
$('theme').addEventListener('click', () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  // The report below goes along.
  const inner = $('report').contentDocument;
  if (inner?.documentElement.dataset.theme !== root.dataset.theme) inner?.getElementById('theme')?.click();
});
})();
