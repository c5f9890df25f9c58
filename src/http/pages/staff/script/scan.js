(() => {
  'use strict';
  // Scans a label of the shop with the camera, and opens its page. Buttons for it are shown where the browser can read
  // codes and has a camera, which it has at safe addresses only. The camera is on while the dialog is open.
  const main = document.getElementById('content'), dialog = document.getElementById('scan');
  if (!main || !dialog || !('BarcodeDetector' in window) || !navigator.mediaDevices) return;
  const LOOK_MS = 150;
  // Paths on the labels of printers, spools and bins.
  const PRINTER_OR_SPOOL = /^\/(?:floor\/printers\/[0-9a-f-]{36}|shop\/stock\/spools\/[1-9]\d*)$/;
  const BINS = '/shop/stock/bins';
  const phrases = JSON.parse(main.dataset.phrases);
  const video = dialog.querySelector('video'), status = dialog.querySelector('[role=status]');
  const tell = words => { if (status.textContent !== words) status.textContent = words; };
  const end = camera => camera.getTracks().forEach(track => track.stop());
  // Each opening of the dialog is a turn of its own: what is still awaited for an earlier one does nothing any more.
  let turn = 0, camera = null;
  const stop = () => {
    turn += 1;
    if (camera) end(camera);
    camera = null;
    video.srcObject = null;
  };
  const parse = text => { try { return new URL(text); } catch { return null; } };
  const isLabel = ({ origin, pathname, searchParams }) => origin === location.origin &&
    (PRINTER_OR_SPOOL.test(pathname) || (pathname === BINS && Boolean(searchParams.get('name'))));
  // Opens the page of the first label among the codes; otherwise tells why none of them is one.
  const follow = texts => {
    const urls = texts.map(parse), label = urls.find(url => url && isLabel(url));
    if (label) {
      stop();
      tell(phrases.scanOpening);
      location.assign(label.pathname + label.search);
      return true;
    }
    const other = urls.find(url => url && url.host && url.origin !== location.origin);
    tell(other ? phrases.scanElsewhere.replace('%1', () => other.host) : phrases.scanForeign);
    return false;
  };
  const look = async (detector, own) => {
    while (own === turn) {
      let codes = [];
      try { codes = await detector.detect(video); } catch { /* the camera has no picture yet */ }
      if (own !== turn || (codes.length && follow(codes.map(code => code.rawValue)))) return;
      await new Promise(done => { setTimeout(done, LOOK_MS); });
    }
  };
  const start = async () => {
    if (dialog.open) return;
    const own = turn;
    dialog.showModal();
    tell(phrases.scanStarting);
    try {
      const detector = new window.BarcodeDetector({ formats: ['qr_code'] });
      const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
      // The dialog was closed while the browser asked whether the camera may be used.
      if (own !== turn) { end(stream); return; }
      camera = stream;
      video.srcObject = stream;
      // Without a picture, no code is found; that the dialog was closed meanwhile is no fault.
      video.play().catch(() => {});
      tell(phrases.scanAim);
      await look(detector, own);
    } catch (error) {
      if (own !== turn) return;
      stop();
      const words = { NotAllowedError: phrases.scanDenied, NotFoundError: phrases.scanNone };
      tell(words[error.name] || phrases.scanNoCamera);
    }
  };
  dialog.addEventListener('close', stop);
  // A page to which somebody goes back neither shows what it told nor has the camera on.
  window.addEventListener('pagehide', () => { if (dialog.open) dialog.close(); });
  document.addEventListener('click', event => {
    if (event.target instanceof Element && event.target.closest('[data-scan]')) start();
  });
  document.documentElement.classList.add('scans');
})();
