import type { EntityManager } from '@mikro-orm/postgresql';
import { type Act, recordAudit } from '../../db/operations/audit.ts';
import type { CommandDeps } from './deps.ts';

/** Audits the act of a command's caller, in the open transaction. */
export function auditAct(
  deps: Pick<CommandDeps, 'actor' | 'origin'>,
  em: EntityManager,
  act: Omit<Act, 'actor' | 'origin'>,
  now: Date,
): void {
  recordAudit(em, { actor: deps.actor ?? 'service', origin: deps.origin, ...act }, now);
}
