/** Permissions of the console: a row for each page and form, checked before it runs and before its button is shown. */
import {
  isRoleAtLeast,
  MEMBER_ROLES,
  type MemberRole,
  OPERATOR_ROLES,
  type OperatorRole,
} from '../../domain/people/people.ts';
import type { EnterpriseAccess, Viewer } from './access.ts';

/** The lowest role of operators and of members; null excludes them. */
export interface Audience {
  readonly operators: OperatorRole | null;
  readonly members: MemberRole | null;
}

/** Named audiences. Editors are members with the role MEMBER or OWNER. */
const AUDIENCES = {
  /** Includes people without a session. */
  anyone: { operators: 'VIEWER', members: 'VIEWER' },
  anyRole: { operators: 'VIEWER', members: 'VIEWER' },
  anyOperator: { operators: 'VIEWER', members: null },
  supportOperators: { operators: 'SUPPORT', members: null },
  adminOperators: { operators: 'ADMIN', members: null },
  anyMember: { operators: null, members: 'VIEWER' },
  accountOwners: { operators: null, members: 'OWNER' },
  editorsAndSupport: { operators: 'SUPPORT', members: 'MEMBER' },
  editorsAndAdmins: { operators: 'ADMIN', members: 'MEMBER' },
  ownersAndAdmins: { operators: 'ADMIN', members: 'OWNER' },
} as const satisfies Readonly<Record<string, Audience>>;

/** The audience of each page and form (docs/console.md#people-and-roles). A page without a row does not compile. */
export const AUDIENCE_BY_ROUTE = {
  'GET /sign-in': 'anyone',
  'POST /sign-in': 'anyone',
  'GET /sign-in/code': 'anyone',
  'POST /sign-in/code': 'anyone',
  'GET /sign-in/oidc': 'anyone',
  'GET /sign-in/oidc/return': 'anyone',
  'GET /invitation/{token}': 'anyone',
  'POST /invitation/{token}': 'anyone',
  'GET /join/{token}': 'anyone',
  'POST /join/{token}': 'anyone',
  'POST /language': 'anyone',

  // The signed-in person.
  'POST /sign-out': 'anyRole',
  'GET /me': 'anyRole',
  'POST /me/sessions': 'anyRole',
  'POST /me/password': 'anyRole',
  'GET /me/second-factor': 'anyRole',
  'POST /me/second-factor': 'anyRole',
  // Operators must keep their second factor.
  'POST /me/second-factor/off': 'anyMember',
  'POST /saved-filters': 'anyRole',
  'POST /saved-filters/{id}/delete': 'anyRole',
  'GET /help': 'anyRole',

  // Receipts.
  'GET /': 'anyRole',
  'GET /search': 'anyRole',
  'GET /cfes': 'anyRole',
  'GET /cfes/{rut}/{environment}/{cfe_id}': 'anyRole',
  'GET /cfes/{rut}/{environment}/{cfe_id}/xml': 'anyRole',
  'GET /cfes/{rut}/{environment}/{cfe_id}/exchange': 'anyOperator',
  'POST /cfes/{rut}/{environment}/{cfe_id}/support': 'supportOperators',
  'GET /cfes/{rut}/{environment}/{cfe_id}/credit': 'anyRole',
  'POST /cfes/{rut}/{environment}/{cfe_id}/credit': 'editorsAndSupport',
  'POST /cfes/{rut}/{environment}/{cfe_id}/credit-notes': 'editorsAndSupport',
  'POST /cfes/{rut}/{environment}/{cfe_id}/mails': 'editorsAndSupport',
  'POST /cfes/{rut}/{environment}/{cfe_id}/mails/{mail_id}': 'editorsAndSupport',
  'GET /stuck': 'anyOperator',
  'GET /runs': 'anyRole',
  'GET /runs/{id}': 'anyRole',
  // Members: only for deliveries to their own webhooks.
  'GET /runs/new': 'editorsAndSupport',
  'POST /runs': 'editorsAndSupport',
  'POST /runs/{id}/stop': 'editorsAndSupport',
  'GET /exports': 'editorsAndSupport',
  'POST /exports': 'editorsAndSupport',
  'POST /exports/{id}/stop': 'editorsAndSupport',
  'GET /exports/{id}/zip': 'editorsAndSupport',
  'GET /reports': 'anyRole',
  'GET /reports/{rut}/{environment}/{date}': 'anyRole',
  'GET /reports/{rut}/{environment}/{date}/xml': 'anyRole',
  'POST /reports/{rut}/{environment}/{date}/send': 'supportOperators',
  'POST /reports/{rut}/{environment}/{date}/retry': 'supportOperators',
  'POST /reports/{rut}/{environment}/{date}/settle': 'supportOperators',
  'GET /rates': 'anyOperator',
  'POST /rates/ui': 'adminOperators',

  // Enterprises.
  'GET /enterprises': 'anyRole',
  'GET /warnings': 'anyRole',
  'GET /enterprises/{rut}': 'anyRole',
  'GET /enterprises/{rut}/logo': 'anyRole',
  'POST /enterprises/{rut}/login': 'editorsAndAdmins',
  'POST /enterprises/{rut}/certificate': 'ownersAndAdmins',
  'POST /enterprises/{rut}/caes': 'editorsAndAdmins',
  'POST /enterprises/{rut}/annulments': 'ownersAndAdmins',
  'POST /enterprises/{rut}/branches': 'ownersAndAdmins',
  'POST /enterprises/{rut}/branches/{branch}': 'ownersAndAdmins',
  'POST /enterprises/{rut}/branches/{branch}/close': 'ownersAndAdmins',
  'POST /enterprises/{rut}/data': 'ownersAndAdmins',
  'POST /enterprises/{rut}/logo': 'ownersAndAdmins',
  'POST /enterprises/{rut}/logo/remove': 'ownersAndAdmins',
  'POST /enterprises/{rut}/grants': 'adminOperators',
  'POST /enterprises/{rut}/grants/remove': 'adminOperators',
  'POST /enterprises/{rut}/send-report': 'supportOperators',
  'POST /enterprises/{rut}/reporting-obligation': 'adminOperators',
  'POST /enterprises/{rut}/migrate': 'adminOperators',
  'POST /enterprises/{rut}/idemisor': 'adminOperators',
  'POST /enterprises/{rut}/suspend': 'adminOperators',
  'POST /enterprises/{rut}/resume': 'adminOperators',
  'POST /enterprises/{rut}/permissions': 'adminOperators',
  'POST /enterprises/{rut}/transfer': 'adminOperators',
  'GET /enterprises/{rut}/homologation': 'anyRole',
  // Members: only of accounts that may use the sandbox (commands/enterprises/homologation.ts).
  'POST /enterprises/{rut}/homologation': 'ownersAndAdmins',
  'POST /enterprises/{rut}/homologation/stop': 'ownersAndAdmins',
  'GET /enterprises/{rut}/postulacion': 'anyRole',
  'GET /enterprises/{rut}/postulacion/pdf': 'anyRole',
  'GET /enterprises/{rut}/customers': 'anyRole',
  'POST /enterprises/{rut}/customers': 'editorsAndAdmins',
  'GET /enterprises/{rut}/customers/{id}': 'anyRole',
  'POST /enterprises/{rut}/customers/{id}': 'editorsAndAdmins',
  'POST /enterprises/{rut}/customers/{id}/delete': 'editorsAndAdmins',
  'GET /plan': 'anyMember',
  'GET /plan/{rut}': 'anyMember',
  'POST /plan/{rut}': 'accountOwners',
  'GET /plan/{rut}/payments/{id}': 'accountOwners',

  // Accounts.
  'GET /webhooks': 'anyRole',
  'POST /webhooks': 'editorsAndAdmins',
  'GET /webhooks/{id}': 'anyRole',
  'POST /webhooks/{id}/change': 'editorsAndAdmins',
  'POST /webhooks/{id}/enabled': 'editorsAndAdmins',
  'POST /webhooks/{id}/test': 'editorsAndAdmins',
  'POST /webhooks/{id}/secret': 'editorsAndAdmins',
  'POST /webhooks/{id}/remove': 'editorsAndAdmins',
  'GET /deliveries': 'anyRole',
  'GET /deliveries/{id}': 'anyRole',
  'POST /deliveries/{id}/redeliver': 'editorsAndSupport',
  'GET /keys': 'anyMember',
  'POST /keys': 'accountOwners',
  'POST /keys/{id}/revoke': 'accountOwners',
  'GET /members': 'anyMember',
  'POST /members': 'accountOwners',
  'POST /members/invitations/{id}/withdraw': 'accountOwners',
  'POST /members/{id}/role': 'accountOwners',
  'POST /members/{id}/remove': 'accountOwners',
  'GET /accounts': 'anyOperator',
  'POST /accounts': 'adminOperators',
  'GET /accounts/{id}': 'anyOperator',
  'POST /accounts/{id}/limit': 'adminOperators',
  'POST /accounts/{id}/grants': 'adminOperators',
  'POST /accounts/{id}/grants/{rut}/remove': 'adminOperators',
  'POST /accounts/{id}/people': 'adminOperators',
  'POST /accounts/{id}/people/{person}/invite': 'adminOperators',
  'POST /accounts/{id}/people/{person}/disable': 'adminOperators',
  'POST /accounts/{id}/people/{person}/end': 'adminOperators',
  'GET /audit': 'anyOperator',
} as const satisfies Readonly<Record<`${'GET' | 'POST'} /${string}`, keyof typeof AUDIENCES>>;

/** A page or form: method and path, with `{name}` for each parameter. */
export type PageRoute = keyof typeof AUDIENCE_BY_ROUTE;

/** @internal exported for tests */
export const audienceOf = (route: PageRoute): Audience => AUDIENCES[AUDIENCE_BY_ROUTE[route]];

/** Returns whether a route needs no session. */
export const isForAnyone = (route: PageRoute): boolean => AUDIENCE_BY_ROUTE[route] === 'anyone';

/** Returns whether a role at an enterprise is enough for a route. */
export function mayUse(access: EnterpriseAccess | null, route: PageRoute): boolean {
  if (access === null) return false;
  const { operators, members } = audienceOf(route);
  return access.kind === 'operator'
    ? operators !== null && isRoleAtLeast(OPERATOR_ROLES, access.role, operators)
    : members !== null && isRoleAtLeast(MEMBER_ROLES, access.role, members);
}

/** Returns the accounts for which the viewer may use a route; null means all. */
export function accountsFor(viewer: Viewer, route: PageRoute): readonly string[] | null {
  if (viewer.kind === 'operator') return mayUse(viewer, route) ? null : [];
  return viewer.memberships
    .filter((membership) => mayUse({ kind: 'member', ...membership }, route))
    .map(({ accountId }) => accountId);
}

/** Returns whether the viewer may use a route for one account, such as that of a webhook or a key. */
export function mayUseForAccount(viewer: Viewer, accountId: string, route: PageRoute): boolean {
  const accounts = accountsFor(viewer, route);
  return accounts === null || accounts.includes(accountId);
}

/** Returns whether the viewer may use a route for at least one account. */
export function mayOpen(viewer: Viewer, route: PageRoute): boolean {
  const accounts = accountsFor(viewer, route);
  return accounts === null || accounts.length > 0;
}
