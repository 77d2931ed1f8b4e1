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
