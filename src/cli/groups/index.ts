import type { Group } from '../verb.ts';
import { account } from './account.ts';
import { annulment } from './annulment.ts';
import { audit } from './audit.ts';
import { authorityCertificate } from './authorityCertificate.ts';
import { branch } from './branch.ts';
import { cae } from './cae.ts';
import { certificate } from './certificate.ts';
import { cfe } from './cfe.ts';
import { customer } from './customer.ts';
import { delivery } from './delivery.ts';
import { enterprise } from './enterprise.ts';
import { exchangeRate } from './exchangeRate.ts';
import { grant } from './grant.ts';
import { key } from './key.ts';
import { keyEncryption } from './keyEncryption.ts';
import { limit } from './limit.ts';
import { mail } from './mail.ts';
import { numbers } from './numbers.ts';
import { payment } from './payment.ts';
import { plan } from './plan.ts';
import { recovery } from './recovery.ts';
import { report } from './report.ts';
import { run } from './run.ts';
import { uiValue } from './uiValue.ts';
import { user } from './user.ts';
import { webhook } from './webhook.ts';

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
  recovery,
  audit,
];
