import type { Origin } from '../../db/operations/audit.ts';
import type { Database } from '../../db/orm.ts';
import type { Actor } from '../../domain/operations/audit.ts';
import type { Caps } from '../../domain/people/caps.ts';

/** Dependencies of every command. */
export interface CommandDeps {
  readonly orm: Database;
  /** The caller, for the audit; the service itself when omitted. */
  readonly actor?: Actor;
  /** The caller's address and API key, for the audit; omitted when the service itself acts. */
  readonly origin?: Origin;
  /** Limits per account and enterprise; USUAL_CAPS when omitted. */
  readonly caps?: Caps;
  /** The only addresses that receive sandbox e-mails; none when omitted. */
  readonly sandboxMails?: readonly string[];
  readonly clock: () => Date;
  readonly outbox: {
    /** Dispatches stored messages in the background. Never throws. */
    scheduleDispatch(): void;
  };
}
