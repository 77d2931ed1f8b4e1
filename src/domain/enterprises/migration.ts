/** The move of an enterprise from another system (docs/contract.md#migrating). */
import { addDays } from '../values/montevideo.ts';

/** The facts that decide the steps of a move. */
export interface MigrationFacts {
  /** The first day on which this service issues and reports, `YYYY-MM-DD`. */
  readonly from: string;
  readonly hasCertificate: boolean;
  readonly hasCae: boolean;
  /** Whether a CAE does not continue where the other system stopped, or the authority's answer on it is awaited. */
  readonly hasDoubtfulCae: boolean;
  readonly isReady: boolean;
  readonly isListed: boolean;
}

export interface MigrationStep {
  readonly code: string;
  readonly text: string;
  /** Always false for steps in the other system or in the authority's portal, which this service cannot see. */
  readonly done: boolean;
}

/** Returns the steps of a move in order, without its date. */
export function migrationSteps(facts: MigrationFacts): MigrationStep[] {
  const { from } = facts;
  const dayBefore = addDays(from, -1);
  const steps: readonly (readonly [code: string, text: string, done?: boolean])[] = [
    [
      'archive',
      'Take all XML, issued and received, and the answers out of the other system: the company must keep them.',
    ],
    [
      'certificate',
      'Upload a certificate. If the other provider has the key of the old one, revoke that one.',
      facts.hasCertificate,
    ],
    [
      'caes',
      'Upload new CAEs; or the old ones, with the first number that the other system does not use: `cae list` shows where the authority knows otherwise.',
      facts.hasCae && !facts.hasDoubtfulCae,
    ],
    [
      'issuer_listed',
      'The authority’s list of electronic issuers names the company, so is_authorized_issuer is true.',
      facts.isListed,
    ],
    ['ready', 'The enterprise is READY; `enterprise show` names what is missing.', facts.isReady],
    [
      'other_system_stops',
      `On the evening of ${dayBefore} the other system stops issuing, sends all that waits and asks for every state.`,
    ],
    [
      'last_report',
      `The other system sends the daily report of ${dayBefore}, and corrects its days for 60 days more.`,
    ],
    [
      'mailbox',
      'One system reads the mailbox for other issuers: the old one stops, then the new one starts.',
    ],
    ['verification', 'The site that printed e-Tickets name for their verification keeps answering.'],
    ['software', 'Declare the software in the authority’s portal by the end of the second month after.'],
    [
      'provider_reports',
      'The other provider reports the end of the customer, this one the beginning, in the same month.',
    ],
  ];
  return steps.map(([code, text, done = false]) => ({ code, text, done }));
}
