import { expect, test } from '@jest/globals';
import { html } from '../../../src/page/html.ts';

test('what stands in HTML is text, unless it is HTML', () => {
  const value = `<a href="x">'&`;
  expect(html`<p title="${value}">${value}${html`<b>${1}</b>`}${[value, null]}${undefined}</p>`.text).toBe(
    '<p title="&lt;a href=&quot;x&quot;&gt;&#39;&amp;">&lt;a href=&quot;x&quot;&gt;&#39;&amp;<b>1</b>&lt;a href=&quot;x&quot;&gt;&#39;&amp;</p>',
  );
});

test('lines lose the indentation of the source, values keep theirs', () => {
  const value = 'one\n    two';
  const shown = html`<div>
    <pre>${value}</pre>
    ${html`<p>
      three
    </p>`}
  </div>`;
  expect(shown.text).toBe('<div>\n<pre>one\n    two</pre>\n<p>\nthree\n</p>\n</div>');
});
