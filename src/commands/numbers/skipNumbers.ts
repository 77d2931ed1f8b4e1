import type { EntityManager } from '@mikro-orm/postgresql';
import { skipIdemisors } from '../../db/authority/sobres.ts';
import { findEnterprise } from '../../db/enterprises/enterprises.ts';
import {
  type CaeRow,
  listAnnulmentsOfSpan,
  listUnexpiredCaes,
  skipCaeNumbers,
} from '../../db/numbers/numbers.ts';
import { lockNumbering, type Numbering, skipSequences } from '../../db/receipts/cfes.ts';
import { chooseCae } from '../../domain/numbers/cae.ts';
import { type CfeType, cfeTypeRow, type Environment } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Maximum numbers per call: each one is a request to the authority. */
const MOST_NUMBERS = 1_000;

/** A complete number at the authority. */
export interface FiscalNumber {
  rut: string;
  environment: Environment;
  type: CfeType;
  serie: string;
  numero: number;
}

export interface SkipNumbersDeps extends CommandDeps {
  /**
   * Returns the authority's verdict on a number (AE, BE, null without one); undefined when the authority has no such CFE.
   * Throws UNAVAILABLE when the authority cannot be asked.
   */
  readonly askAuthority: (number: FiscalNumber) => Promise<{ verdict: string | null } | undefined>;
}

export interface SkipNumbersInput {
  rut: string;
  environment: Environment;
  type: CfeType;
  /** Last number to skip. */
  to: number;
  reason: string;
  /** Queries the authority without skipping. */
  dryRun: boolean;
}

export interface SkippedNumber {
  serie: string;
  numero: number;
  /**
   * Whether the authority has a CFE with this number, which our database lost; null if it has none, but the number may
   * belong to an e-Ticket that is only reported.
   */
  at_authority: boolean | null;
  verdict: string | null;
}

/**
 * After a restore to an earlier moment, moves the numbering of a type, its cfe_ids and the numbers of sobres past all used
 * numbers, to prevent a second use. First queries the authority about each skipped number. Annulled numbers stay annulled.
 * Operators only. Throws INVALID_INPUT unless `to` is ahead in the current CAE and not annulled, and when other requests
 * take numbers meanwhile.
 */
export async function skipNumbers(
  deps: SkipNumbersDeps,
  { rut, environment, type, to, reason, dryRun }: SkipNumbersInput,
): Promise<SkippedNumber[]> {
  const numbering = { rut, environment, type };
  const cae = await requireCaeAhead(deps.orm.em.fork(), deps, { ...numbering, to });
  const numbers: SkippedNumber[] = [];
  const first = cae.lastNumber + 1;
  const annulled = await listAnnulmentsOfSpan(deps.orm.em.fork(), cae.id, { from: first, to });
  const isAnnulled = (numero: number) =>
    annulled.some(({ fromNumber, toNumber }) => fromNumber <= numero && numero <= toNumber);
  if (isAnnulled(to))
    throw new Refusal(
      'INVALID_INPUT',
      `${cae.serie} ${to} is annulled and is never used; name another as --to.`,
    );
  const enterprise = await findEnterprise(deps.orm.em.fork(), rut);
  const mayBeUnsent = cfeTypeRow(type).family === 'ticket' && enterprise?.smallTickets === 'REPORT_ONLY';
  for (let numero = first; numero <= to; numero += 1) {
    if (isAnnulled(numero)) continue;
    const known = await deps.askAuthority({ ...numbering, serie: cae.serie, numero });
    numbers.push({
      serie: cae.serie,
      numero,
      at_authority: known !== undefined || (mayBeUnsent ? null : false),
      verdict: known?.verdict ?? null,
    });
  }
  if (dryRun) return numbers;

  await deps.orm.em.fork().transactional(async (em) => {
    await lockNumbering(em, numbering);
    const { id, lastNumber, numbersLeft } = await requireCaeAhead(em, deps, { ...numbering, to });
    if (id !== cae.id || lastNumber !== cae.lastNumber || numbersLeft !== cae.numbersLeft) {
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
    auditAct(deps, em, act, deps.clock());
  });
  return numbers;
}

/** Returns the CAE that provides the next number of the type, if `to` is ahead in it. */
async function requireCaeAhead(
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
