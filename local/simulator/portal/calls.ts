import type { PortalRoute } from './route.ts';

/** The SOAP calls since the simulator was started, by environment and operation. */
export const getCalls: PortalRoute = {
  method: 'GET',
  path: '/portal/calls',
  handle: (_request, { calls }) => ({ status: 200, json: { items: calls.all() } }),
};
