import { z } from 'zod';
import type { Outage } from '../outage.ts';
import { read } from './input.ts';
import type { PortalRoute } from './route.ts';

const Order = z.strictObject({ seconds: z.number().min(0).max(1_000_000) });

const shown = (outage: Outage) => ({ is_down: outage.isOn(), refused: outage.refused });

/** Takes the SOAP paths of both environments down for some seconds; 0 brings them back. */
export const putOutage: PortalRoute = {
  method: 'PUT',
  path: '/portal/outage',
  handle({ body }, { outage }) {
    outage.begin(read(Order, body).seconds);
    return { status: 200, json: shown(outage) };
  },
};

/** Whether the SOAP paths are down, and how many requests they have refused since. */
export const getOutage: PortalRoute = {
  method: 'GET',
  path: '/portal/outage',
  handle: (_request, { outage }) => ({ status: 200, json: shown(outage) }),
};
