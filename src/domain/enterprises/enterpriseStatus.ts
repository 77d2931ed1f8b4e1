/**
 * The status of an enterprise and its missing facts (docs/contract.md#becoming-ready). Imports nothing, so that workflows
 * may use it.
 */

export const ENTERPRISE_STATUSES = ['PENDING', 'READY', 'SUSPENDED'] as const;
export type EnterpriseStatus = (typeof ENTERPRISE_STATUSES)[number];

/** The authority's environments that the enterprise may use: homologation, production. */
export const PERMISSIONS = ['HOMO', 'PROD'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const EFACTURA_STATUSES = ['NOT_VALIDATED', 'VALIDATING', 'VALID', 'INVALID'] as const;
export type EfacturaStatus = (typeof EFACTURA_STATUSES)[number];

export const LOGIN_STATUSES = ['NOT_ATTEMPTED', 'SUCCESS', 'FAILED'] as const;
export type LoginStatus = (typeof LOGIN_STATUSES)[number];

/** Only suspension ends READY; `resume` restores the previous status. */
const MOVES: Readonly<Record<EnterpriseStatus, readonly EnterpriseStatus[]>> = {
  PENDING: ['READY', 'SUSPENDED'],
  READY: ['SUSPENDED'],
  SUSPENDED: ['PENDING', 'READY'],
};

/** True when an enterprise may change from one status to the other; an unchanged status is not a change. */
export function enterpriseCanBecome(from: EnterpriseStatus, to: EnterpriseStatus): boolean {
  return MOVES[from].includes(to);
}

/** Returns the permissions that are missing among `granted`. */
export function missingPermissions(granted: readonly Permission[]): Permission[] {
  return PERMISSIONS.filter((permission) => !granted.includes(permission));
}

/** The five facts that make an enterprise READY, in the words of messages. */
export const READY_FACTS = {
  prodPermission: 'the permission PROD of the tax authority (validate the e-invoicing credentials)',
  validCertificate: 'a valid certificate',
  plan: 'a plan',
  okCae: 'a CAE with status OK',
  dateCome: 'a scheduled_ready_date in the past',
} as const;
export type ReadyFact = keyof typeof READY_FACTS;
export const READY_FACT_NAMES = Object.keys(READY_FACTS) as ReadyFact[];
export type ReadyFacts = Readonly<Record<ReadyFact, boolean>>;

/** Returns the missing facts in the order of the table; empty if the enterprise may become READY. */
export function missingReadyFacts(facts: ReadyFacts): ReadyFact[] {
  return READY_FACT_NAMES.filter((fact) => !facts[fact]);
}

/** Creates the fault of issuing for an enterprise that is not READY, with the missing facts. */
export function notReadyFault(missing: readonly ReadyFact[]): {
  path: '';
  code: 'enterprise.not_ready';
  message: string;
} {
  const words = missing.map((fact) => READY_FACTS[fact]).join('; ');
  const message =
    words === ''
      ? 'The enterprise is not READY yet; it has all it needs and will be READY in a moment.'
      : `The enterprise is not READY; it still needs: ${words}.`;
  return { path: '', code: 'enterprise.not_ready', message };
}

/** The fault of issuing in production for a READY enterprise that has lost the permission PROD. */
export const NOT_AUTHORIZED_FAULT = {
  path: '',
  code: 'enterprise.not_authorized',
  message:
    'The enterprise no longer has the permission PROD of the tax authority; have it granted and validate the e-invoicing credentials.',
} as const;

/** Creates the fault of issuing for a day on which another system still issued. */
export const notYetFault = (migratedOn: string) =>
  ({
    path: '/header/doc_id/emission_date',
    code: 'enterprise.not_yet',
    message: `The enterprise issues here from ${migratedOn} on: neither today nor emission_date may be earlier.`,
  }) as const;

/** The fault of issuing for an enterprise that an operator suspended. Nothing but issuing is refused to it. */
export const SUSPENDED_FAULT = {
  path: '',
  code: 'enterprise.suspended',
  message: 'The enterprise is suspended and cannot issue; its CFEs can still be read.',
} as const;
