import type { EntityManager } from '@mikro-orm/postgresql';
import { enqueue } from '../../db/outbox.ts';
import { factsChangedMessage } from '../../temporal.ts';

/** Starts an enterprise's onboarding, in the open transaction. */
export function startOnboarding(em: EntityManager, rut: string, now: Date): void {
  const { signal: _, ...start } = factsChangedMessage(rut);
  enqueue(em, start, now);
}

/** Notifies an enterprise's onboarding, in the open transaction, of a change that it may wait for. */
export function signalFactsChanged(em: EntityManager, rut: string, now: Date): void {
  enqueue(em, factsChangedMessage(rut), now);
}
