import type { EntityManager } from '@mikro-orm/postgresql';
import { type Act, recordAudit } from '../../db/audit.ts';
import type { CommandDeps } from './deps.ts';

/** Writes into the audit, with the open transaction, what the caller of a command does. */
export function audited(
  deps: Pick<CommandDeps, 'actor'>,
  em: EntityManager,
  act: Omit<Act, 'actor'>,
  now: Date,
): void {
  recordAudit(em, { actor: deps.actor ?? 'service', ...act }, now);
}
