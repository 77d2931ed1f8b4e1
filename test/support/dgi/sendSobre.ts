import type { DgiClient, SendAnswer } from '../../../src/dgi/client.ts';

/** Signs the request for a sobre and sends it at once. */
export const sendSobre = (
  client: DgiClient,
  ...[credentials, environment, sobre, departure]: [
    ...Parameters<DgiClient['signSobre']>,
    departure?: Parameters<DgiClient['sendSobre']>[1],
  ]
): Promise<SendAnswer> => client.sendSobre(client.signSobre(credentials, environment, sobre), departure);
