import type { EntityManager } from '@mikro-orm/postgresql';
import { LEAST_UUID } from '../../domain/values/uuid.ts';
import {
  factsChangedMessage,
  SIGNALS,
  validateCredentialsMessage,
  type WorkflowMessage,
  type WorkflowName,
} from '../../temporal.ts';
import { unfinishedSobreMessages } from '../authority/sobres.ts';
import { listActiveTestRuns, testRunMessage } from '../enterprises/homologations.ts';
import { Enterprise } from '../entities/enterprises.ts';
import { DailyReport } from '../entities/reports.ts';
import type { Delivery } from '../entities/webhooks.ts';
import { pendingExchangeMessages } from '../mail/exchange.ts';
import { pendingMailMessages } from '../mail/mails.ts';
import { openCaeStartMessages } from '../numbers/numbers.ts';
import type { UuidPage } from '../page.ts';
import { exportMessage, listRunningExports } from '../receipts/receiptExports.ts';
import { reportDayMessage, UNENDED_REPORTS } from '../reports/dailyReports.ts';
import { givenConditions } from '../sql.ts';
import { deliveryMessage } from '../webhooks/deliveries.ts';
import { listRunningRuns, runMessage } from './runs.ts';

/** One enterprise or all; `page`: a page of the tables that may be very large. */
export interface EnterpriseScope {
  rut?: string | undefined;
  page?: UuidPage | undefined;
}

/**
 * Returns the cursor after a message, for the next page. Small tables come whole on the first page, and have none.
 */
export const cursorOfMessage = ({ input }: WorkflowMessage): string =>
  String(input['sobreId'] ?? input['cfeUuid'] ?? input['deliveryId'] ?? input['mailId'] ?? '');

/**
 * For each workflow: all unfinished work, oldest first, as the messages that start the workflow again. The rows
 * suffice: no workflow holds other data.
 */
export const UNFINISHED: Readonly<
  Record<WorkflowName, (em: EntityManager, scope: EnterpriseScope) => Promise<WorkflowMessage[]>>
> = {
  // A workflow in a restored Temporal may wait for a signal that it had received before; a workflow woken early waits again.
  issueCfes: (em, { rut, page }) => unfinishedSobreMessages(em, { rut, page }, SIGNALS.slotGiven),

  onboardEnterprise: async (em, scope) => {
    const enterprises = await em.find(
      Enterprise,
      { ...toWhere(scope), status: 'PENDING' },
      { fields: ['rut'], orderBy: { rut: 'asc' } },
    );
    return enterprises.map(({ rut }) => factsChangedMessage(rut));
  },

  validateCredentials: async (em, scope) => {
    const enterprises = await em.find(
      Enterprise,
      { ...toWhere(scope), efacturaStatus: 'VALIDATING' },
      { fields: ['rut'], orderBy: { rut: 'asc' } },
    );
    return enterprises.map(({ rut }) => validateCredentialsMessage(rut));
  },

  checkCaeStart: openCaeStartMessages,

  deliverWebhook: async (em, { rut, page }) => {
    const deliveries = await em.execute<
      {
        id: string;
        workflowId: string;
        eventName: Delivery['eventName'];
        rut: string | null;
        environment: string;
      }[]
    >(
      `select delivery.id, delivery.workflow_id as "workflowId", event_name as "eventName", event.rut, event.environment
       from delivery join event on event.id = delivery.event_id
       where delivery.status = 'PENDING' and (?::text is null or event.rut = ?)
         ${page ? 'and delivery.id > ? and delivery.created_at < ?' : ''}
       order by ${page ? 'delivery.id limit ?' : 'delivery.created_at, delivery.id'}`,
      [rut ?? null, rut ?? null, ...(page ? [page.after || LEAST_UUID, page.before, page.limit] : [])],
    );
    return deliveries.map((delivery) => deliveryMessage(delivery, delivery));
  },

  reportDay: async (em, scope) => {
    const reports = await em.find(
      DailyReport,
      { ...toWhere(scope), startedAt: { $ne: null }, ...UNENDED_REPORTS },
      { orderBy: { date: 'asc', rut: 'asc' } },
    );
    return reports.map((report) => reportDayMessage(report, SIGNALS.lookAgain));
  },

  deliverReceipt: pendingMailMessages,

  exchangeCfe: pendingExchangeMessages,

  bulkRun: async (em, { rut }) =>
    (await listRunningRuns(em))
      .filter(({ filter }) => rut === undefined || filter.rut === rut)
      .map(runMessage),

  homologation: async (em, { rut }) => (await listActiveTestRuns(em, rut)).map(testRunMessage),

  exportReceipts: async (em, { rut }) => (await listRunningExports(em, rut)).map(exportMessage),
};

const toWhere = ({ rut }: EnterpriseScope) => givenConditions({ rut });
