import * as z from 'zod';
import { CFE_FIELD_WORDS } from '../requests/fieldWords.ts';
import { addIssue, quoted } from '../values/issue.ts';
import { CFE_TYPES, type CfeType, cfeTypeOfCode } from './cfeTypes.ts';

/** The parts of a cfe_id: the type, and the sequence number of the enterprise for that type and environment. */
export interface CfeIdParts {
  readonly type: CfeType;
  readonly sequence: number;
}

/** The largest sequence number that can be stored; larger ones match no CFE. */
const LAST_SEQUENCE = 2_147_483_647;

/** Placeholder in texts that are written before the sequence number is known; numbering the CFE replaces it. */
export const SEQUENCE_MARK = '{sequence}';

/** A sequence number, or its placeholder. */
export type SequenceNumber = number | typeof SEQUENCE_MARK;

/** Formats a cfe_id: `101-1` (docs/contract.md#cfe_id). */
export function formatCfeId({
  type,
  sequence,
}: {
  readonly type: CfeType;
  readonly sequence: SequenceNumber;
}): string {
  return `${CFE_TYPES[type].code}-${sequence}`;
}

/** Parses a cfe_id; undefined when malformed. */
export function parseCfeId(text: string): CfeIdParts | undefined {
  const parts = /^(\d{3})-([1-9]\d{0,29})$/.exec(text);
  if (parts === null) return undefined;
  const type = cfeTypeOfCode(Number(parts[1]));
  return type === undefined ? undefined : { type, sequence: Math.min(Number(parts[2]), LAST_SEQUENCE) };
}

/** The schema of a cfe_id; the value stays a string. */
export const CfeId = z
  .string()
  .superRefine((value, ctx) => {
    if (parseCfeId(value) !== undefined) return;
    const expected = 'must be a type code, a hyphen and a number, such as 101-1';
    addIssue(ctx, 'cfe_id.malformed', `${expected}, found ${quoted(value)}.`);
  })
  .meta({
    description: CFE_FIELD_WORDS.cfe_id.description,
    pattern: '^(101|102|103|111|112|113|121|122|123)-[1-9][0-9]{0,29}$',
    examples: ['101-1'],
  });
