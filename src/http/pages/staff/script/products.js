(() => {
  'use strict';
  // Files are sent one after the other and tell how far they are, in the texts of the form; without this the browser sends
  // one by itself. Those that are chosen or dropped meanwhile follow, and one that fails holds up no other.
  const queue = [], failures = new Map();
  let sending = false, chosen = 0, stored = 0;
  const over = (form, page) => {
    const lines = [...failures].map(([words, names]) => names.join(', ') + ': ' + words);
    if (chosen > 1) lines.unshift(form.dataset.stored.replace('%1', stored).replace('%2', chosen));
    const next = failures.size ? null : chosen > 1 ? form.dataset.list : page;
    form.querySelector('[role=status]').textContent = next ? '' : lines.join('\n');
    form.querySelector('progress').hidden = true;
    failures.clear();
    sending = false;
    chosen = stored = 0;
    if (next) location.assign(next);
  };
  const sendNext = () => {
    const { form, file, fields } = queue.shift(), request = new XMLHttpRequest();
    const bar = form.querySelector('progress'), told = form.querySelector('[role=status]');
    const tell = words => { told.textContent = words + (chosen > 1 ? ` ${chosen - queue.length}/${chosen}` : ''); };
    const done = page => { if (queue.length) sendNext(); else over(form, page); };
    const fail = words => {
      failures.set(words, [...failures.get(words) || [], file.name]);
      done();
    };
    sending = true;
    tell(form.dataset.sends);
    request.open('POST', form.getAttribute('action'));
    request.upload.addEventListener('progress', sent => {
      if (sent.lengthComputable) bar.value = Math.floor(sent.loaded / sent.total * 100);
      if (sent.loaded === sent.total) tell(form.dataset.sent);
    });
    request.addEventListener('load', () => {
      const page = request.responseURL;
      if (request.status < 400) {
        // Whoever's session has ended is led to the sign-in, and nothing is stored.
        if (!new URL(page).pathname.startsWith(form.dataset.list)) { location.assign(page); return; }
        stored += 1;
        done(page);
        return;
      }
      const answer = new DOMParser().parseFromString(request.responseText, 'text/html');
      const words = answer.querySelector('[role=alert] p') || answer.querySelector('main p');
      fail((words && words.textContent) || form.dataset.failed);
    });
    request.addEventListener('error', () => fail(form.dataset.broken));
    bar.hidden = false;
    bar.value = 0;
    request.send(fields);
  };
  const upload = (form, files) => {
    files.forEach(file => {
      const fields = new FormData(form);
      fields.set('file', file);
      queue.push({ form, file, fields });
    });
    chosen += files.length;
    // The same file can be chosen again.
    form.querySelector('input[type=file]').value = '';
    if (files.length && !sending) sendNext();
  };
  const forms = 'form[data-sends]';
  document.querySelectorAll(forms).forEach(form => { form.querySelector('input[type=file]').multiple = true; });
  // Files are sent as soon as they are chosen.
  document.addEventListener('change', event => {
    const field = event.target, form = field.form;
    if (field.type === 'file' && form && form.matches(forms)) upload(form, [...field.files]);
  });
  document.addEventListener('submit', event => {
    const form = event.target;
    if (!form.matches(forms)) return;
    event.preventDefault();
    upload(form, [...form.querySelector('input[type=file]').files]);
  });
  // They may be dropped anywhere on a page with such a form.
  const area = event => {
    const form = document.querySelector(forms);
    const brings = form && event.dataTransfer && [...event.dataTransfer.types].includes('Files');
    return brings ? form.closest('main') : null;
  };
  document.addEventListener('dragover', event => {
    const main = area(event);
    if (!main) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    main.classList.add('dropping');
  });
  document.addEventListener('dragleave', event => {
    const main = event.relatedTarget ? null : document.querySelector('main.dropping');
    if (main) main.classList.remove('dropping');
  });
  document.addEventListener('drop', event => {
    const main = area(event);
    if (!main) return;
    event.preventDefault();
    main.classList.remove('dropping');
    upload(main.querySelector(forms), [...event.dataTransfer.files]);
  });
  // A form that a file filled in begins in the field that a person decides, with its suggestion selected.
  const begun = document.querySelector('form[data-begins]');
  if (begun && !document.querySelector('.wrong')) {
    const first = begun.elements[begun.dataset.begins];
    first.focus();
    first.select();
  }
})();
