/** The page that the description's errors link to: every code, what it means and what to do; then every rule. */
import { RULE_TABLES } from '../domain/ruleTables.ts';
import { REFUSAL_CODES } from '../errors.ts';
import { type Html, html } from '../page/html.ts';
import { STATUS_OF } from './errorAnswer.ts';
import { MEND, WORDS } from './openapi/refusals.ts';

/** Words with `marks` as code. */
const marked = (text: string): Html[] =>
  text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

/** The page, as HTML. */
export function errorPage(): string {
  const codes = REFUSAL_CODES.map(
    (code) => html`<section id="${code}">
<h2>${code}</h2>
<p class="status">HTTP ${STATUS_OF[code]}</p>
<p>${marked(WORDS[code])}</p>
<p><strong>What to do:</strong> ${marked(MEND[code])}</p>
</section>
`,
  );
  const tables = RULE_TABLES.map(
    ({ title, about, rules }) => html`<h3>${title}</h3>
<p>${about}</p>
<div class="wide" tabindex="0" role="region" aria-label="${title}">
<table>
<thead><tr><th scope="col">Code</th><th scope="col">What is checked</th><th scope="col">Example message</th></tr></thead>
<tbody>
${rules.map(
  ([code, { checks, example }]) =>
    html`<tr id="${code}"><th scope="row"><code>${code}</code></th><td>${marked(checks)}</td><td>${example}</td></tr>
`,
)}</tbody>
</table>
</div>
`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors – CFE API</title>
<link rel="icon" href="favicon-32x32.png">
<link rel="stylesheet" href="errors.css">
</head>
<body>
<main>
<h1>Errors of the CFE API</h1>
<p>Every error is <code>{"error": {code, message, details?}}</code>. Branch on <code>code</code>; <code>message</code> is for people.
<a href="../docs">The reference</a> says which operation answers which.</p>
<nav aria-label="Codes"><ul>${REFUSAL_CODES.map((code) => html`<li><a href="#${code}">${code}</a></li>`)}<li><a href="#faults">Codes of faults</a></li></ul></nav>
${codes}
<section id="faults">
<h2>Codes of faults</h2>
<p>INVALID_INPUT lists every fault at once in <code>details.fields</code>: <code>path</code> says where, <code>code</code> which of these rules, <code>message</code> what is expected instead.</p>
${tables}</section>
</main>
</body>
</html>
`.text;
}

/** Its style sheet, for light and dark screens. */
export const ERROR_PAGE_STYLE = `:root { color-scheme: light dark; --line: #8888; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: CanvasText; background: Canvas; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin: 2rem 0 0; font-size: 1.2rem; }
.status { margin: 0; font-weight: 600; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none; }
a { color: LinkText; }
:target { outline: 2px solid LinkText; outline-offset: .25rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: normal; }
thead th { font-weight: 600; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
`;
