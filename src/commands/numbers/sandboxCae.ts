import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Cae } from '../../db/entities/numbers.ts';
import { endSandboxCaes, findCaes, insertCae } from '../../db/numbers/numbers.ts';
import { lockNumbering, type Numbering } from '../../db/receipts/cfes.ts';
import { type CaeFacts, caeFaults, caeStatus } from '../../domain/numbers/cae.ts';
import { caeFault } from '../../domain/numbers/caeRules.ts';
import { type InventedCae, inventedCae } from '../../domain/numbers/inventedCae.ts';
import { CFE_TYPES, type CfeType } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { invalidInput } from '../../errors.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';

/**
 * Replaces the sandbox CAE of a type by an invented CAE (src/domain/numbers/inventedCae.ts) for later numbers; `own`: parts
 * that the operator sets. Used numbers of the serie are never used again. Operators only. Throws INVALID_INPUT for a range or
 * date that no CAE may have, and for a range that is used up.
 */
export function replaceSandboxCae(
  deps: CommandDeps,
  { rut, type, own }: { rut: string; type: CfeType; own: Partial<InventedCae> },
): Promise<Cae> {
  return changeEnterprise(deps, rut, { action: 'cae.sandbox' }, async (em, _, now) => {
    const cae = { ...inventedCae(type, montevideoDate(now)), ...own };
    const numbering = { rut, environment: 'sandbox', type } as const;
    const faults = caeFaults(factsOf(cae, numbering, now), {
      rut,
      startNumber: cae.numberStart,
      today: montevideoDate(now),
      storedRanges: [],
    });
    if (faults.length > 0) throw invalidInput(faults);
    await lockNumbering(em, numbering);
    const used = await endSandboxCaes(em, numbering, cae.serie);
    const numberStart = Math.max(cae.numberStart, used + 1);
    if (numberStart > cae.numberEnd) {
      const message = `All numbers of serie ${cae.serie} up to ${used} were used; begin above it.`;
      throw invalidInput([caeFault('cae.none_left', message)]);
    }
    return insertInvented(em, numbering, { ...cae, numberStart }, now);
  });
}

/**
 * Gives a type of the sandbox an invented CAE, in a serie without an earlier CAE, unless a concurrent request has just done
 * so.
 */
export async function inventSandboxCae(
  deps: CommandDeps,
  { rut, type }: { rut: string; type: CfeType },
): Promise<void> {
  await changeEnterprise(deps, rut, { action: 'cae.sandbox' }, async (em, _, now) => {
    const today = montevideoDate(now);
    const caes = (await findCaes(em, rut, 'sandbox')).filter((cae) => cae.type === type);
    if (caes.some((cae) => caeStatus(cae, today) === 'OK')) return;
    const serie = SERIES.find((one) => caes.every((cae) => cae.serie !== one)) ?? 'A';
    await insertInvented(
      em,
      { rut, environment: 'sandbox', type },
      { ...inventedCae(type, today), serie },
      now,
    );
  });
}

const SERIES = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');

const factsOf = (cae: InventedCae, { rut, type }: Numbering, now: Date): CaeFacts => ({
  ...cae,
  issuerRut: rut,
  typeCode: CFE_TYPES[type].code,
  issueDate: firstDay(now),
});

const firstDay = (now: Date): string => `${montevideoDate(now).slice(0, 4)}-01-01`;

const insertInvented = (em: EntityManager, numbering: Numbering, cae: InventedCae, now: Date): Promise<Cae> =>
  insertCae(em, {
    ...numbering,
    ...cae,
    id: randomUUID(),
    lastNumber: cae.numberStart - 1,
    issueDate: firstDay(now),
    specialKind: null,
    specialCause: null,
    startNumber: null,
    xml: null,
    createdAt: now,
  });
