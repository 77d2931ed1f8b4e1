import { describe, expect, test } from '@jest/globals';
import { exclusive } from '../../../local/simulator/xml/canonical.ts';
import { topLevelExtents } from '../../../local/simulator/xml/cut.ts';
import { ownExclusive } from '../../../local/simulator/xml/ownExclusive.ts';
import {
  elementsOf,
  parseXml,
  readTree,
  withoutDeclaration,
  XmlRefused,
} from '../../../local/simulator/xml/read.ts';
import { cdata, leaf } from '../../../local/simulator/xml/write.ts';

describe('ownExclusive', () => {
  const DOCUMENTS = [
    '<a xmlns="urn:a" xmlns:unused="urn:u"><b/></a>',
    '<p:a xmlns:p="urn:p" xmlns:q="urn:q" z="1" a="2" q:m="3" p:m="4"><q:b xmlns:q="urn:q"/><q:c xmlns:q="urn:other"/></p:a>',
    '<a xmlns="urn:a"><b xmlns=""><c xmlns="urn:a">text &amp; &lt; &gt; "quotes" &#13;</c></b></a>',
    '<a b="&lt;&amp;&quot;&#9;&#10;&#13;&gt;\'">é ñ 𝄞<![CDATA[<raw> & ]]></a>',
    '<x:a xmlns:x="urn:x"><!-- gone --><x:b xml:lang="es">  spaces\n kept </x:b></x:a>',
    '<a xmlns="urn:a"><p:b xmlns:p="urn:p"><c/><p:d/></p:b><p:e xmlns:p="urn:p"/></a>',
  ];

  test.each(DOCUMENTS)('writes %s as libxml2 does', (xml) => {
    using document = parseXml(xml);
    expect(ownExclusive(document.root)).toBe(exclusive(document.root));
  });

  test.each(DOCUMENTS)('writes a part of %s as libxml2 does, inherited prefixes asked for or not', (xml) => {
    using document = parseXml(`<o:outer xmlns:o="urn:o" xmlns:kept="urn:k">${xml}</o:outer>`);
    const [part] = elementsOf(document.root);
    if (!part) throw new Error('no part');
    expect(ownExclusive(part)).toBe(exclusive(part));
    expect(ownExclusive(part, ['kept'])).toBe(exclusive(part, ['kept']));
  });

  test('writes the relative namespace that libxml2 refuses', () => {
    using document = parseXml(
      '<e:Body xmlns:e="urn:e"><d:Execute xmlns:d="DGI_Modernizacion_Consolidado"><d:Rut>1</d:Rut></d:Execute></e:Body>',
    );
    expect(() => exclusive(document.root)).toThrow();
    expect(ownExclusive(document.root)).toBe(
      '<e:Body xmlns:e="urn:e"><d:Execute xmlns:d="DGI_Modernizacion_Consolidado"><d:Rut>1</d:Rut></d:Execute></e:Body>',
    );
  });
});

describe('topLevelExtents', () => {
  test('finds the bytes of each child, whatever stands between and inside', () => {
    const parts = [
      '<a x=">"/>',
      "<b y='<![CDATA['><c><b/></c><![CDATA[</b>]]></b>",
      '<d><!-- </d> --><?pi </d>?></d>',
    ];
    const xml = `<?xml version="1.0"?><!-- <z/> --><r>\n ${parts.join(' <!-- <n/> --> ')} </r>`;

    expect(topLevelExtents(xml).map(({ start, end }) => xml.slice(start, end))).toEqual(parts);
  });
});

describe('parseXml', () => {
  test.each([
    '<a>',
    '',
    'text',
    '<a><b></a></b>',
    '<!DOCTYPE a><a/>',
    '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
    '<p:a/>',
  ])('refuses %j', (xml) => {
    expect(() => parseXml(xml)).toThrow(XmlRefused);
  });

  test('reads CDATA and escaped text as the same text', () => {
    expect(readTree('<a><![CDATA[<x>&]]></a>').text).toBe(readTree('<a>&lt;x&gt;&amp;</a>').text);
  });

  test('drops the declaration of a document that stands in a text', () => {
    expect(withoutDeclaration('\uFEFF<?xml version="1.0" encoding="ISO-8859-1"?>\n<a/>')).toBe('<a/>');
  });
});

describe('cdata and leaf', () => {
  test.each(['a ]]> b', ']]>]]>', '<&>', 'línea\r\n'])('give %j back', (text) => {
    expect(readTree(`<a>${leaf('b', text)}</a>`).children[0]?.text).toBe(text);
    if (!text.includes('\r')) expect(readTree(`<a>${cdata(text)}</a>`).text).toBe(text);
  });
});
