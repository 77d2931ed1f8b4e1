import type { Calls } from '../calls.ts';
import type { Clock } from '../clock.ts';
import type { Outage } from '../outage.ts';
import type { QueryDelay } from '../queryDelay.ts';
import type { Authority } from '../security/authority.ts';
import type { State } from '../state/database.ts';

/** What the portal works with. */
export interface PortalContext {
  readonly state: State;
  readonly authority: Authority;
  readonly clock: Clock;
  readonly outage: Outage;
  readonly queryDelay: QueryDelay;
  readonly calls: Calls;
}

/** The parameters of the path, the query, the parsed body. */
interface PortalRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An answer of the portal: JSON, or another type of content. */
type PortalAnswer =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly contentType: string; readonly text: string | Uint8Array };

/** One call of the portal. Parameters in `path` are written `{name}`. */
export interface PortalRoute {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  handle(request: PortalRequest, context: PortalContext): PortalAnswer | Promise<PortalAnswer>;
}
