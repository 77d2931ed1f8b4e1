import { randomUUID } from 'node:crypto';
import { OutboxMessage } from '../../src/db/entities/operations.ts';
import { Account } from '../../src/db/entities/people.ts';
import { Event } from '../../src/db/entities/webhooks.ts';
import type { Orm } from '../../src/db/orm.ts';
import { inspectEvent } from './openapi/conformance.ts';

/** A dispatcher that starts nothing: what commands store stays in the outbox, where tests look at it. */
export const idleOutbox = { scheduleDispatch(): void {}, dispatchStored(): void {} };

/** What issuing needs of the way to the workflows, which starts nothing; sends may follow one another at once. */
export const idleIssuing = { outbox: idleOutbox, pace: { spacingMilliseconds: 1, nearMilliseconds: 60_000 } };

/** A gatekeeper that looks at nothing. */
export const idleGatekeeper = { scheduleLook(): void {} };

/** An account as a caller needs one; its id. */
export async function anAccount(
  orm: Orm,
  wishes: { isDeveloper?: boolean; name?: string } = {},
): Promise<string> {
  const id = randomUUID();
  await orm.em.fork().insert(Account, {
    id,
    name: wishes.name ?? 'Estudio Contable Sur',
    email: 'sur@example.com',
    isDeveloper: wishes.isDeveloper ?? false,
    createdAt: new Date(),
  });
  return id;
}

/** What waits in the outbox for a workflow id, oldest first: workflow, signal and input. */
export async function outboxOf(
  orm: Orm,
  workflowId: string,
): Promise<{ workflow: string; signal: string | null; input: unknown }[]> {
  const messages = await orm.em.fork().find(OutboxMessage, { workflowId }, { orderBy: { id: 'asc' } });
  return messages.map(({ workflow, signal, input }) => ({ workflow, signal: signal ?? null, input }));
}

/** The events recorded for an enterprise, oldest first, as they are sent; throws where one is not as openapi.json says. */
export async function eventsOf(
  orm: Orm,
  rut: string,
): Promise<{ event: string; timestamp: string; data: Record<string, unknown> }[]> {
  const events = await orm.em.fork().find(Event, { rut }, { orderBy: { createdAt: 'asc', name: 'desc' } });
  for (const event of events) inspectEvent(event);
  return events.map(
    ({ body }) => JSON.parse(body) as { event: string; timestamp: string; data: Record<string, unknown> },
  );
}
