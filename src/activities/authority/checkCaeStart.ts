import type { KeyObject } from 'node:crypto';
import { findCurrentSigner } from '../../db/enterprises/certificates.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { type CaeRow, endCaeStart, requireCae, storeCaeStart } from '../../db/numbers/numbers.ts';
import type { Orm } from '../../db/orm.ts';
import type { DgiClient } from '../../dgi/client.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import type { CaeStartResult } from '../../domain/authority/activityResults.ts';
import { caeStartFindings, isCaeStartOver } from '../../domain/numbers/caeStart.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Activity } from '../activities.ts';
import {
  authorityRefuses,
  authorityUnreachable,
  keepReservedQuestion,
  notYet,
  takeReservedQuestion,
  withHeartbeat,
} from './attempt.ts';
import { openCredentials } from './openCredentials.ts';

interface CheckCaeStartDeps {
  orm: Orm;
  clock: () => Date;
  client: Pick<DgiClient, 'findCfe'>;
  gate: Pick<Gate, 'untilQuestion'>;
  privateKeyOf: (certificate: Certificate) => KeyObject;
}

/** A finding may end once the other system has sent its last CFEs. */
const ASKED_AGAIN_MILLISECONDS = 86_400_000;

/**
 * Asks the authority about the first number of a CAE and the number before, and stores the findings
 * (docs/contract.md#first-number). A repeat asks again and stores the new findings.
 */
export function createCheckCaeStart(deps: CheckCaeStartDeps): Activity<'checkCaeStart'> {
  return (caeId) => withHeartbeat(() => check(deps, caeId));
}

async function check(deps: CheckCaeStartDeps, caeId: string): Promise<CaeStartResult> {
  const em = deps.orm.em.fork();
  const cae = await requireCae(em, caeId);
  const first = cae.startNumber;
  const known = cae.startFindings ?? [];
  if (!cae.startOpen || first == null) return { kind: 'ended', findings: known };
  if (isCaeStartOver(cae, deps.clock())) {
    await endCaeStart(em, caeId);
    return { kind: 'ended', findings: known };
  }
  const certificate = await findCurrentSigner(em, cae.rut, cae.environment);
  if (!certificate) return { kind: 'noCertificate' };
  const credentials = openCredentials(deps.privateKeyOf, certificate);
  // One slot for both queries: such CAEs are few, and a second wait could follow the first forever.
  const later = await deps.gate.untilQuestion(cae.environment, takeReservedQuestion());
  if (later) {
    keepReservedQuestion(later.reserved);
    throw notYet('Others are asked about first.', later.milliseconds);
  }
  const currentFindings = caeStartFindings({
    isBeforeKnown: await isKnown(deps, credentials, cae, first - 1),
    isFirstKnown: cae.lastNumber < first ? await isKnown(deps, credentials, cae, first) : null,
  });
  const findings = await storeCaeStart(deps.orm.em.fork(), caeId, currentFindings);
  return findings.length === 0
    ? { kind: 'ended', findings }
    : { kind: 'goesOn', findings, againInMilliseconds: ASKED_AGAIN_MILLISECONDS };
}

/** Returns whether the authority has a CFE with the number; throws a failure that is retried without an answer. */
async function isKnown(
  { client }: CheckCaeStartDeps,
  credentials: DgiCredentials,
  { environment, type, serie }: CaeRow,
  numero: number,
): Promise<boolean> {
  const { code: typeCode } = CFE_TYPES[type];
  const answer = await client.findCfe(credentials, environment, { typeCode, serie, numero });
  if (answer.kind === 'stuck') throw authorityRefuses(answer.reason);
  if (answer.kind === 'repeat') throw authorityUnreachable(answer.description);
  return answer.kind === 'found';
}
