(() => {
  'use strict';
  // Files that are sent tell how far they are, in the texts of the form; without this the browser sends one by itself.
  const upload = (form, files) => {
    const bar = form.querySelector('progress'), told = form.querySelector('[role=status]');
    const button = form.querySelector('button'), field = form.querySelector('input[type=file]');
    if (button.disabled || !files.length) return;
    const left = [...files], fields = new FormData(form);
    const place = () => files.length > 1 ? ` ${files.length - left.length}/${files.length}` : '';
    const over = words => {
      told.textContent = words;
      bar.hidden = true;
      button.disabled = false;
      field.value = '';
    };
    const next = () => {
      const request = new XMLHttpRequest();
      fields.set('file', left.shift());
      told.textContent = form.dataset.sends + place();
      request.open('POST', form.getAttribute('action'));
      request.upload.addEventListener('progress', sent => {
        if (sent.lengthComputable) bar.value = Math.floor(sent.loaded / sent.total * 100);
        if (sent.loaded === sent.total) told.textContent = form.dataset.sent + place();
      });
      request.addEventListener('load', () => {
        if (request.status < 400) {
          if (left.length) next(); else location.assign(files.length > 1 ? form.dataset.list : request.responseURL);
          return;
        }
        const page = new DOMParser().parseFromString(request.responseText, 'text/html');
        const words = page.querySelector('[role=alert] p') || page.querySelector('main p');
        over((words && words.textContent) || form.dataset.failed);
      });
      request.addEventListener('error', () => over(form.dataset.broken));
      bar.value = 0;
      request.send(fields);
    };
    bar.hidden = false;
    button.disabled = true;
    next();
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
