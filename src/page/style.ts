/** The style of the pages for screens and paper. Loads nothing. */
export const STYLE = `
:root { color-scheme: light; --line: #767676; }
* { box-sizing: border-box; }
body { margin: 0; background: #f2f2f2; color: #1a1a1a; font: 16px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main, footer { max-width: 46rem; margin: 0 auto; padding: 0 1rem; background: #fff; }
header { padding-top: 1rem; }
footer { padding-bottom: 1.5rem; }
h1 { font-size: 1.35rem; margin: .25rem 0; }
h2 { font-size: 1.05rem; margin: 1.25rem 0 .35rem; }
p { margin: .2rem 0; }
img { max-width: 12rem; max-height: 5rem; display: block; }
.mark { border: 3px solid #b00020; color: #b00020; font-weight: 700; text-align: center; padding: .5rem; margin: .75rem 0; }
.issuer { font-weight: 700; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem 1rem; margin: 0; }
dt { color: #4d4d4d; }
dd { margin: 0; text-align: right; }
table { width: 100%; border-collapse: collapse; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { text-align: left; vertical-align: top; padding: .4rem 0; border-bottom: 1px solid #d0d0d0; font-weight: 400; }
thead th { border-bottom: 2px solid var(--line); color: #4d4d4d; }
th:last-child, td:last-child { text-align: right; white-space: nowrap; padding-left: 1rem; }
small { display: block; color: #4d4d4d; font-size: .875rem; }
.pay dt, .pay dd { font-weight: 700; font-size: 1.2rem; color: #1a1a1a; }
.adenda { border: 1px solid var(--line); padding: .5rem; white-space: pre-wrap; }
.code svg { width: 26mm; height: 26mm; display: block; margin: .5rem 0; }
.files a { display: inline-block; margin: .5rem .5rem 0 0; padding: .7rem 1rem; color: #0b4f9e; }
.files a { border: 1px solid #0b4f9e; border-radius: .3rem; }
a { color: #0b4f9e; }
form { padding-bottom: 1.5rem; }
form p { margin: .75rem 0; }
label { display: block; color: #4d4d4d; }
input, select, button { width: 100%; min-height: 2.75rem; padding: .3rem .6rem; font: inherit; color: inherit; background: #fff; }
input, select { border: 1px solid var(--line); border-radius: .3rem; }
button { border: 1px solid #0b4f9e; border-radius: .3rem; background: #0b4f9e; color: #fff; font-weight: 700; }
@media print {
  body { background: #fff; font-size: 10pt; }
  .files { display: none; }
  tr, .code { break-inside: avoid; }
}
`;
