(() => {
  'use strict';
  const main = document.getElementById('content');
  if (!main || !main.dataset.stream || !window.EventSource) return;
  const said = document.getElementById('said'), lost = document.getElementById('lost');
  const HOLD_MS = 1000, FRESH_MS = 3000, TICK_MS = 15000, SAID_MS = 8000, AGAIN_MS = 5000, LOST_MS = 5000;
  // Texts in the language of the page, with places for what is inserted.
  const phrases = JSON.parse(main.dataset.phrases);
  const language = document.documentElement.lang;
  const phrase = (name, first, second) => phrases[name].replace('%1', () => first).replace('%2', () => second);
  let quiet = 0;
  const say = words => {
    said.textContent = words;
    clearTimeout(quiet);
    quiet = setTimeout(() => { said.textContent = ''; }, SAID_MS);
  };

  // Elapsed times go on; all others are by the shop's clock, as the server wrote them.
  const span = minutes => minutes < 60 ? phrase('minutes', minutes) : phrase('hours', Math.floor(minutes / 60), minutes % 60);
  const duration = (name, ms) => {
    const minutes = Math.round(ms / 60000);
    return minutes < 1 ? phrases[name + 'UnderMinute'] : phrase(name, span(minutes));
  };
  const compact = ms => {
    const minutes = Math.round(ms / 60000);
    if (minutes < 1) return phrases.compactUnderMinute;
    if (minutes < 60) return phrase('minutes', minutes);
    if (minutes >= 600) return phrase('compactWholeHours', Math.round(minutes / 60));
    return phrase('compactHours', Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0'));
  };
  const tell = (root, query, words) => root.querySelectorAll(query).forEach(at => {
    const text = words(new Date(at.dateTime));
    if (at.textContent !== text) at.textContent = text;
  });
  const times = root => {
    const now = Date.now();
    tell(root, 'time[data-left=""]', date => duration('left', date - now));
    tell(root, 'time[data-left=compact]', date => compact(date - now));
    tell(root, 'time[data-since=""]', date => duration('since', now - date));
    tell(root, 'time[data-since=compact]', date => compact(now - date));
  };

  // Days are named from the current day of the shop ("today", "tomorrow"): when it ends, they are named anew as the page
  // has them now. Times are the same if they have the same attributes.
  const nextDay = at => Date.now() + (Number(at && at.dataset.dayLeft) || 86400000);
  let dayEnds = nextDay(main);
  const renameDays = async () => {
    dayEnds = Date.now() + 60000;
    try {
      const answer = await fetch(location.href, { credentials: 'same-origin' });
      if (answer.redirected || !answer.ok) { dayEnds = nextDay(); return; }
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const key = at => at.cloneNode(false).outerHTML;
      const texts = new Map([...page.querySelectorAll('time')].map(at => [key(at), at.textContent]));
      document.querySelectorAll('time').forEach(at => {
        const text = texts.get(key(at));
        if (text && text !== at.textContent) at.textContent = text;
      });
      dayEnds = nextDay(page.getElementById('content'));
    } catch { /* tried again in a minute */ }
  };

  // The search and the filters of the floor, its sections and counts, and the title of the tab.
  const title = document.title, search = document.querySelector('input[data-filter]');
  const filter = () => {
    const floor = document.querySelector('[data-narrow-to]');
    if (!floor) return;
    const wanted = search ? search.value.trim().toLowerCase() : null, state = floor.dataset.narrowTo;
    const cards = [...floor.querySelectorAll('li[data-name]')];
    cards.forEach(card => {
      const { name, group } = card.dataset;
      card.hidden = (wanted !== null && !name.includes(wanted)) || (state !== '' && group !== state && card.dataset.state !== state);
    });
    const show = (at, count) => { if (at && at.textContent !== String(count)) at.textContent = count; };
    document.querySelectorAll('[data-count]').forEach(at => {
      const { count } = at.dataset;
      show(at, cards.filter(card => count === '' || card.dataset.group === count).length);
    });
    if (floor.id === 'cards') [...floor.children].forEach(section => {
      const shown = section.querySelectorAll('li[data-name]:not([hidden])').length;
      show(section.querySelector('[data-count-here]'), shown);
      section.hidden = !shown;
    });
    const none = document.getElementById('none-match');
    if (none) none.hidden = !cards.length || cards.some(card => !card.hidden);
  };
  if (search) search.addEventListener('input', filter);
  document.addEventListener('click', event => {
    const link = event.target instanceof Element && event.target.closest('a[data-narrow]');
    const floor = document.querySelector('[data-narrow-to]');
    if (!link || !floor || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    floor.dataset.narrowTo = link.dataset.narrow;
    document.querySelectorAll('input[data-narrowed]').forEach(field => { field.value = link.dataset.narrow; });
    document.querySelectorAll('a[data-narrow]').forEach(one => {
      if (one === link) one.setAttribute('aria-current', 'true'); else one.removeAttribute('aria-current');
    });
    history.replaceState(null, '', link.href);
    filter();
  });
  // What works with the script only is shown by it.
  document.addEventListener('change', event => {
    const all = event.target instanceof Element && event.target.closest('[data-chooses]');
    if (all) document.querySelectorAll('input[type=checkbox][form="' + CSS.escape(all.dataset.chooses) + '"]').forEach(box => { box.checked = all.checked; });
  });
  const settle = root => {
    root.querySelectorAll('[data-scripted]').forEach(at => { at.hidden = false; });
    times(root);
    filter();
    const summary = document.querySelector('section.summary'), own = document.querySelector('.alone [data-percent]');
    const told = own ? phrase('percent', own.dataset.percent) : summary && summary.dataset.title;
    if (told) document.title = told + ' · ' + title;
    const { troubled, tasks } = summary ? summary.dataset : {};
    [[troubled, '[data-troubled-count]'], [tasks, '[data-task-count]']].forEach(([number, query]) => {
      if (number) document.querySelectorAll(query).forEach(count => {
        count.hidden = number === '0';
        count.firstElementChild.textContent = number;
      });
    });
  };

  // Parts of the page, by their ids and versions. One in which somebody types or holds a button waits until they leave.
  const known = new Map(), waiting = new Map(), loose = new Map();
  const shown = Number(main.dataset.version) || 0;
  let version = shown, order = null, holding = null;
  const element = html => {
    const made = document.createElement('template');
    made.innerHTML = html;
    return made.content.firstElementChild;
  };
  const typed = at => [...at.querySelectorAll('input,textarea')].some(field =>
    !field.matches('[type=hidden],[type=checkbox],[type=radio]') && field.value !== field.defaultValue);
  // A form that the page unfolds by itself holds nothing back until something is chosen in it: the new part has it too.
  const chosen = at => [...at.querySelectorAll('details[data-unfolded] select')].some(field =>
    field.selectedIndex !== Math.max(0, [...field.options].findIndex(option => option.defaultSelected)));
  const busy = at => {
    const active = document.activeElement;
    return (holding && at.contains(holding)) || typed(at) || chosen(at) ||
      at.querySelector('details[open]:not([data-unfolded]),[popover]:popover-open,.ask:target') ||
      (active && at.contains(active) && active.matches('input:not([type=checkbox]),select,textarea'));
  };
  // What stands in a part made anew for what had the focus: by its id, else by where it leads or what it says, and by
  // its place among those that are like it.
  const alike = (at, made, active) => {
    if (active.id) return document.getElementById(active.id);
    const means = node => node.getAttribute('href') || node.getAttribute('aria-label') || node.textContent;
    const like = root => [...root.querySelectorAll(active.localName)].filter(node => means(node) === means(active));
    const found = like(made);
    return found[like(at).indexOf(active)] || found[0];
  };
  // The field to go on with once a form that was sent is made anew, such as for the next parcel. One that is not there by
  // then is forgotten, so that it does not take the focus later.
  let next = '', forget = 0;
  const put = (at, made) => {
    const active = at.contains(document.activeElement) ? document.activeElement : null;
    const goesOn = active && next && made.querySelector('#' + CSS.escape(next));
    if (goesOn) next = '';
    const left = at.matches('.summary') && at.scrollLeft; // The counts stay where they were scrolled to.
    at.querySelectorAll('input[type=checkbox]:checked').forEach(box => {
      const same = box.id && made.querySelector('#' + CSS.escape(box.id));
      if (same && same.value === box.value) same.checked = true;
    });
    at.querySelectorAll('details[data-unfolded]').forEach(details => {
      const same = made.querySelector('#' + CSS.escape(details.id));
      if (same) same.open = details.open;
    });
    at.replaceWith(made);
    if (left) made.scrollLeft = left;
    if (active) {
      const again = goesOn || alike(at, made, active) || made.querySelector('h3 a, h2 a, a, button') || main;
      again.focus({ preventScroll: true });
    }
  };
  const place = part => {
    const at = document.getElementById(part.id);
    if (!at) { loose.set(part.id, part); return; }
    if (busy(at)) { waiting.set(part.id, part); return; }
    waiting.delete(part.id);
    const made = element(part.html);
    if (made) { put(at, made); settle(made); }
  };
  // Printers to choose from say their state behind their name.
  const choices = part => {
    if (!part.id.startsWith('state-')) return;
    const { dataset, textContent } = element(part.html);
    // Nouns have capitals in German.
    const words = language === 'en' ? textContent.toLowerCase() : textContent;
    document.querySelectorAll('option[value="' + CSS.escape(dataset.of) + '"]').forEach(option => {
      option.textContent = option.textContent.replace(/, [^,]*$/, () => ', ' + words);
    });
  };
  // Each card stands in the section that it names, in the order of the floor.
  const arrange = () => {
    const floor = document.getElementById('cards');
    if (!floor || !order) return;
    const wanted = new Set(order);
    floor.querySelectorAll('li[data-name]').forEach(card => { if (!wanted.has(card.id)) card.remove(); });
    // To move what has the focus would take it away.
    if (floor.contains(document.activeElement) || holding || floor.querySelector('[popover]:popover-open')) return;
    const lists = [...floor.querySelectorAll('ul[data-key]')], filled = new Map();
    order.forEach(id => {
      let card = document.getElementById(id);
      if (!card && loose.has(id)) card = element(loose.get(id).html);
      if (!card || !lists.length) return;
      loose.delete(id);
      const key = card.dataset[floor.dataset.by], list = lists.find(one => one.dataset.key === key) || lists[lists.length - 1];
      const n = filled.get(list) || 0;
      if (list.children[n] !== card) list.insertBefore(card, list.children[n] || null);
      filled.set(list, n + 1);
    });
    settle(floor);
  };
  const take = (name, data) => {
    if (name === 'fresh') { fresh(); return; }
    const part = JSON.parse(data);
    if (name === 'order') { order = part.ids; arrange(); return; }
    if (part.v <= (known.get(part.id) || shown)) return;
    known.set(part.id, part.v);
    version = Math.max(version, part.v);
    choices(part);
    place(part);
  };
  const catch_up = () => { [...waiting.values()].forEach(place); arrange(); };
  document.addEventListener('focusout', () => setTimeout(catch_up, 0));
  document.addEventListener('toggle', () => setTimeout(catch_up, 0), true);

  // Parts that are read from the database: fetched again when something happened, not more often than they can be read.
  // They are held against what was fetched last, as it came: what is shown was changed here since.
  const raw = new WeakMap();
  // The token of forms looks different on each page and means the same; elapsed and remaining times go on by themselves.
  const unmasked = html => html.replace(/(form_token" value="|\?token=)[0-9a-f]+/g, '$1')
    .replace(/(data-(?:since|left)="">)[^<]*/g, '$1');
  document.querySelectorAll('[data-fresh]').forEach(at => raw.set(at, unmasked(at.innerHTML)));
  // A question is closed once another print is in the place of the one that it is about.
  const closeQuestion = (at, made) => {
    const [old, now] = [at, made].map(root => root.querySelector('.ask [name=print]'));
    if (at.querySelector('.ask:target') && old && old.value !== (now && now.value)) location.hash = main.id;
  };
  let due = 0, last = 0;
  const fetched = async () => {
    due = 0;
    last = Date.now();
    if (document.hidden) return;
    try {
      const answer = await fetch(location.href, { credentials: 'same-origin' });
      // Whoever's session has ended is led to the sign-in.
      if (answer.redirected) { location.reload(); return; }
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      document.querySelectorAll('[data-fresh]').forEach(at => {
        const made = page.getElementById(at.id), text = made && unmasked(made.innerHTML);
        if (!made || text === raw.get(at)) return;
        closeQuestion(at, made);
        if (busy(at)) return;
        document.adoptNode(made);
        raw.set(made, text);
        put(at, made);
        settle(made);
      });
    } catch { /* the stream tells when the server is back */ }
    goOn();
  };
  const fresh = () => {
    if (due || !document.querySelector('[data-fresh]')) return;
    due = setTimeout(fetched, Math.max(100, last + FRESH_MS - Date.now()));
  };
  // What goes on without an event of the shop, such as a search, is read again until it is over.
  const goOn = () => { if (document.querySelector('[data-goes-on]')) fresh(); };
  goOn();

  // One stream for all tabs in one language: the one that holds the lock listens and passes on. Without locks each
  // visible tab listens.
  const names = ['part', 'order', 'fresh'];
  const shared = navigator.locks && window.BroadcastChannel ? new BroadcastChannel('printfloor-' + language) : null;
  let stream = null, waits = null, release = null, again = 0;
  // The server ends each stream after a while, and the browser is back at once: that is no loss.
  let silent = 0;
  const mark = document.getElementById('online');
  const show = well => {
    lost.hidden = well;
    if (!mark) return;
    mark.hidden = false;
    mark.className = well ? 'chip ok' : 'chip bad';
    mark.textContent = well ? phrases.live : phrases.offline;
  };
  const alive = well => {
    if (!well) { if (!silent) silent = setTimeout(() => show(false), LOST_MS); return; }
    clearTimeout(silent);
    silent = 0;
    show(true);
  };
  const close = () => { clearTimeout(again); if (stream) stream.close(); stream = null; };
  const open = after => {
    close();
    stream = new EventSource(main.dataset.stream + '?language=' + language + '&after=' + after);
    stream.onopen = () => { alive(true); if (shared) shared.postMessage({ name: 'alive', data: true }); };
    stream.onerror = () => {
      alive(false);
      if (shared) shared.postMessage({ name: 'alive', data: false });
      if (!stream || stream.readyState !== EventSource.CLOSED) return;
      again = setTimeout(() => open(version), AGAIN_MS);
      // It may be refused because the session has ended.
      fetch(location.href, { credentials: 'same-origin' })
        .then(told => { if (told.redirected) location.reload(); }).catch(() => {});
    };
    names.forEach(name => stream.addEventListener(name, event => {
      take(name, event.data);
      if (shared) shared.postMessage({ name, data: event.data });
    }));
  };
  const begin = () => {
    if (!shared) { open(version); return; }
    if (waits || release) return;
    waits = new AbortController();
    // Whoever listens already is told what this tab has missed.
    shared.postMessage({ name: 'hello', data: version });
    navigator.locks.request('printfloor-stream-' + language, { signal: waits.signal }, () => {
      waits = null;
      open(version);
      return new Promise(done => { release = done; });
    }).catch(() => {});
  };
  const end = () => {
    close();
    if (waits) { waits.abort(); waits = null; }
    if (release) { release(); release = null; }
  };
  if (shared) shared.onmessage = ({ data: { name, data } }) => {
    if (name === 'hello') { if (stream) open(Math.min(version, data)); }
    else if (name === 'alive') alive(data);
    else take(name, data);
  };
  document.addEventListener('visibilitychange', () => { if (document.hidden) end(); else { begin(); fresh(); } });
  window.addEventListener('pagehide', end);
  window.addEventListener('pageshow', event => { if (event.persisted && !document.hidden) begin(); });

  // Forms that are sent without leaving the page, and the button that is held.
  const sent = async (path, body, form) => {
    try {
      const answer = await fetch(path, { method: 'POST', body, redirect: 'manual', credentials: 'same-origin' });
      if (answer.type === 'opaqueredirect' || answer.ok) {
        // A part of the page waits for as long as anything in it is unfolded.
        for (let around = form && form.closest('details[open]'); around; around = around.closest('details[open]')) around.open = false;
        const menu = form && form.closest('[popover]');
        if (menu) menu.hidePopover();
        if (form && form.closest('.ask:target')) location.hash = main.id;
        // What is sent to the same place next, from this form or one beside it, is not the same again.
        document.querySelectorAll('input[name="once"]').forEach(mark => {
          if (mark.form && mark.form.getAttribute('action') === path) mark.value = Date.now();
        });
        if (form) { next = form.dataset.next || ''; form.reset(); catch_up(); }
        say((form && form.dataset.done) || phrases.done);
        fresh();
        clearTimeout(forget);
        forget = setTimeout(() => { next = ''; }, FRESH_MS + 2000);
        return;
      }
      const text = await answer.text();
      const told = answer.headers.get('content-type') || '';
      const words = told.includes('json') ? JSON.parse(text).message
        : (new DOMParser().parseFromString(text, 'text/html').querySelector('main p') || {}).textContent;
      say(words || phrases.failed);
    } catch {
      say(phrases.silent);
    }
  };
  // A form under way is not sent again until its answer is there, or the browser may have given up: pressing twice does
  // a thing once. Fields may be named as members of the form are, so attributes are asked. A stop is never held back.
  const underWay = new WeakSet();
  const once = form => (form.getAttribute('method') || '').toLowerCase() === 'post' &&
    !form.matches('[data-sends],[data-upload],[action$="/emergency-stop"]');
  document.addEventListener('submit', event => {
    const form = event.target, quiet = form.matches('[data-quiet]');
    if (form.matches('[data-hold]')) { event.preventDefault(); return; }
    if (!once(form)) return;
    if (underWay.has(form)) { event.preventDefault(); return; }
    underWay.add(form);
    if (!quiet) { setTimeout(() => underWay.delete(form), AGAIN_MS); return; }
    event.preventDefault();
    const fields = new FormData(form), button = event.submitter;
    if (button && button.name) fields.append(button.name, button.value);
    if (document.activeElement && form.contains(document.activeElement) && button) button.focus();
    const body = form.getAttribute('enctype') ? fields : new URLSearchParams(fields);
    sent(form.getAttribute('action'), body, form).finally(() => underWay.delete(form));
  });
  let timer = 0;
  const held = target => target instanceof Element ? target.closest('form[data-hold] button') : null;
  const press = button => {
    if (holding) return;
    holding = button;
    button.classList.add('holding');
    say(phrase('hold', button.dataset.says));
    timer = setTimeout(() => { const path = button.form.dataset.hold; let_go(); sent(path, ''); }, HOLD_MS);
  };
  const let_go = () => {
    clearTimeout(timer);
    if (!holding) return;
    holding.classList.remove('holding');
    holding = null;
    [...waiting.values()].forEach(place);
  };
  document.addEventListener('pointerdown', event => { const at = held(event.target); if (at && event.button === 0) press(at); });
  ['pointerup', 'pointercancel'].forEach(name => document.addEventListener(name, let_go));
  document.addEventListener('pointerout', event => { if (holding && held(event.target) === holding && !holding.contains(event.relatedTarget)) let_go(); });
  document.addEventListener('contextmenu', event => { if (held(event.target)) event.preventDefault(); });
  document.addEventListener('keydown', event => {
    const at = held(event.target);
    if (!at || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    if (!event.repeat) press(at);
  });
  document.addEventListener('keyup', let_go);
  window.addEventListener('blur', let_go);

  settle(document);
  setInterval(() => {
    if (document.hidden) return;
    times(document);
    if (Date.now() >= dayEnds) renameDays();
  }, TICK_MS);
  if (!document.hidden) begin();
})();
