import * as z from 'zod';
import { CFE_TYPES, type CfeType, cfeTypeOfCode } from './cfeTypes.ts';
import { CFE_WORDS } from './fieldWords.ts';
import { addIssue } from './issue.ts';

/** The parts of a cfe_id: the type, and the place in the enterprise's sequence for that type and environment. */
export interface CfeIdParts {
  readonly type: CfeType;
  readonly sequence: number;
}

/** The largest sequence that can be stored; a larger one names no CFE. */
const LAST_SEQUENCE = 2_147_483_647;

/** Stands for the place in texts that are made before it is known; whoever gives the place puts it there. */
export const PLACE_MARK = '{place}';

/** The place of a CFE in its sequence, or the mark for one that has none yet. */
export type Place = number | typeof PLACE_MARK;

/** The cfe_id of a CFE: `101-1` (docs/contract.md#cfe_id). */
export function formatCfeId({
  type,
  sequence,
}: {
  readonly type: CfeType;
  readonly sequence: Place;
}): string {
  return `${CFE_TYPES[type].code}-${sequence}`;
}

/** The parts of a cfe_id, or undefined when `text` is not one. */
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
    const found = value.length <= 20 ? JSON.stringify(value) : 'a longer string';
    const expected = 'must be a type code, a hyphen and a number, such as 101-1';
    addIssue(ctx, 'cfe_id.malformed', `${expected}, found ${found}.`);
  })
  .meta({
    description: CFE_WORDS.cfe_id.description,
    pattern: '^(101|102|103|111|112|113|121|122|123)-[1-9][0-9]{0,29}$',
    examples: ['101-1'],
  });
