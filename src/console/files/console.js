// Everything here is an addition: without it the console is plain pages and forms.

// What a person has ticked, opened or typed stays as it is when the page is drawn anew around it.
const KEPT = { INPUT: ['checked', 'value'], DETAILS: ['open'], OPTION: ['selected'] };
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
  !(KEPT[element.tagName]?.includes(name) && element.type !== 'hidden');
Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) =>
  node.tagName !== 'TEXTAREA' && node.tagName !== 'SELECT';
// What a form did is told once: a page that is drawn anew holds it no more, and it stays to be read.
Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) => !node.classList?.contains('flash');

// Told that something changed, the page fetches itself anew, at most every few seconds. A page that nobody sees listens to
// nothing: it looks once when it is seen again.
const PAUSE_MILLISECONDS = 1500;
const main = document.querySelector('main[data-changes]');
let source;
let drawnAt = 0;
let waiting;

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

function listen() {
  const isSeen = document.visibilityState === 'visible';
  if (isSeen && !source) {
    const address = document.querySelector('main[data-changes]')?.getAttribute('data-changes');
    if (!address) return;
    source = new EventSource(address);
    source.addEventListener('changed', draw);
  } else if (!isSeen && source) {
    source.close();
    source = undefined;
  }
}

if (main) {
  listen();
  document.addEventListener('visibilitychange', () => {
    const wasDeaf = !source;
    listen();
    if (wasDeaf && source) draw();
  });
  window.addEventListener('pagehide', () => {
    source?.close();
    source = undefined;
  });
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
