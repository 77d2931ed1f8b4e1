import type { EntityManager } from '@mikro-orm/postgresql';
import type { Annulment } from '../../db/entities/numbers.ts';
import {
  annulUnusedNumbers,
  type CaeRow,
  findCaeOfSpan,
  listAnnulmentsOfSpan,
  type NumberSpan,
} from '../../db/numbers/numbers.ts';
import { lockNumbering } from '../../db/receipts/cfes.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { requireKnownEnterprise } from '../steps/requireEnterprise.ts';

export interface AnnulNumbersInput extends NumberSpan {
  rut: string;
  environment: Environment;
  type: CfeType;
  serie: string;
  reason: string;
}

/**
 * Annuls unused numbers by hand, permanently; today's daily report informs the authority. For operators and
 * the owner. Throws NOT_FOUND for an unknown RUT, and INVALID_INPUT unless all numbers are in one CAE, beyond
 * its last used number, and none is annulled yet.
 */
export function annulNumbers(deps: CommandDeps, input: AnnulNumbersInput): Promise<Annulment[]> {
  const { rut, environment, type, serie, from, to, reason } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    await requireKnownEnterprise(em, rut);
    // Numbering takes this lock before it reads which numbers are withheld.
    await lockNumbering(em, { rut, environment, type });
    const cae = await requireUnusedRange(em, input);
    const now = deps.clock();
    const facts = { reason: 'by_hand', typedReason: reason, reportDate: montevideoDate(now), now } as const;
    const annulled = await annulUnusedNumbers(em, cae.id, { from, to }, facts);
    const act = {
      action: 'annulment.add',
      subject: cae.id,
      rut,
      reason: `${type} ${serie} ${from} to ${to}: ${reason}`,
    } as const;
    auditAct(deps, em, act, now);
    return annulled;
  });
}

/** Returns the CAE in which all of the numbers are still unused. */
async function requireUnusedRange(em: EntityManager, input: AnnulNumbersInput): Promise<CaeRow> {
  const { rut, type, serie, from, to } = input;
  const cae = await findCaeOfSpan(em, input);
  if (!cae) throw invalidRange(`${rut} has no CAE of type ${type} that holds ${serie} ${from} to ${to}.`);
  if (from <= cae.lastNumber)
    throw invalidRange(
      `${serie} ${cae.lastNumber} and below were used or skipped; only later numbers can be annulled by hand.`,
    );
  const [annulled] = await listAnnulmentsOfSpan(em, cae.id, { from, to });
  if (annulled)
    throw invalidRange(`${serie} ${annulled.fromNumber} to ${annulled.toNumber} are already annulled.`);
  return cae;
}

const invalidRange = (message: string): Refusal => new Refusal('INVALID_INPUT', message);
