// ---- frame: what every figure has: drawing, hover, keys, zoom, table, saving ----
const figures = [];
/** Whether the page is being printed. */
let printing = false;

/**
 * A figure in the element with this id. `spec` has
 *   draw(of, width, view) -> { svg, probe(x, y), marks }   a picture, and what is at a place of it
 *   rows() -> [header, ...rows]                            its data
 *   zoom: whether it can be zoomed (view = {x, y, size} in units of the whole)
 */
function figure(id, spec) {
  const root = document.getElementById(id);
  if (!root) return;
  const title = root.querySelector('h3').textContent;
  const plot = root.querySelector('.plot');
  const tip = html('div', { class: 'tip', hidden: '' });
  const spoken = html('div', { class: 'quiet', 'aria-live': 'polite' });
  const self = { id, title, spec, view: { x: 0, y: 0, size: 1 }, drawn: null, at: -1 };
  plot.setAttribute('tabindex', '0');
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-roledescription', 'figure');
  plot.setAttribute('aria-label', `${title}. Arrow keys read the values${spec.zoom ? ', plus and minus zoom' : ''}; the table below has all of them.`);

  self.redraw = () => {
    // Paper has two columns, whatever the window is.
    const paper = root.classList.contains('wide') ? 1010 : 440;
    const width = printing ? paper : Math.max(plot.clientWidth, 240);
    self.drawn = spec.draw(theme(), width, self.view);
    self.drawn.svg.setAttribute('aria-hidden', 'true');
    plot.replaceChildren(self.drawn.svg, tip, spoken);
    tip.hidden = true;
    plot.classList.toggle('zoomed', self.view.size < 1);
  };

  function show(mark, aloud) {
    if (!mark) {
      tip.hidden = true;
      return;
    }
    const scale = plot.clientWidth / self.drawn.svg.viewBox.baseVal.width;
    tip.replaceChildren(...mark.lines.map((line) => html('div', { dir: 'auto' }, line)));
    tip.hidden = false;
    const [x, y] = [mark.x * scale, mark.y * scale];
    tip.style.left = `${Math.max(0, Math.min(x + 12, plot.clientWidth - tip.offsetWidth - 4))}px`;
    const below = y + 16 + tip.offsetHeight < plot.clientHeight;
    tip.style.top = `${below ? y + 14 : Math.max(0, y - tip.offsetHeight - 10)}px`;
    if (aloud) spoken.textContent = mark.lines.join(', ');
  }

  const place = (event) => {
    const box = self.drawn.svg.getBoundingClientRect();
    const scale = self.drawn.svg.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  let dragged = null;
  plot.addEventListener('pointermove', (event) => {
    if (dragged) {
      const [x, y] = place(event);
      const area = self.drawn.area;
      pan((dragged[0] - x) / area.width, (dragged[1] - y) / area.height);
      dragged = [x, y];
      return;
    }
    show(self.drawn.probe(...place(event)), false);
  });
  plot.addEventListener('pointerleave', () => show(null));
  plot.addEventListener('blur', () => show(null));

  function zoom(factor, x = 0.5, y = 0.5) {
    const { view } = self;
    const size = Math.min(1, Math.max(1 / 64, view.size * factor));
    view.x += x * (view.size - size);
    view.y += y * (view.size - size);
    view.size = size;
    clamp();
    self.redraw();
  }
  function pan(x, y) {
    self.view.x += x * self.view.size;
    self.view.y += y * self.view.size;
    clamp();
    self.redraw();
  }
  function clamp() {
    const { view } = self;
    view.x = Math.min(Math.max(view.x, 0), 1 - view.size);
    view.y = Math.min(Math.max(view.y, 0), 1 - view.size);
  }
  if (spec.zoom) {
    const towards = (event) => {
      const [x, y] = place(event);
      const { area } = self.drawn;
      return [(x - area.x) / area.width, (y - area.y) / area.height].map((t) => Math.min(Math.max(t, 0), 1));
    };
    plot.addEventListener('wheel', (event) => {
      // The page scrolls as usual unless the figure is focused or a key is held.
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== plot) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, ...towards(event));
    }, { passive: false });
    plot.addEventListener('dblclick', (event) => zoom(0.5, ...towards(event)));
    plot.addEventListener('pointerdown', (event) => {
      if (self.view.size < 1) {
        dragged = place(event);
        plot.setPointerCapture(event.pointerId);
        show(null);
      }
    });
    plot.addEventListener('pointerup', () => { dragged = null; });
  }
  plot.addEventListener('keydown', (event) => {
    const { key } = event;
    if (spec.zoom && (key === '+' || key === '=')) zoom(0.5);
    else if (spec.zoom && key === '-') zoom(2);
    else if (spec.zoom && (key === '0' || key === 'Escape')) { self.view = { x: 0, y: 0, size: 1 }; self.redraw(); }
    else if (key.startsWith('Arrow') || key === 'Home' || key === 'End') {
      const [mark, at] = self.drawn.step(self.at, key);
      self.at = at;
      show(mark, true);
    } else return;
    event.preventDefault();
  });

  const tools = root.querySelector('.tools');
  const button = (label, what, action) => {
    const made = html('button', { type: 'button', 'aria-label': what }, label);
    made.addEventListener('click', action);
    tools.append(made);
    return made;
  };
  if (spec.zoom) {
    button('+', `Zoom into ${title}`, () => zoom(0.5));
    button('−', `Zoom out of ${title}`, () => zoom(2));
    button('Whole', `Whole ${title}`, () => { self.view = { x: 0, y: 0, size: 1 }; self.redraw(); });
  }
  button('SVG', `Save ${title} as SVG`, () => save(`${id}.svg`, new Blob([asSvg()], { type: 'image/svg+xml' })));
  button('PNG', `Save ${title} as PNG`, asPng);
  button('CSV', `Save the data of ${title} as CSV`, () => save(`${id}.csv`, new Blob([csv(spec.rows())], { type: 'text/csv' })));

  /** For papers: on white, at a fixed width, with the title, the legend and the caption inside. */
  function asSvg() {
    const picture = spec.draw(LIGHT, SAVED, self.view).svg;
    const { height } = picture.viewBox.baseVal;
    const margin = 16;
    const head = [text(0, 0, clipped(title, 90), LIGHT, { 'font-size': 17, 'font-weight': 600, fill: LIGHT.ink })];
    let y = margin + 16;
    head[0].setAttribute('transform', `translate(${margin} ${y})`);
    y += 12;
    const list = root.querySelector('.legend');
    if (list) {
      const [drawn, tall] = drawnLegend(LIGHT, SAVED, Boolean(list.dataset.shapes));
      head.push(svg('g', { transform: `translate(${margin} ${y})` }, ...drawn));
      y += tall;
    }
    y += 8;
    picture.setAttribute('x', margin);
    picture.setAttribute('y', y);
    picture.setAttribute('width', SAVED);
    picture.setAttribute('height', height);
    y += height + 20;
    const caption = wrapped(captionOf(root), 132).map((line, i) => text(margin, y + 17 * i, line, LIGHT));
    y += 17 * caption.length;
    const [width, tall] = [SAVED + 2 * margin, Math.round(y)];
    const whole = svg('svg', { viewBox: `0 0 ${width} ${tall}`, width, height: tall },
      svg('title', {}, `${data.title}: ${title}`), svg('rect', { width: '100%', height: '100%', fill: '#ffffff' }),
      ...head, picture, ...caption);
    return new XMLSerializer().serializeToString(whole);
  }
  function asPng() {
    const image = new Image();
    image.onload = () => {
      const canvas = html('canvas', { width: image.width * 2, height: image.height * 2 });
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(`${id}.png`, blob));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asSvg())}`;
  }

  const details = html('details', {}, html('summary', {}, `Table: ${title}`));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(table(spec.rows(), title));
  });
  root.append(details);
  self.asSvg = asSvg;
  figures.push(self);
}

/** The width of a saved figure. */
const SAVED = 900;

/** The caption of a figure, in the words for a white page. */
function captionOf(root) {
  const words = root.querySelector('figcaption p').cloneNode(true);
  words.querySelectorAll('.on-dark').forEach((word) => word.remove());
  return words.textContent.trim().replace(/\s+/g, ' ');
}

/** A text in lines of at most so many letters. */
function wrapped(sentence, letters) {
  const lines = [''];
  for (const word of sentence.split(' ')) {
    const last = lines[lines.length - 1];
    if (last && last.length + word.length >= letters) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

/** At most this many rows are shown; the CSV has all. */
const ROWS = 500;
function table(rows, title) {
  const [header, ...body] = rows;
  const kind = header.map((_, j) => (body.some((row) => typeof row[j] === 'number') ? 'number' : null));
  const scroll = html('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Table of ${title}` });
  const cells = (row, name) => row.map((value, j) => html(name, { class: kind[j], dir: kind[j] ? null : 'auto', scope: name === 'th' ? 'col' : null }, value === null || value === undefined ? '' : String(value)));
  scroll.append(html('table', {},
    html('thead', {}, html('tr', {}, ...cells(header, 'th'))),
    html('tbody', {}, ...body.slice(0, ROWS).map((row) => html('tr', {}, ...cells(row, 'td'))))));
  const parts = [scroll];
  if (body.length > ROWS) parts.push(html('p', {}, `${count(ROWS)} of ${count(body.length)} rows; the CSV has all.`));
  const box = html('div', {}, ...parts);
  hinted(scroll);
  return box;
}

/** A table that is wider than the window says so. */
const wideTables = new ResizeObserver((entries) => entries.forEach(({ target }) => {
  const scroll = target.closest('.scroll');
  scroll.classList.toggle('cut', scroll.scrollWidth > scroll.clientWidth + 1);
}));
function hinted(scroll) {
  scroll.after(html('p', { class: 'hint no-print' }, 'There is more: scroll the table sideways →'));
  wideTables.observe(scroll);
  wideTables.observe(scroll.firstElementChild);
}

/** What is at a place among marks with boxes, and how keys go through them. */
function fromMarks(marks) {
  return {
    probe: (x, y) => {
      const hit = marks.findLast((m) => x >= m.box[0] && x <= m.box[0] + m.box[2] && y >= m.box[1] && y <= m.box[1] + m.box[3]);
      return hit && { x, y, lines: hit.lines };
    },
    step: (at, key) => {
      if (!marks.length) return [null, -1];
      const last = marks.length - 1;
      const next = key === 'Home' ? 0 : key === 'End' ? last
        : Math.min(Math.max(at + (key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1), 0), last);
      const m = marks[next];
      return [{ x: m.box[0] + m.box[2] / 2, y: m.box[1] + m.box[3] / 2, lines: m.lines }, next];
    },
  };
}
