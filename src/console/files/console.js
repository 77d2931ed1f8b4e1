// Every feature here is optional: without script, the console works with plain pages and forms.

// Opened details stay open when the page updates. A changed form keeps its target and all fields, including `was`, which records
// what the form showed; an unchanged form gets the current values. Every form gets the newest token.
const CONTROLS = 'input:not([name=form_token]), select, textarea';
const KEPT_ATTRIBUTES = { INPUT: ['checked', 'value'], FORM: ['action'] };
let changedForms = new Set();

function isChanged(control) {
  if (control.matches('select')) {
    const all = [...control.options];
    return control.value !== (all.find((one) => one.defaultSelected) ?? all[0])?.value;
  }
  return control.value !== control.defaultValue || control.checked !== control.defaultChecked;
}
const controlsOf = (form) => [...form.elements].filter((one) => one.matches(CONTROLS));

// Compared once before the update: during it, a form would differ from its own defaults.
document.addEventListener('htmx:beforeSwap', () => {
  const changed = [...document.querySelectorAll(CONTROLS)].filter(isChanged);
  changedForms = new Set(changed.flatMap((one) => (one.form ? [one.form, ...controlsOf(one.form)] : [one])));
});
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
  !(element.tagName === 'DETAILS' && name === 'open') &&
  !(KEPT_ATTRIBUTES[element.tagName]?.includes(name) && changedForms.has(element));
Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) =>
  !(changedForms.has(node) && (node.tagName === 'TEXTAREA' || node.tagName === 'SELECT'));
// Keeps the message and the faults of a form, which are sent only once and are missing in updates.
Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) => !node.matches?.('.flash, .fault');

// Reloads the page after a change, at most every few seconds; a hidden page closes its stream. A reopened stream does not
// repeat missed changes: the page reloads once when it opens.
const PAUSE_MILLISECONDS = 1500;
// Browsers do not reopen a rejected stream (502 of a proxy, 204 without a session). Random, to prevent all pages at once.
const REOPEN_MILLISECONDS = [10_000, 30_000];
const main = document.querySelector('main[data-changes]');
let source;
// Whether the page may have missed a change.
let isBehind = document.visibilityState !== 'visible';
let drawnAt = 0;
let waiting;
let reopenTimer;

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

function closeStream() {
  clearTimeout(reopenTimer);
  source?.close();
  source = undefined;
}

function listen() {
  if (document.visibilityState !== 'visible') return closeStream();
  const address = main.getAttribute('data-changes');
  if (source || !address) return;
  closeStream();
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
    closeStream();
    const [least, most] = REOPEN_MILLISECONDS;
    reopenTimer = setTimeout(listen, least + Math.random() * (most - least));
    // If the session has expired, this opens the sign-in page.
    draw();
  });
}

if (main) {
  listen();
  document.addEventListener('visibilitychange', listen);
  window.addEventListener('pagehide', closeStream);
  window.addEventListener('pageshow', listen);
}

// Signing out opens the sign-in page itself: an update that comes meanwhile must not replace it by one that leads back here.
let isSigningOut = false;
document.addEventListener('submit', ({ target }) => {
  if (target.matches('form[action="/sign-out"]')) isSigningOut = true;
});

// An update without a session returns the sign-in page, which must replace the whole page.
document.addEventListener('htmx:beforeSwap', (event) => {
  const { xhr } = event.detail;
  if (xhr.responseURL && new URL(xhr.responseURL).pathname === '/sign-in') {
    event.preventDefault();
    if (!isSigningOut) location.reload();
  }
});

// Keyboard shortcuts: off while typing, and without Ctrl, Alt or Meta, which browsers and screen readers use.
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

// Each returns whether it did something; if not, the browser handles the key.
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

// Prevents a second click on a form that shows a secret once: its response would discard the first.
let sentOnce = new WeakSet();
window.addEventListener('pageshow', () => {
  sentOnce = new WeakSet();
});
document.addEventListener('submit', (event) => {
  if (!event.target.querySelector('[name=once]')) return;
  if (sentOnce.has(event.target)) event.preventDefault();
  else sentOnce.add(event.target);
});

// Removes a secret when the person leaves the page, also from the browser's back/forward cache. A reload opens the next page
// instead of sending the form again.
const afterOnce = document.querySelector('a.after-once');
if (afterOnce) {
  history.replaceState(null, '', afterOnce.href);
  window.addEventListener('pagehide', () => document.querySelector('.once')?.remove());
}

// Refills a rejected form with the changed fields, without passwords, codes and files. They are stored in this tab until its
// next page; unchanged fields get the new page's values.
const SENT = 'sent';
const isSecret = (control) =>
  control.matches('[type=password], [type=file], [type=hidden], [autocomplete=one-time-code]');
const isBox = (control) => control.matches('[type=checkbox], [type=radio]');
const nameOf = (form) => form.id || form.getAttribute('action');

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
    // The chosen option may no longer exist.
    if (control.selectedIndex === -1) control.value = before;
  }
  for (let at = form; at; at = at.parentElement) if (at.matches('details')) at.open = true;
}
