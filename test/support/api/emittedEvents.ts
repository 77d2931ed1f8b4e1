import { isDeepStrictEqual } from 'node:util';
import type { EventArgs, EventSubscriber } from '@mikro-orm/postgresql';
import { Event } from '../../../src/db/entities/webhooks.ts';
import { exactNumber } from '../../../src/domain/values/exactNumber.ts';

/**
 * Holds every event that the service emits in a test against what the description says of it, field by field: whoever
 * emits one that is not described is refused on the spot. Rows that a test makes itself do not pass here.
 */
export const EMITTED_AS_DESCRIBED: EventSubscriber<Event> = {
  getSubscribedEntities: () => [Event],
  afterCreate: ({ entity }: EventArgs<Event>) => asDescribed(entity.body),
};

async function asDescribed(body: string): Promise<void> {
  const { WEBHOOK_EVENT_VIEWS } = await import('../../../src/views/webhooks/webhookEvents.ts');
  // Amounts are described as they are made, before they are written.
  const value = JSON.parse(body, (key, part: unknown) =>
    key === 'amount' ? exactNumber(String(part)) : part,
  ) as { event: keyof typeof WEBHOOK_EVENT_VIEWS };
  const read: unknown = WEBHOOK_EVENT_VIEWS[value.event].parse(value);
  if (isDeepStrictEqual(read, value)) return;
  throw new Error(
    `an event that openapi.json does not describe: ${body}\nIt describes of it: ${JSON.stringify(read)}`,
  );
}
