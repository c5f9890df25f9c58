(() => {
  'use strict';
  // A file is sent as soon as it is chosen.
  document.addEventListener('change', event => {
    const field = event.target, form = field.form;
    if (field.type !== 'file' || !field.files.length || !form || !form.matches('form[data-sends]')) return;
    if (!form.querySelector('button').disabled) form.requestSubmit();
  });
  // A file that is sent tells how far it is, in the texts of the form; without this the browser sends it by itself.
  document.addEventListener('submit', event => {
    const form = event.target;
    if (!form.matches('form[data-sends]')) return;
    event.preventDefault();
    const bar = form.querySelector('progress'), told = form.querySelector('[role=status]');
    const button = form.querySelector('button'), request = new XMLHttpRequest();
    const over = words => {
      told.textContent = words;
      bar.hidden = true;
      button.disabled = false;
    };
    request.open('POST', form.getAttribute('action'));
    request.upload.addEventListener('progress', sent => {
      if (sent.lengthComputable) bar.value = Math.floor(sent.loaded / sent.total * 100);
      if (sent.loaded === sent.total) told.textContent = form.dataset.sent;
    });
    request.addEventListener('load', () => {
      if (request.status < 400) { location.assign(request.responseURL); return; }
      const page = new DOMParser().parseFromString(request.responseText, 'text/html');
      const words = page.querySelector('[role=alert] p') || page.querySelector('main p');
      over((words && words.textContent) || form.dataset.failed);
    });
    request.addEventListener('error', () => over(form.dataset.broken));
    bar.value = 0;
    bar.hidden = false;
    button.disabled = true;
    told.textContent = form.dataset.sends;
    request.send(new FormData(form));
  });
  // A form that a file filled in begins in the field that a person decides, with its suggestion selected.
  const begun = document.querySelector('form[data-begins]');
  if (begun && !document.querySelector('.wrong')) {
    const first = begun.elements[begun.dataset.begins];
    first.focus();
    first.select();
  }
})();
