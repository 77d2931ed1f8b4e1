import { describe, expect, test } from '@jest/globals';
import { parseInstant } from '../../../src/dgi/moments.ts';
import {
  childrenNamed,
  decodeXml,
  elementAt,
  findNamed,
  parseXml,
  textAt,
  UnreadableXml,
  withoutDeclaration,
} from '../../../src/dgi/xml/parse.ts';

const parse = (text: string) => parseXml(text, { mostCharacters: 1_000 });

describe('parseXml', () => {
  test.each([
    ['an element left open', '<a><b></a>'],
    ['two roots', '<a/><b/>'],
    ['text before the root', 'x<a/>'],
    ['text behind the root', '<a/>x'],
    ['an undefined entity', '<a>&b;</a>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['an attribute without quotes', '<a b=1/>'],
    ['nothing', ''],
    ['a declaration alone', '<?xml version="1.0"?>'],
    ['a DOCTYPE', '<!DOCTYPE a><a/>'],
    ['a DOCTYPE in small letters', '<!doctype a><a/>'],
    ['a DOCTYPE that declares entities', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['a text that is too large', `<a>${' '.repeat(1_000)}</a>`],
    ['elements nested too deeply', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`],
  ])('does not read %s', (_, text) => {
    expect(() => parse(text)).toThrow(UnreadableXml);
  });

  test('ends of lines are those of XML 1.0: what else breaks a line is text, and signed as that', () => {
    const text = parse('<a>1\r\n2\r3\u0085\u2028\u2029<![CDATA[\r\n\u2028]]></a>').textContent;
    expect(text).toBe('1\n2\n3\u0085\u2028\u2029\n\u2028');
  });

  test('its error says nothing of what was read', () => {
    expect(() => parse('<a>JUAN PEREZ</b>')).toThrow(/^the XML is not well-formed$/);
  });
});

describe('reading by name', () => {
  const root = parse('<x:A xmlns:x="u"><x:Codigo> 5 </x:Codigo><codigo>6</codigo><b><c/></b></x:A>');

  test('prefix, namespace and case do not count', () => {
    expect(textAt(root, 'CODIGO')).toBe('5');
    expect(childrenNamed(root, 'codigo')).toHaveLength(2);
    expect(elementAt(root, 'B', 'C')).toBeDefined();
    expect(findNamed(root, 'c')?.localName).toBe('c');
  });

  test('what is empty or not there is undefined', () => {
    expect(textAt(root, 'b', 'c')).toBeUndefined();
    expect(textAt(root, 'b', 'd', 'e')).toBeUndefined();
    expect(textAt(undefined, 'b')).toBeUndefined();
  });
});

describe('decodeXml', () => {
  test.each([
    ['UTF-8 without a declaration', Buffer.from('<a>ñ</a>'), '<a>ñ</a>'],
    ['UTF-8 with a mark', Buffer.from('\uFEFF<a>ñ</a>'), '<a>ñ</a>'],
    [
      'ISO-8859-1 that says so',
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>ñ</a>', 'latin1'),
      '<?xml version="1.0" encoding="ISO-8859-1"?><a>ñ</a>',
    ],
  ])('reads %s', (_, bytes, text) => {
    expect(decodeXml(bytes)).toBe(text);
  });

  test.each([
    ['bytes that are no UTF-8', Buffer.from('<a>ñ</a>', 'latin1')],
    ['an encoding that nobody knows', Buffer.from('<?xml version="1.0" encoding="EBCDIC-XX"?><a/>')],
  ])('does not read %s', (_, bytes) => {
    expect(() => decodeXml(bytes)).toThrow(UnreadableXml);
  });
});

test.each([
  ['<?xml version="1.0" encoding="ISO-8859-1"?>\n<a/>', '<a/>'],
  ['\uFEFF <?xml version="1.0"?><a/>', '<a/>'],
  ['<a/>', '<a/>'],
  ['<?xml-stylesheet href="a"?><a/>', '<?xml-stylesheet href="a"?><a/>'],
])('the declaration of %j falls away', (text, rest) => {
  expect(withoutDeclaration(text)).toBe(rest);
});

describe('parseInstant', () => {
  test.each([
    ['2026-03-02T10:05:00', '2026-03-02T13:05:00.000Z', 'without an offset it is Montevideo’s'],
    ['2026-03-02T10:05:00-03:00', '2026-03-02T13:05:00.000Z', 'with one, it is that'],
    ['2014-01-02T10:05:00-02:00', '2014-01-02T12:05:00.000Z', 'summer time of 2014'],
    ['2012-02-10T11:55:00Z', '2012-02-10T11:55:00.000Z', 'Z stands as it stands'],
    ['2026-03-02T10:05:00.123-03:00', '2026-03-02T13:05:00.000Z', 'fractions fall away'],
  ])('%s is %s: %s', (text, instant) => {
    expect(parseInstant(text)?.toISOString()).toBe(instant);
  });

  test.each(['', undefined, '2026-03-02', '2026-02-30T10:00:00', '2026-13-01T10:00:00Z', 'now'])(
    '%j is none',
    (text) => {
      expect(parseInstant(text)).toBeUndefined();
    },
  );
});
