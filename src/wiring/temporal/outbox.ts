import type { readConfig } from '../../config.ts';
import type { Orm } from '../../db/orm.ts';
import type { Logger } from '../../logger.ts';
import { createDispatcher } from '../../outbox/dispatcher.ts';
import { IDENTITY } from '../identity.ts';
import type { Closers } from '../process.ts';
import { TEMPORAL_SERVER_VARIABLES, temporalServerOf } from './temporalServer.ts';

/** Variables for the connection to Temporal. */
export const TEMPORAL_VARIABLES = [...TEMPORAL_SERVER_VARIABLES, 'TEMPORAL_NAMESPACE'] as const;

/**
 * Opens the outbox of a process, until the process ends. The outbox connects to Temporal at the first message.
 */
export function openOutbox(
  config: ReturnType<typeof readConfig<(typeof TEMPORAL_VARIABLES)[number]>>,
  { orm, logger, closers }: { orm: Orm; logger: Logger; closers: Closers },
): ReturnType<typeof createDispatcher> {
  const outbox = createDispatcher({
    orm,
    temporal: temporalServerOf(config),
    namespace: config.TEMPORAL_NAMESPACE,
    identity: IDENTITY,
    logger,
  });
  closers.add('outbox', () => outbox.close());
  return outbox;
}
