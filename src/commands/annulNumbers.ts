import type { EntityManager } from '@mikro-orm/postgresql';
import { lockNumbering } from '../db/cfes.ts';
import { findEnterprise } from '../db/enterprises.ts';
import type { Annulment } from '../db/entities/numbers.ts';
import {
  annulUnusedNumbers,
  type CaeRow,
  findCaeOfSpan,
  listAnnulmentsOfSpan,
  type NumberSpan,
} from '../db/numbers.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

export interface AnnulNumbersInput extends NumberSpan {
  rut: string;
  environment: Environment;
  type: CfeType;
  serie: string;
  reason: string;
}

/**
 * Annuls numbers that were never given, by hand and for ever: numbering passes over them, and the daily report of today
 * tells the authority. An operator's act, or the owner's. Refuses (INVALID_INPUT) unless all of them lie in one CAE, beyond the last
 * number that it gave, and none is annulled already; an unknown RUT is NOT_FOUND.
 */
export function annulNumbers(deps: CommandDeps, input: AnnulNumbersInput): Promise<Annulment[]> {
  const { rut, environment, type, serie, from, to, reason } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    if (!(await findEnterprise(em, rut)))
      throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    // Whoever takes a number waits for this lock first, and sees then what is withheld.
    await lockNumbering(em, { rut, environment, type });
    const cae = await ungivenIn(em, input);
    const now = deps.clock();
    const of = { reason: 'by_hand', typedReason: reason, reportDate: montevideoDate(now), now } as const;
    const annulled = await annulUnusedNumbers(em, cae.id, { from, to }, of);
    const act = {
      action: 'annulment.add',
      subject: cae.id,
      rut,
      reason: `${type} ${serie} ${from} to ${to}: ${reason}`,
    } as const;
    audited(deps, em, act, now);
    return annulled;
  });
}

/** The CAE that has all of the numbers still to give. */
async function ungivenIn(em: EntityManager, input: AnnulNumbersInput): Promise<CaeRow> {
  const { rut, type, serie, from, to } = input;
  const cae = await findCaeOfSpan(em, input);
  if (!cae) throw refused(`${rut} has no CAE of type ${type} that holds ${serie} ${from} to ${to}.`);
  if (from <= cae.lastNumber)
    throw refused(
      `${serie} ${cae.lastNumber} and below were given, or are elsewhere; only later numbers can be annulled by hand.`,
    );
  const [annulled] = await listAnnulmentsOfSpan(em, cae.id, { from, to });
  if (annulled)
    throw refused(`${serie} ${annulled.fromNumber} to ${annulled.toNumber} are annulled already.`);
  return cae;
}

const refused = (message: string): Refusal => new Refusal('INVALID_INPUT', message);
