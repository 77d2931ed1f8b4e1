import type { EntityManager } from '@mikro-orm/postgresql';
import { lockNumbering, type Numbering, skipSequences } from '../db/cfes.ts';
import { type CaeRow, listAnnulmentsOfSpan, listUnexpiredCaes, skipCaeNumbers } from '../db/numbers.ts';
import { skipIdemisors } from '../db/sobres.ts';
import { chooseCae } from '../domain/cae.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Numbers looked at in one call: each is a question to the authority. */
const MOST_NUMBERS = 1_000;

/** A number at the authority, in full. */
export interface FiscalNumber {
  rut: string;
  environment: Environment;
  type: CfeType;
  serie: string;
  numero: number;
}

export interface SkipNumbersDeps extends CommandDeps {
  /**
   * What the authority has under a number: its verdict (AE, BE, null while there is none), or undefined when it has
   * nothing. Refuses when it cannot be asked (UNAVAILABLE).
   */
  readonly askAuthority: (number: FiscalNumber) => Promise<{ verdict: string | null } | undefined>;
}

export interface SkipNumbersInput {
  rut: string;
  environment: Environment;
  type: CfeType;
  /** Last number to pass over. */
  to: number;
  reason: string;
  /** Only asks the authority. */
  dryRun: boolean;
}

/** One number that is passed over. */
export interface SkippedNumber {
  serie: string;
  numero: number;
  /** Whether the authority has a CFE under it: a fiscal document that our database lost. */
  at_authority: boolean;
  verdict: string | null;
}

/**
 * Moves the numbering of a type beyond numbers that were given before the database was restored to an earlier moment:
 * never back, and with it the places of cfe_ids and the numbers of sobres, so that none of them is given twice. Every
 * number that is passed over is asked for at the authority first, and counts as elsewhere from then on; annulled ones stay
 * annulled. An operator's act. Refuses what does not lie ahead in the CAE that gives the next number, an annulled number as
 * the last, and where numbers are given meanwhile (INVALID_INPUT).
 */
export async function skipNumbers(
  deps: SkipNumbersDeps,
  { rut, environment, type, to, reason, dryRun }: SkipNumbersInput,
): Promise<SkippedNumber[]> {
  const numbering = { rut, environment, type };
  const cae = await caeAhead(deps.orm.em.fork(), deps, { ...numbering, to });
  const numbers: SkippedNumber[] = [];
  const first = cae.lastNumber + 1;
  const annulled = await listAnnulmentsOfSpan(deps.orm.em.fork(), cae.id, { from: first, to });
  const isAnnulled = (numero: number) =>
    annulled.some(({ fromNumber, toNumber }) => fromNumber <= numero && numero <= toNumber);
  if (isAnnulled(to))
    throw new Refusal(
      'INVALID_INPUT',
      `${cae.serie} ${to} is annulled, so it is never given; name another as --to.`,
    );
  for (let numero = first; numero <= to; numero += 1) {
    if (isAnnulled(numero)) continue;
    const held = await deps.askAuthority({ ...numbering, serie: cae.serie, numero });
    numbers.push({
      serie: cae.serie,
      numero,
      at_authority: held !== undefined,
      verdict: held?.verdict ?? null,
    });
  }
  if (dryRun) return numbers;

  await deps.orm.em.fork().transactional(async (em) => {
    await lockNumbering(em, numbering);
    const now = await caeAhead(em, deps, { ...numbering, to });
    if (now.id !== cae.id || now.lastNumber !== cae.lastNumber || now.numbersLeft !== cae.numbersLeft) {
      throw new Refusal(
        'INVALID_INPUT',
        'Numbers of this type were taken meanwhile; stop the API and the worker first.',
      );
    }
    await skipCaeNumbers(em, cae.id, { from: first, to });
    await skipSequences(em, numbering, numbers.length);
    await skipIdemisors(em, numbering, numbers.length);
    const which = `${type} ${cae.serie} ${first} to ${to}`;
    const act = {
      action: 'recovery.skip_numbers',
      subject: cae.id,
      rut,
      reason: `${which}: ${reason}`,
    } as const;
    audited(deps, em, act, deps.clock());
  });
  return numbers;
}

/** The CAE that gives the next number of the type, when `to` lies ahead in it. */
async function caeAhead(
  em: EntityManager,
  { clock }: CommandDeps,
  { to, ...numbering }: Numbering & { to: number },
): Promise<CaeRow> {
  const today = montevideoDate(clock());
  const cae = chooseCae(await listUnexpiredCaes(em, { ...numbering, today }), today);
  if (!cae) {
    throw new Refusal('INVALID_INPUT', `${numbering.rut} has no usable CAE of type ${numbering.type}.`);
  }
  const last = Math.min(cae.numberEnd, cae.lastNumber + MOST_NUMBERS);
  if (to > cae.lastNumber && to <= last) return cae;
  throw new Refusal(
    'INVALID_INPUT',
    `The last number of type ${numbering.type} is ${cae.serie} ${cae.lastNumber}; --to must be above it, and at most ${last}.`,
  );
}
