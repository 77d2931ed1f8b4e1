import type { Origin } from '../../db/audit.ts';
import type { Database } from '../../db/orm.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Caps } from '../../domain/caps.ts';

/** What every command is handed: where facts are stored, the clock, and the way to the workflows. */
export interface CommandDeps {
  readonly orm: Database;
  /** Who asks, for the audit; the service itself where it is left out. */
  readonly actor?: Actor;
  /** From where, for the audit; left out where the service itself acts. */
  readonly origin?: Origin;
  /** How much an account or an enterprise may have; USUAL_CAPS where it is left out. */
  readonly caps?: Caps;
  /** The only addresses that e-mails of the sandbox go to; none where it is left out. */
  readonly sandboxMails?: readonly string[];
  /** The moment now. */
  readonly clock: () => Date;
  readonly outbox: {
    /** Dispatches what was just stored, in the background; never throws. */
    scheduleDispatch(): void;
  };
}
