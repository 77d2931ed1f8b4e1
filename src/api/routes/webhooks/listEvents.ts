import * as z from 'zod';
import { findEventPosition, listEventsAfter } from '../../../db/webhooks/events.ts';
import { SelectableEventName } from '../../../domain/requests/enums.ts';
import type { RequestRule } from '../../../domain/requests/requestRules.ts';
import { isUuid } from '../../../domain/values/uuid.ts';
import { wholeNumber } from '../../../domain/values/wholeNumber.ts';
import { invalidInput } from '../../../errors.ts';
import { EventListView, listedEventView } from '../../../views/webhooks/listedEvent.ts';
import { defineRoute } from '../../route.ts';

const LARGEST_PAGE = 100;
const USUAL_PAGE = 25;

/**
 * GET /events: lists the events selected by the account's webhooks, in order
 * (docs/contract.md#reading-events).
 */
export const listEventsRoute = defineRoute({
  name: 'listEvents',
  method: 'GET',
  path: '/events',
  summary: 'List events',
  about:
    'The events selected by at least one webhook of the account, each once and in order, as sent to webhooks: clients catch up here after an outage. New events are only ever added after those you have read. Events are kept for at least 30 days. Events of sandbox CFEs are included.',
  auth: 'token',
  role: null,
  query: z.strictObject({
    after: z
      .string()
      .optional()
      .meta({
        description:
          'Id of the last event that you have, or `next` of the last page: lists the events after it. Omitted, the list starts with the oldest kept event. An unknown or expired id is refused with `events.after_unknown`.',
        examples: ['0c0e1ab1-0000-4000-8000-000000000001'],
      }),
    limit: wholeNumber({ minimum: 1, maximum: LARGEST_PAGE })
      .optional()
      .meta({ description: `How many events to return at most. Default: ${USUAL_PAGE}.`, examples: [100] }),
    event: SelectableEventName.optional().meta({
      description: 'Only events of this name.',
      examples: ['cfe.updated'],
    }),
  }),
  success: { status: 200, description: 'A page of events, the oldest first.', schema: EventListView },
  async handle({ query, caller: { accountId } }, { orm }) {
    const { after: id, limit = USUAL_PAGE, event } = query;
    const em = orm.em.fork();
    const after = id === undefined ? 0n : isUuid(id) ? await findEventPosition(em, accountId, id) : null;
    if (after === null) {
      const message =
        'after: must be the id of an event that you have read and that is still kept; omit it to start with the oldest.';
      const code: RequestRule = 'events.after_unknown';
      throw invalidInput([{ path: '/query/after', code, message }]);
    }
    const { events, next } = await listEventsAfter(em, { accountId, after, event, limit });
    return { items: events.map(listedEventView), next };
  },
});
