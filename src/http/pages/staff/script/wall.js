(() => {
  'use strict';
  // The wall: equal tiles fill the screen. Of more printers than there is room for, pages follow each other, and those
  // that need a person are on each of them. Without this script, the page scrolls.
  const main = document.querySelector('main.wall'), cards = document.getElementById('cards');
  const turns = document.getElementById('turns');
  if (!main || !cards || !turns) return;
  // Smallest tile that can be read from three metres on a screen 1920 pixels wide. Smaller screens are nearer.
  const WIDTH = 260, HEIGHT = 150, SCREEN = 1920, LEAST_SCALE = 0.7;
  // Part of the room that is kept for printers that need a person, so that the tiles keep their size when one more does.
  const KEPT = 8;
  const [back, hold, next] = turns.querySelectorAll('button'), at = turns.querySelector('[data-words]');
  const roomy = matchMedia('(min-width:900px) and (min-height:480px)');
  // Whoever wants less motion turns the pages by hand.
  let held = matchMedia('(prefers-reduced-motion:reduce)').matches;
  let page = 0, pages = 1, room = 1, timer = 0, placed = new Map(), known = new Set();

  const present = () => [...cards.querySelectorAll('li[data-name]:not([hidden])')];
  // Printers that are on each page, if there are several: at most half of it.
  const urgent = all => all.length > room ? all.filter(card => card.dataset.group === 'need-you').slice(0, Math.floor(room / 2)) : [];
  // Columns and rows of the largest tiles with which all printers fit; or as many as on one of several equal pages.
  const fit = (count, needy) => {
    const gap = parseFloat(getComputedStyle(cards).columnGap) || 0, scale = Math.max(LEAST_SCALE, innerWidth / SCREEN);
    const { clientWidth: width, clientHeight: height } = cards;
    const most = (space, least) => Math.max(1, Math.floor((space + gap) / (least * scale + gap)));
    const columns = most(width, WIDTH), rows = most(height, HEIGHT), all = columns * rows;
    let each = count;
    if (count > all) {
      const kept = Math.min(Math.floor(all / 2), Math.max(needy, Math.ceil(all / KEPT)));
      each = kept + Math.ceil((count - kept) / Math.ceil((count - kept) / (all - kept)));
    }
    let best = { columns, rows, size: 0 };
    for (let across = 1; across <= columns; across++) {
      const down = Math.ceil(each / across);
      const size = Math.min(((width + gap) / across - gap) / WIDTH, ((height + gap) / down - gap) / HEIGHT);
      if (down <= rows && size > best.size) best = { columns: across, rows: down, size };
    }
    return best;
  };
  // Each tile keeps its place until the page is turned, whatever changes on it.
  const draw = () => {
    cards.querySelectorAll('li[data-name]').forEach(card => {
      const place = placed.get(card.id);
      card.toggleAttribute('data-off', place === undefined);
      if (place !== undefined) card.style.setProperty('--place', place);
    });
    turns.hidden = pages < 2;
    const words = at.dataset.words.replace('%1', page + 1).replace('%2', pages);
    if (at.textContent !== words) at.textContent = words;
  };
  const compose = () => {
    const all = present();
    known = new Set(all.map(card => card.id));
    const isPaged = roomy.matches && all.length > 0;
    main.classList.toggle('paged', isPaged);
    let shown = all;
    pages = 1;
    if (isPaged) {
      const { columns, rows } = fit(all.length, all.filter(card => card.dataset.group === 'need-you').length);
      cards.style.setProperty('--columns', columns);
      cards.style.setProperty('--rows', rows);
      room = columns * rows;
      const first = urgent(all), rest = all.filter(card => !first.includes(card)), each = room - first.length;
      pages = Math.max(1, Math.ceil(rest.length / each));
      page = Math.min(page, pages - 1);
      shown = [...first, ...rest.slice(page * each, (page + 1) * each)];
    }
    placed = new Map(shown.map((card, n) => [card.id, n]));
    draw();
  };
  // A printer that comes or goes, or that needs a person and is on another page, is shown at once.
  const follow = () => {
    const all = present();
    const isSame = all.length === known.size && all.every(card => known.has(card.id)) && urgent(all).every(card => placed.has(card.id));
    if (isSame) draw(); else compose();
  };

  const turn = step => {
    const active = document.activeElement;
    page = (page + step + pages) % pages;
    compose();
    const own = cards.contains(active) && active.closest('[data-off]');
    const first = own && document.querySelector('#' + CSS.escape([...placed.keys()][0]) + ' a');
    if (first) first.focus({ preventScroll: true });
    wait();
  };
  // A tile that has the focus stays where it is, as long as somebody is there. A single page only takes the order of the
  // floor again.
  const FOCUS_MS = 60000;
  let touched = Date.now();
  const touch = () => { touched = Date.now(); };
  const isFocused = () => cards.contains(document.activeElement) && Date.now() - touched < FOCUS_MS;
  const tick = () => {
    if ((held && pages > 1) || isFocused()) wait(); else turn(pages > 1 ? 1 : 0);
  };
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(tick, 1000 * (Number(cards.dataset.turnSeconds) || 10));
  };
  const stop = isHeld => {
    held = isHeld;
    [...hold.children].forEach(words => { words.hidden = (words.dataset.held === '') !== held; });
    wait();
  };
  back.addEventListener('click', () => turn(-1));
  next.addEventListener('click', () => turn(1));
  hold.addEventListener('click', () => stop(!held));
  ['pointerdown', 'keydown'].forEach(name => document.addEventListener(name, touch, true));
  // Whoever goes back from the page of a printer finds its tile focused, and has left it.
  window.addEventListener('pageshow', event => {
    const active = document.activeElement;
    if (event.persisted && cards.contains(active)) active.blur();
  });
  document.addEventListener('keydown', event => {
    const { key, target } = event, on = query => target instanceof Element && target.closest(query);
    if (pages < 2 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step && !on('.summary')) turn(step);
    else if (key === ' ' && !on('a,button')) stop(!held);
    else return;
    event.preventDefault();
  });

  compose();
  stop(held);
  new MutationObserver(follow).observe(cards, { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden'] });
  new ResizeObserver(() => requestAnimationFrame(compose)).observe(cards);
  roomy.addEventListener('change', compose);
})();
