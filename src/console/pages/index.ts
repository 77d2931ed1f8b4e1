import type { Page } from '../page.ts';
import * as savedFilters from '../savedFilters.ts';
import * as application from './enterprises/application.ts';
import * as customers from './enterprises/customers.ts';
import * as enterprise from './enterprises/enterprise.ts';
import * as enterpriseForms from './enterprises/enterpriseForms.ts';
import * as enterprises from './enterprises/enterprises.ts';
import * as homologation from './enterprises/homologation.ts';
import * as help from './help.ts';
import * as audit from './operations/audit.ts';
import * as health from './operations/health.ts';
import * as runs from './operations/runs.ts';
import * as search from './operations/search.ts';
import * as stuck from './operations/stuck.ts';
import * as account from './people/account.ts';
import * as accounts from './people/accounts.ts';
import * as invitation from './people/invitation.ts';
import * as join from './people/join.ts';
import * as keys from './people/keys.ts';
import * as me from './people/me.ts';
import * as members from './people/members.ts';
import * as plan from './people/plan.ts';
import * as secondFactor from './people/secondFactor.ts';
import * as signIn from './people/signIn.ts';
import * as cfe from './receipts/cfe.ts';
import * as cfes from './receipts/cfes.ts';
import * as credit from './receipts/credit.ts';
import * as exports from './receipts/exports.ts';
import * as report from './reports/report.ts';
import * as reports from './reports/reports.ts';
import * as deliveries from './webhooks/deliveries.ts';
import * as delivery from './webhooks/delivery.ts';
import * as webhook from './webhooks/webhook.ts';
import * as webhooks from './webhooks/webhooks.ts';

const MODULES: readonly Readonly<Record<string, unknown>>[][] = [
  [health, help, search, audit, runs, stuck],
  [application, customers, enterprise, enterpriseForms, enterprises, homologation],
  [account, accounts, invitation, join, keys, me, members, plan, savedFilters, secondFactor, signIn],
  [cfe, cfes, credit, exports, report, reports],
  [deliveries, delivery, webhook, webhooks],
];
const isPage = (one: unknown): one is Page =>
  typeof one === 'object' && one !== null && 'route' in one && 'handle' in one;

/** All pages and forms of the console: those that their modules export; those of one path before those with parameters. */
export const PAGES: readonly Page[] = MODULES.flat()
  .flatMap((module) => Object.values(module))
  .filter(isPage)
  .toSorted((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));
