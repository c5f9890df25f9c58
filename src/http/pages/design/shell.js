(() => {
  'use strict';
  // Ctrl K, or the key of Apple's keyboards, leads to the search from anywhere.
  const field = document.getElementById('site-search'), hint = document.querySelector('.top kbd');
  if (!field) return;
  if (hint) {
    hint.textContent = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K';
    hint.hidden = false;
  }
  document.addEventListener('keydown', event => {
    const leads = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (!leads || (event.key || '').toLowerCase() !== 'k') return;
    event.preventDefault();
    field.focus();
    field.select();
  });
})();
