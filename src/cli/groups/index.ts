import type { Group } from '../verb.ts';
import { accountGroup, grantGroup, keyGroup, limitGroup } from './accounts.ts';
import { auditGroup } from './audit.ts';
import { runGroup } from './bulkRuns.ts';
import { authorityCertificateGroup, caeGroup, certificateGroup } from './certificatesAndCaes.ts';
import { cfeGroup } from './cfes.ts';
import { branchGroup, customerGroup, enterpriseGroup } from './enterprises.ts';
import { homologationGroup } from './homologation.ts';
import { mailGroup } from './mails.ts';
import { annulmentGroup, numbersGroup } from './numbers.ts';
import { keyEncryptionGroup, pepperGroup, recoveryGroup } from './operations.ts';
import { exchangeRateGroup, paymentGroup, planGroup, uiValueGroup } from './prices.ts';
import { providerReportGroup } from './providerReports.ts';
import { reportGroup } from './reports.ts';
import { userGroup } from './users.ts';
import { deliveryGroup, webhookGroup } from './webhooks.ts';

/** All groups of verbs, in the order of the help. */
export const GROUPS: readonly Group[] = [
  accountGroup,
  userGroup,
  keyGroup,
  grantGroup,
  limitGroup,
  webhookGroup,
  deliveryGroup,
  enterpriseGroup,
  branchGroup,
  certificateGroup,
  caeGroup,
  customerGroup,
  cfeGroup,
  runGroup,
  annulmentGroup,
  numbersGroup,
  reportGroup,
  homologationGroup,
  providerReportGroup,
  mailGroup,
  planGroup,
  paymentGroup,
  uiValueGroup,
  exchangeRateGroup,
  authorityCertificateGroup,
  keyEncryptionGroup,
  pepperGroup,
  recoveryGroup,
  auditGroup,
];
