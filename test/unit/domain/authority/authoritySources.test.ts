import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { CFE_TYPES } from '../../../../src/domain/receipts/cfeTypes.ts';
import { CountryCode } from '../../../../src/domain/values/countries.ts';
import { testWithOfficialFiles } from '../../../support/simulator/tools.ts';
import { XSD_DIR } from '../../../support/simulator/world.ts';

/** The values that a type of DGITypes.xsd enumerates. */
function valuesOf(type: string): string[] {
  const schema = readFileSync(join(XSD_DIR, 'xsd/DGITypes.xsd'), 'latin1');
  const definition = new RegExp(`name="${type}"[\\s\\S]*?</xs:simpleType>`).exec(schema)?.[0] ?? '';
  return [...definition.matchAll(/enumeration value="([^"]+)"/g)].map(([, value = '']) => value);
}

describe('against the official schemas', () => {
  testWithOfficialFiles('the countries are those of CodPaisType', () => {
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'.split('');
    const pairs = characters.flatMap((first) => characters.map((second) => first + second));
    const taken = pairs.filter((code) => CountryCode.safeParse(code).success);
    expect(taken.toSorted()).toEqual(valuesOf('CodPaisType').toSorted());
  });

  testWithOfficialFiles('sale modes are those of ModVentaType', () => {
    const ours = new Set(Object.values(CFE_TYPES).flatMap(({ saleModes }): readonly number[] => saleModes));
    expect([...ours].toSorted((a, b) => a - b)).toEqual(valuesOf('ModVentaType').map(Number));
  });
});
