import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import Big from 'big.js';
import { nonBillable, outsideRates, readPrices, sumsByKind } from '../../../src/domain/receipts/cfeTotals.ts';
import {
  type CfeType,
  cfeTypeOfCode,
  IVA_TYPES,
  type IvaType,
} from '../../../src/domain/receipts/cfeTypes.ts';
import { vatPercents } from '../../../src/domain/receipts/vat.ts';
import { roundHalfUp } from '../../../src/domain/values/decimal.ts';
import { testWithOfficialFiles } from '../../support/simulator/tools.ts';
import { field, XSD_DIR } from '../../support/simulator/world.ts';

/** A receipt of an official sample, of one of the nine types. */
interface Sample {
  readonly type: CfeType;
  readonly xml: string;
  /** Lines of the kinds that the interface knows. */
  readonly lines: { iva_type: IvaType; item_amount: Big; product: Big }[];
  /** MontoItem of lines that are non-billable and add (IndFact 6), which the interface has no kind for. */
}

const SAMPLES = [
  'Sob_219999830019_Ej_Mod_19072016.xml',
  'Sob_219999830019_fac-Cta_Ajena-no-enc.xml',
  'Sob_219999830019_fac-Cta_Ajena-enc.xml',
];

const amountIn = (xml: string, name: string): Big => Big(field(xml, name)?.trim() ?? 0);
const between = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<ns0:${name}[ >].*?</ns0:${name}>`, 'gs'))].map(([text]) => text);
const kindOf = (line: string): IvaType | undefined =>
  (Object.keys(IVA_TYPES) as IvaType[]).find(
    (kind) => String(IVA_TYPES[kind]) === field(line, 'IndFact')?.trim(),
  );

/** The receipts of a sample sobre that are of the nine types. */
function samplesIn(file: string): Sample[] {
  const sobre = readFileSync(join(XSD_DIR, 'samples', file), 'latin1');
  return between(sobre, 'CFE').flatMap((xml) => {
    const type = cfeTypeOfCode(Number(field(xml, 'TipoCFE')));
    if (type === undefined) return [];
    const items = between(xml, 'Item');
    const lines = items.flatMap((item) => {
      const iva_type = kindOf(item);
      const product = amountIn(item, 'Cantidad').times(amountIn(item, 'PrecioUnitario'));
      return iva_type ? [{ iva_type, item_amount: amountIn(item, 'MontoItem'), product }] : [];
    });
    expect(lines).toHaveLength(items.length);
    return [{ type, xml, lines }];
  });
}

describe("the receipts of the authority's sample sobres that are of our types", () => {
  testWithOfficialFiles('are e-Tickets and e-Facturas with their notes', () => {
    const types = SAMPLES.flatMap(samplesIn).map(({ type }) => type);

    // The two of fac-Cta_Ajena are on behalf of others (141, one of them encrypted): not of the nine.
    expect(types).toEqual(['ETICKET', 'ETICKET_NC', 'ETICKET_ND', 'EFACTURA', 'EFACTURA_NC']);
  });

  testWithOfficialFiles('have lines and totals that pass our arithmetic', () => {
    for (const { type, xml, lines } of SAMPLES.flatMap(samplesIn)) {
      const sums = sumsByKind(lines);
      const reading = readPrices(sums, vatPercents(field(xml, 'FchEmis') ?? ''), {
        minimum: { base: amountIn(xml, 'MntNetoIvaTasaMin'), vat: amountIn(xml, 'MntIVATasaMin') },
        basic: { base: amountIn(xml, 'MntNetoIVATasaBasica'), vat: amountIn(xml, 'MntIVATasaBasica') },
      });
      const total = outsideRates(sums).plus(reading.taxed[0] ?? 0);
      const pay = total.plus(nonBillable(sums));

      expect(lines.map(({ product }) => String(roundHalfUp(product, 2)))).toEqual(
        lines.map(({ item_amount }) => String(item_amount)),
      );
      expect([type, reading.prices]).toEqual([type, field(xml, 'MntBruto') === '1' ? 'gross' : 'net']);
      expect([String(sums.EXEMPT), String(total), String(pay)]).toEqual(
        ['MntNoGrv', 'MntTotal', 'MntPagar'].map((name) => String(amountIn(xml, name))),
      );
    }
  });
});
