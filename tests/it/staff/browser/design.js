// The layout of a page as text: each element with its place in its parent, its size, and the looks that it does not
// inherit. A picture would differ with the machine that draws it; this differs with what the styles say.
(async colours => {
  'use strict';
  await document.fonts.ready;
  const menu = document.getElementById('design-menu'), dialog = document.getElementById('design-dialog');
  // In this order: a dialog closes the menus that are open.
  dialog.showModal();
  menu.showPopover();
  document.activeElement.blur();
  await new Promise(done => { requestAnimationFrame(() => done()); setTimeout(done, 100); });
  const hex = text => {
    const [red, green, blue, alpha] = (text.match(/[\d.]+/g) || []).map(Number);
    const scale = text.startsWith('color(') ? 255 : 1;
    const rgb = '#' + [red, green, blue].map(part => Math.round(part * scale).toString(16).padStart(2, '0')).join('');
    return alpha === undefined ? rgb : alpha === 0 ? '' : rgb + '/' + Math.round(alpha * 100);
  };
  const font = style => style.fontSize + ' ' + style.fontWeight;
  const radius = style => (style.borderTopLeftRadius === '0px' ? '' : 'radius ' + style.borderTopLeftRadius);
  const sides = ['Top', 'Right', 'Bottom', 'Left'];
  const edge = style => {
    const widths = sides.map(side => Math.round(parseFloat(style['border' + side + 'Width'])));
    const side = sides[widths.findIndex(width => width > 0)];
    return side ? 'edge ' + widths.join(' ') + ' ' + hex(style['border' + side + 'Color']) : '';
  };
  const before = at => {
    const style = getComputedStyle(at, '::before');
    if (style.content === 'none' || style.content === 'normal') return '';
    return ['before', style.width, style.height, style.backgroundColor && hex(style.backgroundColor), radius(style), edge(style)]
      .filter(Boolean).join(' ');
  };
  const lines = [];
  const tell = (at, depth) => {
    const box = at.getBoundingClientRect(), style = getComputedStyle(at), around = at.parentElement;
    const outer = around.getBoundingClientRect(), inherited = getComputedStyle(around);
    if (!at.getClientRects().length) return;
    const name = at.localName + (at.id ? '#' + at.id : '') + [...at.classList].map(one => '.' + one).join('');
    // What lies above the page stands where there is room for it.
    const floats = at === menu || at === dialog;
    const place = floats || !depth ? '' : Math.round(box.x - outer.x) + ',' + Math.round(box.y - outer.y);
    const size = Math.round(box.width) + 'x' + Math.round(box.height);
    const looks = [
      font(style) !== font(inherited) && font(style),
      style.color !== inherited.color && 'ink ' + hex(style.color),
      hex(style.backgroundColor) && 'on ' + hex(style.backgroundColor),
      edge(style), radius(style), before(at),
    ];
    const own = colours ? looks.slice(1) : [place, size, ...looks];
    lines.push(' '.repeat(depth) + [name, ...own].filter(Boolean).join(' '));
    if (at.localName === 'svg') return;
    [...at.children].forEach(child => tell(child, depth + 1));
  };
  [...document.querySelectorAll('#content > *')].forEach(at => tell(at, 0));
  return lines.join('\n') + '\n';
})
