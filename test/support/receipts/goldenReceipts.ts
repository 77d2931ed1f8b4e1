import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Big from 'big.js';
import { specialKindFaults } from '../../../src/domain/numbers/cae.ts';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import { parseCfeId } from '../../../src/domain/receipts/cfeId.ts';
import { readCfeRequest } from '../../../src/domain/receipts/cfeReading.ts';
import type { OriginalCfe } from '../../../src/domain/receipts/cfeRule.ts';
import { checkCfe } from '../../../src/domain/receipts/cfeRules.ts';
import { CFE_TYPE_NAMES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { readJson } from '../../../src/domain/values/json.ts';
import { CIRCUMSTANCES, circumstancesOf, TODAY, UI_VALUE } from './goldenCircumstances.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/receipts');

/**
 * A request of the API and the XML that is to come of it: `<TYPE>/<number>-<what it shows>.json`, `.xml`. The number
 * is both the fiscal number and the last part of the cfe_id by which notes name it.
 */
export interface Golden {
  readonly type: CfeType;
  /** `ETICKET/01-whatItShows`. */
  readonly name: string;
  readonly number: number;
  /** The request as JSON text. */
  readonly request: string;
  /** Path of the XML. */
  readonly xmlFile: string;
}

/** All golden receipts, by type and number. Throws when two of a type have one number. */
export function goldenReceipts(): Golden[] {
  const all = CFE_TYPE_NAMES.flatMap((type) =>
    readdirSync(join(FOLDER, type))
      .filter((file) => file.endsWith('.json'))
      .toSorted()
      .map((file): Golden => {
        const name = `${type}/${file.slice(0, -'.json'.length)}`;
        return {
          type,
          name,
          number: Number.parseInt(file, 10),
          request: readFileSync(join(FOLDER, type, file), 'utf8'),
          xmlFile: join(FOLDER, `${name}.xml`),
        };
      }),
  );
  const names = new Set(all.map(({ name }) => name));
  const stray = Object.keys(CIRCUMSTANCES).filter((name) => !names.has(name));
  if (new Set(all.map(({ type, number }) => `${type} ${number}`)).size < all.length || stray.length > 0)
    throw new Error(`golden receipts: a number stands twice, or there is none called ${stray.join(', ')}`);
  return all;
}

/** The CFEs that come of golden requests, each made once. Throws, with the faults, for a request that is refused. */
export function issuing(all: readonly Golden[]): (golden: Golden) => CfeDocument {
  const issued = new Map<Golden, CfeDocument>();
  const documentOf = (golden: Golden): CfeDocument => {
    const document =
      issued.get(golden) ?? issue(golden, (cfe) => originalOf(golden, cfe, { all, documentOf }));
    issued.set(golden, document);
    return document;
  };
  return documentOf;
}

function issue(golden: Golden, find: (cfeId: string) => OriginalCfe): CfeDocument {
  const json = readJson(golden.request);
  if (!json.ok) throw new Error(`${golden.name}: ${JSON.stringify(json.faults)}`);
  const reading = readCfeRequest(json.value, TODAY);
  const named = (reading.parts.referred ?? []).flatMap((one) => (one.kind === 'known' ? [one.cfeId] : []));
  const originals = new Map(named.map((cfeId) => [cfeId, find(cfeId)]));
  const context = { today: TODAY, uiValue: UI_VALUE, lastRate: null, originals, issuedHere: new Map() };
  const checked = checkCfe(reading, context);
  if (!checked.ok) throw new Error(`${golden.name}: ${JSON.stringify(checked.faults)}`);
  const circumstances = circumstancesOf(golden);
  const faults = specialKindFaults(
    circumstances.cae.special?.kind ?? null,
    checked.content.lines.map(({ ivaType }) => ivaType),
  );
  if (faults.length > 0) throw new Error(`${golden.name}: ${JSON.stringify(faults)}`);
  return { ...checked.content, ...circumstances };
}

/** The golden receipt that another names, with what credit notes of lower numbers took from it. */
function originalOf(
  note: Golden,
  cfeId: string,
  { all, documentOf }: { all: readonly Golden[]; documentOf: (golden: Golden) => CfeDocument },
): OriginalCfe {
  const named = parseCfeId(cfeId);
  const original = all.find((one) => one.type === named?.type && one.number === named.sequence);
  if (!original) throw new Error(`${note.name} names ${cfeId}, which is no golden receipt`);
  const document = documentOf(original);
  const credited = all
    .filter((one) => one.type === note.type && one.type.endsWith('_NC') && one.number < note.number)
    .flatMap((one) => documentOf(one).references ?? [])
    .filter(({ cfe }) => cfe?.cfeId === cfeId)
    .reduce((sum, { cfe }) => sum.plus(cfe?.value?.amount ?? 0), Big(0));
  return { document, status: 'ACCEPTED', reportOnly: false, credited: credited.toFixed(2) };
}
