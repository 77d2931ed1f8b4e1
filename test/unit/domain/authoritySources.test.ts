import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import Big from 'big.js';
import { readPrices, sumsByKind, untaxed } from '../../../src/domain/cfeTotals.ts';
import { CFE_TYPES, IVA_TYPES, type IvaType } from '../../../src/domain/cfeTypes.ts';
import { COUNTRY_CODES } from '../../../src/domain/countries.ts';
import { vatPercents } from '../../../src/domain/vat.ts';

/** The authority's own files, where this machine has them; in CI they must be there. */
const SOURCES = resolve(import.meta.dirname, '../../..', process.env['DGI_XSD_DIR'] ?? '../shared/dgi');
const there = existsSync(resolve(SOURCES, 'xsd/DGITypes.xsd'));
const read = (path: string) => readFileSync(resolve(SOURCES, path), 'latin1');
const each = (xml: string, pattern: RegExp) => [...xml.matchAll(pattern)].map((match) => match[1] ?? '');

test('the authority’s files are at hand (DGI_XSD_DIR), at least in CI', () => {
  if (!there) process.stdout.write(`skipped: no official XSDs in ${SOURCES}\n`);
  expect(there || process.env['CI'] === undefined).toBe(true);
});

const whenThere = there ? describe : describe.skip;

whenThere('against the official schemas', () => {
  test('the countries are those of CodPaisType', () => {
    const type = /name="CodPaisType"[\s\S]*?<\/xs:simpleType>/.exec(read('xsd/DGITypes.xsd'))?.[0] ?? '';
    expect([...COUNTRY_CODES]).toEqual(each(type, /enumeration value="([^"]+)"/g));
  });

  test('sale modes are those of ModVentaType', () => {
    const type = /name="ModVentaType"[\s\S]*?<\/xs:simpleType>/.exec(read('xsd/DGITypes.xsd'))?.[0] ?? '';
    const official = each(type, /enumeration value="([^"]+)"/g).map(Number);
    const ours = new Set(Object.values(CFE_TYPES).flatMap(({ saleModes }): readonly number[] => saleModes));
    expect([...ours].toSorted((a, b) => a - b)).toEqual(official);
  });
});

/** A document of a sample, as far as the interface can say the same. */
interface Sample {
  name: string;
  xml: string;
}

function samples(): Sample[] {
  return readdirSync(resolve(SOURCES, 'samples'))
    .filter((name) => name.startsWith('Sob_') && !name.includes('-enc'))
    .flatMap((name) =>
      each(read(`samples/${name}`), /<(?:\w+:)?CFE [^>]*>([\s\S]*?)<\/(?:\w+:)?CFE>/g).map((xml, i) => ({
        name: `${name} CFE ${i + 1}`,
        xml,
      })),
    )
    .filter(({ xml }) => /<(?:\w+:)?TipoCFE>(101|102|103|111|112|113|121|122|123)</.test(xml));
}

const value = (xml: string, element: string) =>
  new RegExp(`<(?:\\w+:)?${element}>([^<]*)<`).exec(xml)?.[1]?.trim();
const figure = (xml: string, element: string) => Big(value(xml, element) ?? 0);
const KINDS = Object.fromEntries(
  Object.entries(IVA_TYPES).map(([name, code]) => [String(code), name as IvaType]),
);

whenThere('the official samples', () => {
  const all = there ? samples() : [];

  test('are found', () => {
    expect(all.length).toBeGreaterThan(3);
  });

  test.each(all.map((sample) => [sample.name, sample] as const))(
    '%s: its totals pass our arithmetic',
    (_, { xml }) => {
      const items = each(xml, /<(?:\w+:)?Item>([\s\S]*?)<\/(?:\w+:)?Item>/g);
      const lines = items.flatMap((item) => {
        const kind = KINDS[value(item, 'IndFact') ?? ''];
        return kind ? [{ iva_type: kind, item_amount: figure(item, 'MontoItem') }] : [];
      });
      // Lines of kinds, and zones, that the interface cannot say are none of ours to add up.
      if (lines.length < items.length || /<(?:\w+:)?DscRcgGlobal>/.test(xml)) return;
      const sums = sumsByKind(lines);
      const prices = readPrices(sums, vatPercents('2016-07-19'), {
        minimum: { base: figure(xml, 'MntNetoIvaTasaMin'), vat: figure(xml, 'MntIVATasaMin') },
        basic: { base: figure(xml, 'MntNetoIVATasaBasica'), vat: figure(xml, 'MntIVATasaBasica') },
      });

      expect(prices.prices).toBe(value(xml, 'MntBruto') === '1' ? 'gross' : 'net');
      expect(
        untaxed(sums)
          .plus(prices.taxed[0] ?? 0)
          .toFixed(2),
      ).toBe(figure(xml, 'MntTotal').toFixed(2));
      const pay = figure(xml, 'MntTotal')
        .plus(figure(xml, 'MntTotRetenido'))
        .minus(sums.NON_BILLABLE_NEGATIVE);
      expect(figure(xml, 'MntPagar').toFixed(2)).toBe(pay.toFixed(2));
    },
  );
});
