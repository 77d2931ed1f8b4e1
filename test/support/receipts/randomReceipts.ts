import fc from 'fast-check';
import type { CfeContent } from '../../../src/domain/receipts/cfeDocument.ts';
import { readCfeRequest } from '../../../src/domain/receipts/cfeReading.ts';
import type { OriginalCfe } from '../../../src/domain/receipts/cfeRule.ts';
import { checkCfe } from '../../../src/domain/receipts/cfeRules.ts';
import { CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { familyOf, isNote, validOriginal, validRequest } from '../arbitraries/cfeRequests.ts';
import { type JsonObject } from './exactJson.ts';

/** The day on which random receipts are asked for. */
export const TODAY = '2026-02-15';
/** The one sourced value (docs/contract.md#value-of-the-ui). */
const UI_VALUE = { year: 2026, value: '6.4208', estimate: true } as const;

/** A random request; a note's with the request of the CFE that it corrects. */
export interface RandomRequest {
  readonly type: CfeType;
  readonly body: JsonObject;
  readonly original?: JsonObject;
}

/** Requests of a type that the service takes. */
export function requestsOf(type: CfeType): fc.Arbitrary<RandomRequest> {
  const wishes = { today: TODAY, foreign: true };
  if (!isNote(type)) return validRequest(type, wishes).map((body) => ({ type, body }));
  return validOriginal(type, wishes).chain((original) => {
    const cfeId = `${CFE_TYPES[familyOf(type)].code}-1`;
    const notes = validRequest(type, { ...wishes, original: { cfeId, body: original } });
    return notes.map((body) => ({ type, body, original }));
  });
}

/** The content of a request that is to be taken. Throws, with the faults, when it is refused. */
export function contentOf(body: JsonObject, original?: OriginalCfe['document']): CfeContent {
  const reading = readCfeRequest(body, TODAY);
  const known = reading.parts.referred?.find((one) => one.kind === 'known');
  const checked = checkCfe(reading, {
    today: TODAY,
    uiValue: UI_VALUE,
    lastRate: null,
    originals: new Map(
      original && known
        ? [[known.cfeId, { document: original, status: 'ACCEPTED', reportOnly: false, credited: '0' }]]
        : [],
    ),
    issuedHere: new Map(),
  });
  if (!checked.ok) throw new Error(`refused: ${JSON.stringify(checked.faults)}`);
  return checked.content;
}
