// Everything here is an addition: without it the console is plain pages and forms.

// What a person has opened stays open when the page is drawn anew around it. A form in which they have changed something keeps all
// that it would send, and where to, hidden fields too: `was` tells what its other fields showed. One that nobody touched is drawn
// anew, so that it sends nothing that has changed since. Only the token is always the newest.
const CONTROLS = 'input:not([name=form_token]), select, textarea';
const KEPT = { INPUT: ['checked', 'value'], FORM: ['action'] };
let kept = new Set();

function isChanged(control) {
  if (control.matches('select')) {
    const all = [...control.options];
    return control.value !== (all.find((one) => one.defaultSelected) ?? all[0])?.value;
  }
  return control.value !== control.defaultValue || control.checked !== control.defaultChecked;
}
const controlsOf = (form) => [...form.elements].filter((one) => one.matches(CONTROLS));

// Looked at once, before anything is drawn: half drawn, a form differs from itself.
document.addEventListener('htmx:beforeSwap', () => {
  const changed = [...document.querySelectorAll(CONTROLS)].filter(isChanged);
  kept = new Set(changed.flatMap((one) => (one.form ? [one.form, ...controlsOf(one.form)] : [one])));
});
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
  !(element.tagName === 'DETAILS' && name === 'open') &&
  !(KEPT[element.tagName]?.includes(name) && kept.has(element));
Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) =>
  !(kept.has(node) && (node.tagName === 'TEXTAREA' || node.tagName === 'SELECT'));
// What a form did is told once: a page that is drawn anew holds it no more, and it stays to be read.
Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) => !node.classList?.contains('flash');

// Told that something changed, the page fetches itself anew, at most every few seconds. A page that nobody sees listens to
// nothing. What changed while the page was deaf, nobody tells: it looks once whenever it hears again.
const PAUSE_MILLISECONDS = 1500;
// A stream that was refused (a proxy's 502 at a deploy, 204 without a session) is opened by no browser again. Not all pages at once.
const DEAF_MILLISECONDS = [10_000, 30_000];
const main = document.querySelector('main[data-changes]');
let source;
// Whether something may have changed since the page was drawn, of which nobody told it.
let isBehind = document.visibilityState !== 'visible';
let drawnAt = 0;
let waiting;
let deaf;

function draw() {
  clearTimeout(waiting);
  const pause = drawnAt + PAUSE_MILLISECONDS - Date.now();
  if (pause > 0) {
    waiting = setTimeout(draw, pause);
    return;
  }
  drawnAt = Date.now();
  htmx.trigger('#main', 'changed');
}

function hush() {
  clearTimeout(deaf);
  source?.close();
  source = undefined;
}

function listen() {
  if (document.visibilityState !== 'visible') return hush();
  const address = main.getAttribute('data-changes');
  if (source || !address) return;
  hush();
  source = new EventSource(address);
  source.addEventListener('changed', draw);
  source.addEventListener('open', () => {
    if (isBehind) draw();
    isBehind = true;
  });
  source.addEventListener('error', ({ target }) => {
    if (target !== source) return;
    isBehind = true;
    if (target.readyState !== EventSource.CLOSED) return;
    hush();
    const [least, most] = DEAF_MILLISECONDS;
    deaf = setTimeout(listen, least + Math.random() * (most - least));
    // Without a session any more, this leads to sign in.
    draw();
  });
}

if (main) {
  listen();
  document.addEventListener('visibilitychange', listen);
  window.addEventListener('pagehide', hush);
  window.addEventListener('pageshow', listen);
}

// A page that is drawn anew without a session is the one to sign in: it is opened as a whole.
document.addEventListener('htmx:beforeSwap', (event) => {
  const { xhr } = event.detail;
  if (xhr.responseURL && new URL(xhr.responseURL).pathname === '/sign-in') {
    event.preventDefault();
    location.reload();
  }
});

// Keys: nothing while somebody types, and none of those that a browser or a reading aid has with Ctrl, Alt or Meta.
const isTyping = (element) =>
  element?.matches('textarea, select, input:not([type=checkbox], [type=radio]), [contenteditable]');
const rows = () => [...document.querySelectorAll('table.list > tbody > tr')];

function step(by) {
  const all = rows();
  const at = all.indexOf(document.activeElement?.closest('table.list > tbody > tr'));
  const row = all[at === -1 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  row?.focus();
  row?.scrollIntoView({ block: 'nearest' });
  return Boolean(row);
}

const help = () => {
  const dialog = document.querySelector('#keys');
  if (dialog && !dialog.open) dialog.showModal();
  return Boolean(dialog);
};

const rowHere = () => document.activeElement?.closest('table.list > tbody > tr');

// Each answers whether it did something; else the key stays the browser's.
const KEYS = {
  '/': () => {
    const field = document.querySelector('form.search input');
    field?.focus();
    field?.select();
    return Boolean(field);
  },
  '?': help,
  j: () => step(1),
  k: () => step(-1),
  x: () => {
    const box = rowHere()?.querySelector('input[type=checkbox]');
    box?.click();
    return Boolean(box);
  },
  a: () => {
    const field = document.querySelector('form.ticks :is(select, input:not([type=hidden]))');
    field?.focus();
    return Boolean(field);
  },
  Enter: () => {
    const link =
      document.activeElement?.matches('table.list > tbody > tr') && rowHere()?.querySelector('a.row');
    if (link) link.click();
    return Boolean(link);
  },
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyping(event.target))
    return;
  if (document.querySelector('dialog[open]')) return;
  if (Object.hasOwn(KEYS, event.key) && KEYS[event.key]()) event.preventDefault();
});

document.querySelector('#help')?.addEventListener('click', (event) => {
  if (help()) event.preventDefault();
});

// A form whose answer is shown once is sent once: a second click would throw that answer away.
let sentOnce = new WeakSet();
window.addEventListener('pageshow', () => {
  sentOnce = new WeakSet();
});
document.addEventListener('submit', (event) => {
  if (!event.target.querySelector('[name=once]')) return;
  if (sentOnce.has(event.target)) event.preventDefault();
  else sentOnce.add(event.target);
});

// What is shown once leaves with its page, also out of the store from which a browser shows a page again; and a reload asks for
// the page that follows it instead of sending the form once more.
const afterOnce = document.querySelector('a.after-once');
if (afterOnce) {
  history.replaceState(null, '', afterOnce.href);
  window.addEventListener('pagehide', () => document.querySelector('.once')?.remove());
}

// A form that was refused comes back with what was typed and ticked, without passwords, codes and files. What was sent is kept in
// this tab until its next page, whichever that is. Only what was changed is put back: the rest is what the new page knows.
const SENT = 'sent';
const isSecret = (control) =>
  control.matches('[type=password], [type=file], [type=hidden], [autocomplete=one-time-code]');
const isBox = (control) => control.matches('[type=checkbox], [type=radio]');
// Which form it is, among those that are sent to one address: by what it is about, not by what the page knew when it was drawn.
const ABOUT = '[type=hidden]:not([name=once], [name=was], [name=expected])';
const nameOf = (form) => {
  const about = controlsOf(form).filter((one) => one.matches(ABOUT));
  return JSON.stringify([form.getAttribute('action'), ...about.map(({ name, value }) => [name, value])]);
};

document.addEventListener('submit', ({ target: form, defaultPrevented }) => {
  if (defaultPrevented || form.method !== 'post') return;
  const changed = controlsOf(form).filter((one) => !isSecret(one) && isChanged(one));
  const fields = changed.map(({ name, value, checked }) => ({ name, value, checked }));
  sessionStorage.setItem(SENT, JSON.stringify({ form: nameOf(form), fields }));
});

const sent = JSON.parse(sessionStorage.getItem(SENT) ?? 'null');
sessionStorage.removeItem(SENT);
if (sent && document.querySelector('main > .flash.failed')) {
  const form = [...document.forms].find((one) => one.method === 'post' && nameOf(one) === sent.form);
  for (const { name, value, checked } of form ? sent.fields : []) {
    const all = controlsOf(form).filter((one) => one.name === name && !isSecret(one));
    const control = all.find((one) => !isBox(one) || one.value === value);
    if (!control) continue;
    const before = control.value;
    if (isBox(control)) control.checked = checked;
    else control.value = value;
    // What was chosen may be on offer no more.
    if (control.selectedIndex === -1) control.value = before;
  }
  for (let at = form; at; at = at.parentElement) if (at.matches('details')) at.open = true;
}
