// Finds what is on a page as a person does: by what can be seen, and by the names that those who hear a page are told.
// It stands in every page that a test opens, and says nothing of how a page is made.
window.seen = window.seen || (() => {
  'use strict';
  const flat = text => (text || '').replace(/\s+/g, ' ').trim();
  const shows = at => at.getClientRects().length > 0 && at.checkVisibility({ visibilityProperty: true });
  // The browser's own opinion of the name. It has none of what is folded away: then what a label or the text says.
  const named = at => {
    if (at.computedName) return flat(at.computedName);
    const by = at.getAttribute('aria-labelledby');
    const labels = by ? by.split(/\s+/).map(id => document.getElementById(id)) : [...(at.labels || [])];
    return flat(at.getAttribute('aria-label') || labels.map(label => label && label.textContent).join(' ') || at.textContent);
  };
  const KINDS = {
    press: 'a[href],button,summary,[role=button],[role=tab],[role=menuitem],input[type=submit],input[type=button]',
    fill: 'input:not([type=checkbox],[type=radio],[type=submit],[type=button],[type=hidden],[type=file]),select,textarea',
    tick: 'input[type=checkbox],input[type=radio]',
    attach: 'input[type=file]',
  };
  // The browser makes a tree of the whole page for each name. So a search asks only for those that can be what it looks
  // for, by the texts that names are made of, and for each of them once.
  const TEXTS = ['aria-label', 'alt', 'title', 'placeholder', 'value'];
  const PARTS = TEXTS.map(name => '[' + name + ']').join();
  const canBeNamed = (at, words) => {
    const by = at.getAttribute('aria-labelledby');
    const labels = [...(by ? by.split(/\s+/).map(id => document.getElementById(id)) : []), ...(at.labels || [])];
    const texts = [at, ...labels.filter(Boolean)].flatMap(one => [one.textContent,
      ...[one, ...one.querySelectorAll(PARTS)].flatMap(part => TEXTS.map(name => part.getAttribute(name)))]);
    const all = flat(texts.join(' ')).toLowerCase();
    return words.every(word => all.includes(word));
  };
  const nameReader = () => {
    const names = new Map();
    return at => {
      if (!names.has(at)) names.set(at, named(at).toLowerCase());
      return names.get(at);
    };
  };
  // What fits a label: exactly, else from its beginning on, else anywhere.
  const fitting = (all, label, name) => {
    const wanted = flat(label).toLowerCase();
    const tiers = [name => name === wanted, name => name.startsWith(wanted), name => name.includes(wanted)];
    for (const tier of tiers) {
      const fits = all.filter(at => tier(name(at)));
      if (fits.length) return fits;
    }
    return [];
  };
  // How much is around a control and these words together: the less, the nearer they are.
  const distance = (at, near) => {
    const words = flat(near).toLowerCase();
    for (let around = at; around; around = around.parentElement) {
      const text = flat(around.textContent).toLowerCase();
      if (text.includes(words)) return text.length;
    }
    return Infinity;
  };
  const folded = at => {
    const menu = at.closest('[popover]:not(:popover-open)');
    if (menu) return menu;
    let outer = null;
    for (let around = at.closest('details:not([open])'); around; around = around.parentElement.closest('details:not([open])')) {
      const own = around.querySelector('summary');
      if (!own || !own.contains(at)) outer = around;
    }
    return outer;
  };
  // The control that unfolds a part: the button that opens a menu, or the summary.
  const opener = part => part.hasAttribute('popover')
    ? document.querySelector('[popovertarget="' + CSS.escape(part.id) + '"]') : part.querySelector('summary');
  const find = (kind, label, near) => {
    const words = flat(label).toLowerCase().split(' ');
    const all = [...document.querySelectorAll(KINDS[kind])]
      .filter(at => !at.disabled && at.getAttribute('aria-disabled') !== 'true' && canBeNamed(at, words));
    // A field that takes a file is often hidden behind its label.
    const there = all.filter(at => kind === 'attach' || shows(at) || folded(at));
    // The name of what is folded away is found in another way, so those that show are asked apart.
    const name = nameReader();
    let fits = fitting(there.filter(shows), label, name);
    if (near || !fits.length) fits = [...new Set([...fits, ...fitting(there, label, name)])];
    if (near) {
      const far = new Map(fits.map(at => [at, distance(at, near)]));
      fits = fits.filter(at => far.get(at) < Infinity).sort((a, b) => far.get(a) - far.get(b));
    } else {
      const rank = at => (at.closest('dialog[open]') ? 0 : at.closest('main') ? 1 : 2);
      fits.sort((a, b) => rank(a) - rank(b));
    }
    return fits[0] || null;
  };
  // Where to point at: the middle of what is found, once nothing lies above it. Instead of something folded away its
  // summary is named, which is to be pressed first.
  const point = at => {
    at.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = [...at.getClientRects()].sort((a, b) => b.width * b.height - a.width * a.height)[0];
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const top = document.elementFromPoint(x, y);
    const own = top && (at.contains(top) || top.contains(at) || [...(at.labels || [])].some(label => label.contains(top)));
    return own ? { x, y } : null;
  };
  const place = (kind, at) => {
    const summary = !shows(at) && folded(at) ? opener(folded(at)) : null;
    if (summary) return { ...point(summary), fold: flat(summary.textContent) };
    const where = kind === 'attach' ? { x: 0, y: 0 } : point(at);
    return where && { ...where, tag: at.tagName.toLowerCase(), type: at.type || '' };
  };
  // The same once it stays where it is: scrolling moves a menu, and the next frame may open it to the other side.
  const frame = () => new Promise(done => { requestAnimationFrame(() => done()); setTimeout(done, 100); });
  const restingPlace = async (kind, label, near) => {
    const at = find(kind, label, near);
    if (!at) return null;
    window.seen.at = at;
    const before = place(kind, at);
    await frame();
    await frame();
    // The page may have made it anew.
    const after = at.isConnected ? place(kind, at) : null;
    return before && after && before.x === after.x && before.y === after.y ? after : null;
  };
  const tell = at => ['input', 'change'].forEach(name => at.dispatchEvent(new Event(name, { bubbles: true })));
  // Chooses an option by its words; says what there is where none has them.
  const choose = words => {
    const at = window.seen.at, options = [...at.options];
    const wanted = flat(words).toLowerCase(), of = option => flat(option.label || option.textContent).toLowerCase();
    const fits = options.find(one => of(one) === wanted) || options.find(one => of(one).startsWith(wanted)) ||
      options.find(one => of(one).includes(wanted)) || options.find(one => one.value === words);
    if (!fits) return 'none of: ' + options.map(of).join(', ');
    at.value = fits.value;
    tell(at);
    return '';
  };
  const put = text => { window.seen.at.value = text; tell(window.seen.at); };
  const text = () => flat(document.body && document.body.innerText);
  const says = words => text().toLowerCase().includes(flat(words).toLowerCase());
  const names = () => [...document.querySelectorAll(Object.values(KINDS).join())].filter(shows).map(named);
  const focused = () => (document.activeElement && document.activeElement !== document.body ? named(document.activeElement) : '');
  // Where the tab key has stopped: whether it was there before, and whether nobody sees that it is there now.
  const passed = new WeakSet();
  const stop = () => {
    const at = document.activeElement;
    if (!at || at === document.body || passed.has(at)) return { again: true };
    passed.add(at);
    const style = getComputedStyle(at), box = at.getBoundingClientRect();
    const ring = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== 'none';
    const middle = [box.x + Math.min(box.width, innerWidth) / 2, box.y + Math.min(box.height, innerHeight) / 2];
    const top = document.elementFromPoint(...middle);
    const covered = !top || !(at.contains(top) || top.contains(at));
    return { again: false, name: named(at) || at.tagName, hidden: !ring || covered };
  };
  // What is wider than the window, outside of parts that scroll by themselves.
  const wide = () => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const scrolls = at => at && at !== document.documentElement && (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX) || scrolls(at.parentElement));
    const over = [...document.body.querySelectorAll('*')].filter(at => at.getBoundingClientRect().right > width + 1 && !scrolls(at.parentElement));
    const told = over.slice(0, 8).map(at => at.tagName.toLowerCase() + (at.id ? '#' + at.id : '') + (at.className && at.className.baseVal === undefined ? '.' + String(at.className).replace(/ /g, '.') : ''));
    return told.length ? told : ['the page'];
  };
  const clips = (at, cell) => getComputedStyle(at).overflowX !== 'visible' || (at !== cell && clips(at.parentElement, cell));
  // Words in the cells of tables: those that stand on two lines though nothing in them allows a break, and those that
  // stand out of their cells, which are narrower. Text that is cut off or scrolls in its cell does not stand out.
  const words = () => {
    const broken = [], narrow = [];
    document.querySelectorAll('th,td').forEach(cell => {
      const box = cell.getBoundingClientRect(), style = getComputedStyle(cell);
      const left = box.left + parseFloat(style.paddingLeft) - 1, right = box.right - parseFloat(style.paddingRight) + 1;
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        // What is folded away has no place of its own.
        if (!text.parentElement.checkVisibility()) continue;
        for (const word of text.data.matchAll(/[\p{Script=Latin}\p{N}]{2,}/gu)) {
          const range = document.createRange();
          range.setStart(text, word.index);
          range.setEnd(text, word.index + word[0].length);
          const boxes = [...range.getClientRects()];
          const lines = new Set(boxes.map(one => Math.round(one.top)));
          if (lines.size > 1) broken.push(word[0] + ' on ' + lines.size + ' lines');
          const stands = boxes.some(one => one.left < left || one.right > right);
          if (stands && !clips(text.parentElement, cell)) narrow.push(word[0] + ' in a cell of ' + Math.round(box.width) + ' px');
        }
      }
    });
    return { broken: broken.slice(0, 8), narrow: narrow.slice(0, 8) };
  };
  // What scrolls sideways, and text that is cut off without an ellipsis. Fields show what is typed in them as they like,
  // and a state that is as narrow as its mark is one without its word.
  const cutOff = () => [...document.querySelectorAll('#content, #content *')].map(at => {
    const style = getComputedStyle(at), text = flat(at.innerText);
    if (at.clientWidth < 12 || !text || !at.checkVisibility({ visibilityProperty: true }) || at.matches('input,select,textarea')) return '';
    const isWide = at.scrollWidth > at.clientWidth + 1, isHigh = at.scrollHeight > at.clientHeight + 1;
    if (isWide && /auto|scroll/.test(style.overflowX)) return 'scrolls sideways: ' + text.slice(0, 80);
    const hasEllipsis = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
    const isCut = (isWide && /hidden|clip/.test(style.overflowX)) || (isHigh && /hidden|clip/.test(style.overflowY));
    return isCut && !hasEllipsis ? 'cut off: ' + text.slice(0, 80) : '';
  }).filter(Boolean).slice(0, 8);
  const layout = () => ({ ...words(), wide: wide() });
  const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  // These are off unless they are asked for by name.
  const MORE = ['target-size', 'label-content-name-mismatch', 'css-orientation-lock'];
  // Holds the rules of axe against the page: each violation with its rule, the places, and the advice.
  const audit = async () => {
    const asked = { runOnly: { type: 'tag', values: TAGS }, rules: {}, resultTypes: ['violations'] };
    MORE.forEach(name => { asked.rules[name] = { enabled: true }; });
    // A bar over the content covers part of some target wherever the page is scrolled to; a person scrolls on.
    const bars = [...document.querySelectorAll('nav')].filter(at => getComputedStyle(at).position === 'fixed');
    bars.forEach(at => { at.style.position = 'static'; });
    const result = await window.axe.run(document, asked).catch(error => ({ failure: 'axe: ' + error }))
      .finally(() => bars.forEach(at => { at.style.position = ''; }));
    const path = location.pathname + location.search;
    if (result.failure) return { path, violations: [result.failure] };
    const place = node => '    ' + node.target.join(' ') + '\n      ' + (node.failureSummary || '').replace(/\n\s*/g, '; ') +
      '\n      ' + node.html.slice(0, 200);
    const told = one => one.id + ': ' + one.help + '\n' + one.nodes.slice(0, 5).map(place).join('\n') + '\n    ' + one.helpUrl;
    return { path, violations: result.violations.map(told) };
  };
  // The rules, each with the criteria that it tests: "wcag143" is criterion 1.4.3.
  const off = ({ ruleId, tags }) => !MORE.includes(ruleId) && (tags.includes('experimental') || tags.includes('deprecated'));
  const rules = () => window.axe.getRules(TAGS).filter(rule => !off(rule)).map(({ ruleId, tags }) => ({
    name: ruleId,
    criteria: tags.filter(tag => /^wcag\d{3,4}$/.test(tag)).map(tag => tag[4] + '.' + tag[5] + '.' + tag.slice(6)),
  }));
  // Where the links of the page lead, and the forms that only ask for something: paths of this server.
  const links = () => [...new Set([...document.querySelectorAll('a[href]')].filter(at => !at.hasAttribute('download'))
    .map(at => new URL(at.href, location.href)).filter(url => url.origin === location.origin)
    .map(url => url.pathname + url.search))];
  return { find, restingPlace, choose, put, text, says, names, focused, stop, wide, cutOff, layout, audit, rules, links };
})();
