import type { EntityManager } from '@mikro-orm/postgresql';
import { type Act, recordAudit } from '../../db/audit.ts';
import type { CommandDeps } from './deps.ts';

/** Writes into the audit, with the open transaction, what the caller of a command does. */
export function audited(
  deps: Pick<CommandDeps, 'actor' | 'origin'>,
  em: EntityManager,
  act: Omit<Act, 'actor' | 'origin'>,
  now: Date,
): void {
  recordAudit(em, { actor: deps.actor ?? 'service', origin: deps.origin, ...act }, now);
}
