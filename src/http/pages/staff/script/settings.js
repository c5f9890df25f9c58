(() => {
  'use strict';
  // Copies what a page shows once. Without the clipboard, which browsers give to safe addresses only, the text is chosen.
  const said = document.getElementById('said'), SAID_MS = 4000, LATE_MS = 1000;
  const tell = words => {
    if (!said) return;
    said.textContent = words;
    setTimeout(() => { if (said.textContent === words) said.textContent = ''; }, SAID_MS);
  };
  document.querySelectorAll('button[data-copy]').forEach(button => {
    const field = document.getElementById(button.dataset.copy);
    if (!field) return;
    button.hidden = false;
    button.addEventListener('click', async () => {
      field.focus();
      field.select();
      try {
        if (navigator.clipboard) {
          const late = new Promise((_, refuse) => { setTimeout(() => refuse(new Error('late')), LATE_MS); });
          await Promise.race([navigator.clipboard.writeText(field.value), late]);
        } else if (!document.execCommand('copy')) throw new Error('not copied');
        tell('Copied.');
      } catch {
        tell('It is chosen: copy it with the keyboard.');
      }
    });
  });
})();
