import type { EntityManager } from '@mikro-orm/postgresql';
import { enqueue } from '../../db/outbox.ts';
import { factsChangedMessage } from '../../temporal.ts';

/** Starts an enterprise's onboarding with the open transaction. */
export function startOnboarding(em: EntityManager, rut: string, now: Date): void {
  const { signal: _, ...start } = factsChangedMessage(rut);
  enqueue(em, start, now);
}

/** Tells an enterprise's onboarding, with the open transaction, that something it may wait for has changed. */
export function tellFactsChanged(em: EntityManager, rut: string, now: Date): void {
  enqueue(em, factsChangedMessage(rut), now);
}
