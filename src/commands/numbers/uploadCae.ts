import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { trustedSigners } from '../../db/authority/authorityCertificates.ts';
import type { Cae } from '../../db/entities/numbers.ts';
import {
  endSandboxCaes,
  findCaes,
  hasInventedCae,
  insertCae,
  type NewCae,
} from '../../db/numbers/numbers.ts';
import { enqueue } from '../../db/outbox.ts';
import { lockNumbering } from '../../db/receipts/cfes.ts';
import { type CaeReading, readCae } from '../../dgi/xml/cae.ts';
import { caeFaults } from '../../domain/numbers/cae.ts';
import { caeFault } from '../../domain/numbers/caeRules.ts';
import { type CfeType, cfeTypeOfCode, type Environment } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { type Fault, invalidInput } from '../../errors.ts';
import { checkCaeStartMessage } from '../../temporal.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { signalFactsChanged } from '../steps/enterpriseWorkflow.ts';

type SignedCae = Extract<CaeReading, { kind: 'signed' }>;

/**
 * Adds a CAE from the file signed by the authority; numbers from `startNumber` on are usable at once. In production the
 * authority is asked later about a `startNumber` above the first. In the sandbox the CAE replaces an invented one for later
 * numbers. Throws INVALID_INPUT for a malformed or unsigned file, and with all faults of its content, such as a range with
 * numbers that were used from an invented CAE.
 */
export async function uploadCae(
  deps: CommandDeps,
  input: { rut: string; file: Uint8Array; startNumber: number; environment?: Environment },
): Promise<Cae> {
  const { rut, file, startNumber, environment = 'production' } = input;
  const reading = readCae(file);
  if (reading.kind === 'malformed') throw invalidInput([caeFault('cae.malformed')]);
  if (reading.kind === 'badSignature') throw invalidInput([caeFault('cae.signature')]);
  return changeEnterprise(deps, rut, { action: 'cae.upload' }, async (em, _enterprise, now) => {
    const trusted = await trustedSigners(em, environment);
    if (environment === 'sandbox') await endInvented(em, rut, reading);
    const context = { rut, environment, startNumber, today: montevideoDate(now), trusted };
    const faults = await findCaeFaults(em, reading, context);
    if (faults.length > 0) throw invalidInput(faults);
    const cae = await insertCae(em, caeRowOf(reading, { rut, environment, startNumber, now }));
    if (environment === 'production') signalFactsChanged(em, rut, now);
    if (cae.startOpen) enqueue(em, checkCaeStartMessage(cae), now);
    return cae;
  });
}

/** Ends the invented CAEs of a file's type, so that only their used numbers can overlap the file's range. */
async function endInvented(em: EntityManager, rut: string, { facts }: SignedCae): Promise<void> {
  const type = cfeTypeOfCode(facts.typeCode);
  if (type === undefined) return;
  const numbering = { rut, environment: 'sandbox', type } as const;
  if (!(await hasInventedCae(em, numbering))) return;
  await lockNumbering(em, numbering);
  await endSandboxCaes(em, numbering, facts.serie, { invented: true });
}

/** Without the authority's signature the content is not checked. */
async function findCaeFaults(
  em: EntityManager,
  { facts, signer }: SignedCae,
  context: {
    rut: string;
    environment: Environment;
    startNumber: number;
    today: string;
    trusted: ReadonlySet<string>;
  },
): Promise<Fault[]> {
  if (!context.trusted.has(signer.fingerprint)) return [caeFault('cae.untrusted_signer')];
  if (!signer.wasValid) return [caeFault('cae.signer_not_valid')];
  return caeFaults(facts, { ...context, storedRanges: await findCaes(em, context.rut, context.environment) });
}

function caeRowOf(
  { facts, xml }: SignedCae,
  {
    rut,
    environment,
    startNumber,
    now,
  }: { rut: string; environment: Environment; startNumber: number; now: Date },
): NewCae {
  return {
    id: randomUUID(),
    rut,
    environment,
    // Without faults the code is one of the nine.
    type: cfeTypeOfCode(facts.typeCode) as CfeType,
    serie: facts.serie,
    numberStart: facts.numberStart,
    numberEnd: facts.numberEnd,
    lastNumber: startNumber - 1,
    startNumber: environment === 'production' && startNumber > facts.numberStart ? startNumber : null,
    authorizationNumber: facts.authorizationNumber,
    issueDate: facts.issueDate,
    expirationDate: facts.expirationDate,
    specialKind: facts.special?.kind ?? null,
    specialCause: facts.special?.cause ?? null,
    xml,
    createdAt: now,
  };
}
