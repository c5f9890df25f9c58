(() => {
  'use strict';
  const main = document.getElementById('content');
  if (!main) return;
  const said = document.getElementById('said');

  // Pictures of cameras: one call at a time, of cameras that can be seen, the one that waited longest first. A camera
  // that gives none is left alone for a while. A picture outlives the card that is made anew around it.
  const STEP_MS = 1500, AGAIN_MS = 6000, REST_MS = 120000;
  const kept = new Map(), due = new Map();
  let asking = false;
  const places = () => [...document.querySelectorAll('img[data-camera]')];
  const adopt = () => places().forEach(place => {
    const old = kept.get(place.dataset.camera);
    if (old && old !== place && !document.contains(old)) place.replaceWith(old);
  });
  const seen = place => {
    const around = place.closest('li, section'), view = place.closest('.view');
    if (view && !view.getClientRects().length) return false; // on the wall and in dense tiles
    if (!around || around.hidden || !around.getClientRects().length) return false;
    const box = around.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  };
  const picture = () => {
    if (asking || document.hidden) return;
    const now = Date.now(), at = place => due.get(place.dataset.camera) || 0;
    const next = places().filter(place => at(place) <= now && seen(place)).sort((a, b) => at(a) - at(b))[0];
    if (!next) return;
    const url = next.dataset.camera, made = new Image(320, 180);
    asking = true;
    made.className = next.className;
    made.alt = next.alt;
    made.dataset.camera = url;
    made.onload = () => {
      asking = false;
      due.set(url, Date.now() + AGAIN_MS);
      const place = places().find(one => one.dataset.camera === url);
      if (place) place.replaceWith(made);
      kept.set(url, made);
    };
    made.onerror = () => { asking = false; due.set(url, Date.now() + REST_MS); };
    made.src = url + '?at=' + now;
  };
  new MutationObserver(adopt).observe(main, { childList: true, subtree: true });
  setInterval(picture, STEP_MS);
  picture();

  // A question that the address opens is left with the key as well.
  document.addEventListener('keydown', event => {
    const leave = event.key === 'Escape' && document.querySelector('.ask:target a[href^="#"]');
    if (leave) leave.click();
  });

  // A file for a printer: dropped on its card, or chosen in a form. The server leads to the offer to print it.
  let box = null;
  const close = () => { if (box) box.remove(); box = null; };
  const say = words => { said.textContent = words; };
  // Texts in the language of the page, as in live.js.
  const phrases = JSON.parse(main.dataset.phrases || '{}');
  const wrong = text => {
    const told = (new DOMParser().parseFromString(text, 'text/html').querySelector('main p') || {}).textContent;
    say(told || phrases.uploadFailed);
  };
  const send = (url, file, printer) => {
    if (box) { say(phrases.uploadBusy); return; }
    const label = document.createElement('label'), bar = document.createElement('progress');
    const stop = document.createElement('button'), ask = new XMLHttpRequest(), form = new FormData();
    box = document.createElement('div');
    box.className = 'uploading';
    bar.id = 'upload-progress';
    label.htmlFor = bar.id;
    label.textContent = phrases.uploading.replace('%1', () => file.name).replace('%2', () => printer);
    stop.type = 'button';
    stop.className = 'btn';
    stop.textContent = phrases.uploadCancel;
    stop.addEventListener('click', () => ask.abort());
    box.append(label, bar, stop);
    main.append(box);
    stop.focus();
    form.append('file', file, file.name);
    ask.upload.addEventListener('progress', event => {
      if (!event.lengthComputable) return;
      bar.max = event.total;
      bar.value = event.loaded;
    });
    ask.addEventListener('load', () => {
      close();
      if (ask.status < 400 && ask.responseURL) { location.assign(ask.responseURL); return; }
      wrong(ask.responseText);
    });
    ask.addEventListener('error', () => { close(); say(phrases.uploadSilent); });
    ask.addEventListener('abort', () => { close(); say(phrases.uploadCancelled); });
    ask.open('POST', url);
    ask.send(form);
  };
  const target = event => event.target instanceof Element ? event.target.closest('li[data-upload]') : null;
  const files = event => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  const unmark = () => document.querySelectorAll('.dropping').forEach(card => card.classList.remove('dropping'));
  document.addEventListener('dragover', event => {
    if (!files(event)) return;
    // Beside a card nothing happens: the browser would leave the page and show the file.
    event.preventDefault();
    const card = target(event);
    event.dataTransfer.dropEffect = card ? 'copy' : 'none';
    if (card && card.classList.contains('dropping')) return;
    unmark();
    if (card) card.classList.add('dropping');
  });
  document.addEventListener('dragleave', event => { if (!event.relatedTarget) unmark(); });
  document.addEventListener('drop', event => {
    if (!files(event)) return;
    event.preventDefault();
    unmark();
    const card = target(event), dropped = event.dataTransfer.files;
    if (!card) return;
    if (dropped.length !== 1) { say(phrases.oneFile); return; }
    send(card.dataset.upload, dropped[0], card.dataset.called);
  });
  document.addEventListener('submit', event => {
    const form = event.target, chosen = form.matches('form[data-upload]') && form.querySelector('input[type=file]');
    if (!chosen || chosen.files.length !== 1) return;
    event.preventDefault();
    send(form.dataset.upload, chosen.files[0], form.dataset.called);
  });
})();
