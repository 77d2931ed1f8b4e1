import { z } from 'zod';
import { read } from './input.ts';
import type { PortalRoute } from './route.ts';

const Order = z.strictObject({ seconds: z.int().min(0).max(3_600) });

/** How long after AS the authority asks to be left alone (Fechahora), from the next sobre on. */
export const putQueryDelay: PortalRoute = {
  method: 'PUT',
  path: '/portal/query-delay',
  handle({ body }, { queryDelay }) {
    queryDelay.set(read(Order, body).seconds);
    return { status: 200, json: { seconds: queryDelay.seconds } };
  },
};
