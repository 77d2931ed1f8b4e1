// The console also works without this script.

// When the page updates, opened details stay open, and a form that the person has changed keeps its address and all fields,
// including `was`, which records what the form showed. Other forms get the current values; all forms get the new token.
const CONTROLS = 'input:not([name=form_token]), select, textarea';
const KEPT_ATTRIBUTES = { INPUT: ['checked', 'value'], FORM: ['action'] };
let changedForms = new Set();

function isChanged(control) {
  if (control.matches('select')) {
    const options = [...control.options];
    return control.value !== (options.find((option) => option.defaultSelected) ?? options[0])?.value;
  }
  return control.value !== control.defaultValue || control.checked !== control.defaultChecked;
}
const controlsOf = (form) => [...form.elements].filter((control) => control.matches(CONTROLS));

// Finds the changed forms before the update, which changes the default values.
document.addEventListener('htmx:beforeSwap', () => {
  const changed = [...document.querySelectorAll(CONTROLS)].filter(isChanged);
  changedForms = new Set(
    changed.flatMap((control) => (control.form ? [control.form, ...controlsOf(control.form)] : [control])),
  );
});
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
  !(element.tagName === 'DETAILS' && name === 'open') &&
  !(KEPT_ATTRIBUTES[element.tagName]?.includes(name) && changedForms.has(element));
Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) =>
  !(changedForms.has(node) && (node.tagName === 'TEXTAREA' || node.tagName === 'SELECT'));
// Keeps the message and the faults of a form, which updates do not contain.
Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) => !node.matches?.('.flash, .fault');

// Reloads the page after a change, at most once per pause. A hidden page closes its stream; a reopened stream does not repeat
// missed changes, so the page reloads when it opens.
const PAUSE_MILLISECONDS = 1500;
// Browsers do not reopen a rejected stream (502 of a proxy, 204 without a session). Random, to spread the requests of all pages.
const REOPEN_MILLISECONDS = [10_000, 30_000];
const main = document.querySelector('main[data-changes]');
let source;
// Whether the page may have missed a change.
let isBehind = document.visibilityState !== 'visible';
let reloadedAt = 0;
let reloadTimer;
let reopenTimer;

function reload() {
  clearTimeout(reloadTimer);
  const pause = reloadedAt + PAUSE_MILLISECONDS - Date.now();
  if (pause > 0) {
    reloadTimer = setTimeout(reload, pause);
    return;
  }
  reloadedAt = Date.now();
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
  source.addEventListener('changed', reload);
  source.addEventListener('open', () => {
    if (isBehind) reload();
    isBehind = true;
  });
  source.addEventListener('error', ({ target }) => {
    if (target !== source) return;
    isBehind = true;
    if (target.readyState !== EventSource.CLOSED) return;
    closeStream();
    const [least, most] = REOPEN_MILLISECONDS;
    reopenTimer = setTimeout(listen, least + Math.random() * (most - least));
    // Opens the sign-in page if the session has expired.
    reload();
  });
}

if (main) {
  listen();
  document.addEventListener('visibilitychange', listen);
  window.addEventListener('pagehide', closeStream);
  window.addEventListener('pageshow', listen);
}

// While the sign-out form opens the sign-in page, an update must not open a sign-in page that returns here.
let isSigningOut = false;
document.addEventListener('submit', ({ target }) => {
  if (target.matches('form[action="/sign-out"]')) isSigningOut = true;
});

// Without a session an update contains the sign-in page, which must replace the whole page.
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

const currentRow = () => document.activeElement?.closest('table.list > tbody > tr');

function moveFocus(by) {
  const all = rows();
  const last = all.length - 1;
  const current = all.indexOf(currentRow());
  const row = all[current === -1 ? (by > 0 ? 0 : last) : Math.min(Math.max(current + by, 0), last)];
  row?.focus();
  row?.scrollIntoView({ block: 'nearest' });
  return Boolean(row);
}

const showHelp = () => {
  const dialog = document.querySelector('#keys');
  if (dialog && !dialog.open) dialog.showModal();
  return Boolean(dialog);
};

// Returns for each key whether it did something; if not, the browser handles the key.
const KEYS = {
  '/': () => {
    const field = document.querySelector('form.search input');
    field?.focus();
    field?.select();
    return Boolean(field);
  },
  '?': showHelp,
  j: () => moveFocus(1),
  k: () => moveFocus(-1),
  x: () => {
    const box = currentRow()?.querySelector('input[type=checkbox]');
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
      document.activeElement?.matches('table.list > tbody > tr') && currentRow()?.querySelector('a.row');
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
  if (showHelp()) event.preventDefault();
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

// Removes a secret when the person leaves the page, so that the browser's back button does not show it. A reload opens the next
// page instead of sending the form again.
const afterOnce = document.querySelector('a.after-once');
if (afterOnce) {
  history.replaceState(null, '', afterOnce.href);
  window.addEventListener('pagehide', () => document.querySelector('.once')?.remove());
}

// Refills a rejected form with the fields that the person changed, except passwords, codes and files. This tab stores them
// until its next page.
const SENT = 'sent';
const isSecret = (control) =>
  control.matches('[type=password], [type=file], [type=hidden], [autocomplete=one-time-code]');
const isBox = (control) => control.matches('[type=checkbox], [type=radio]');
const nameOf = (form) => form.id || form.getAttribute('action');

document.addEventListener('submit', ({ target: form, defaultPrevented }) => {
  if (defaultPrevented || form.method !== 'post') return;
  const changed = controlsOf(form).filter((control) => !isSecret(control) && isChanged(control));
  const fields = changed.map(({ name, value, checked }) => ({ name, value, checked }));
  sessionStorage.setItem(SENT, JSON.stringify({ form: nameOf(form), fields }));
});

const sent = JSON.parse(sessionStorage.getItem(SENT) ?? 'null');
sessionStorage.removeItem(SENT);
if (sent && document.querySelector('main > .flash.failed')) {
  const form = [...document.forms].find((found) => found.method === 'post' && nameOf(found) === sent.form);
  for (const { name, value, checked } of form ? sent.fields : []) {
    const controls = controlsOf(form).filter((control) => control.name === name && !isSecret(control));
    const control = controls.find((control) => !isBox(control) || control.value === value);
    if (!control) continue;
    const before = control.value;
    if (isBox(control)) control.checked = checked;
    else control.value = value;
    // The chosen option may no longer exist.
    if (control.selectedIndex === -1) control.value = before;
  }
  for (let element = form; element; element = element.parentElement)
    if (element.matches('details')) element.open = true;
}
