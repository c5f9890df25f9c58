(() => {
  'use strict';
  // Replaces the live part of a page whenever the server sends a new version, and announces the change to screen
  // readers. Without this the page stays as loaded. A rejected stream is not requested again; the page then explains
  // what to do, in its own language if it is not in English.
  const CLOSED = 'Reload the page to see the current status.';
  const at = document.getElementById('live');
  if (!at || !window.EventSource) return;
  const said = document.getElementById('said'), stream = new EventSource(at.dataset.stream);
  stream.addEventListener('part', event => {
    const part = JSON.parse(event.data);
    at.innerHTML = part.html;
    if (said.textContent !== part.said) said.textContent = part.said;
  });
  stream.addEventListener('error', () => {
    if (stream.readyState === EventSource.CLOSED) said.textContent += ' ' + (at.dataset.closed || CLOSED);
  });
  stream.addEventListener('over', () => {
    stream.close();
    document.querySelectorAll('[data-until-over]').forEach(one => { one.hidden = true; });
    document.querySelectorAll('[data-once-over]').forEach(one => { one.hidden = false; });
  });
})();
