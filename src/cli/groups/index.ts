import type { Group } from '../verb.ts';
import { account, grant, key, limit } from './accounts.ts';
import { audit } from './audit.ts';
import { run } from './bulkRuns.ts';
import { cfe } from './cfes.ts';
import { branch, customer, enterprise } from './enterprises.ts';
import { mail } from './mails.ts';
import { annulment, numbers } from './numbers.ts';
import { keyEncryption, pepper, recovery } from './operations.ts';
import { authorityCertificate, cae, certificate } from './papers.ts';
import { exchangeRate, payment, plan, uiValue } from './prices.ts';
import { report } from './reports.ts';
import { user } from './users.ts';
import { delivery, webhook } from './webhooks.ts';

/** Everything that the command line can be asked about, in the order of its help. */
export const GROUPS: readonly Group[] = [
  account,
  user,
  key,
  grant,
  limit,
  webhook,
  delivery,
  enterprise,
  branch,
  certificate,
  cae,
  customer,
  cfe,
  run,
  annulment,
  numbers,
  report,
  mail,
  plan,
  payment,
  uiValue,
  exchangeRate,
  authorityCertificate,
  keyEncryption,
  pepper,
  recovery,
  audit,
];
