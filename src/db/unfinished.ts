import type { EntityManager } from '@mikro-orm/postgresql';
import {
  factsChangedMessage,
  SIGNALS,
  validateCredentialsMessage,
  type WorkflowMessage,
  type WorkflowName,
} from '../temporal.ts';
import { issueCfeMessage } from './cfes.ts';
import { reportDayMessage, UNENDED_REPORTS } from './dailyReports.ts';
import { deliveryMessage } from './deliveries.ts';
import { Enterprise } from './entities/enterprises.ts';
import { Cfe } from './entities/receipts.ts';
import { DailyReport } from './entities/reports.ts';
import type { Delivery } from './entities/webhooks.ts';
import { pendingExchangeMessages } from './exchange.ts';
import { pendingMailMessages } from './mails.ts';
import { exportMessage, runningExports } from './receiptExports.ts';
import { runMessage, runningRuns } from './runs.ts';

/** Of one enterprise, or of all. */
export interface Whose {
  rut?: string | undefined;
}

/**
 * By workflow: everything that has not come to its end, oldest first, each as the messages that start its workflow.
 * The rows are enough to start again: no workflow holds anything that is not here.
 */
export const UNFINISHED: Readonly<
  Record<WorkflowName, (em: EntityManager, whose: Whose) => Promise<WorkflowMessage[]>>
> = {
  issueCfe: async (em, whose) => {
    const fields = ['id', 'workflowId', 'rut', 'environment', 'type', 'status', 'sequence'] as const;
    const cfes = await em.find(
      Cfe,
      { ...conditionOf(whose), settledAt: null },
      { fields: [...fields, 'referenceId'], orderBy: { createdAt: 'asc', id: 'asc' } },
    );
    const originals = cfes.flatMap(({ referenceId }) => referenceId ?? []);
    const decided = await em.find(
      Cfe,
      { id: { $in: originals }, settledAt: { $ne: null } },
      { fields: ['id'] },
    );
    const isDecided = new Set(decided.map(({ id }) => id));
    // A run that Temporal was restored with may wait for what it had: who is woken too often waits again.
    return cfes.flatMap((cfe) => [
      issueCfeMessage(cfe, SIGNALS.slotGiven),
      ...(cfe.referenceId !== null && isDecided.has(cfe.referenceId)
        ? [issueCfeMessage(cfe, SIGNALS.originalDecided)]
        : []),
    ]);
  },

  onboardEnterprise: async (em, whose) => {
    const enterprises = await em.find(
      Enterprise,
      { ...conditionOf(whose), status: 'PENDING' },
      { fields: ['rut'], orderBy: { rut: 'asc' } },
    );
    return enterprises.map(({ rut }) => factsChangedMessage(rut));
  },

  validateCredentials: async (em, whose) => {
    const enterprises = await em.find(
      Enterprise,
      { ...conditionOf(whose), efacturaStatus: 'VALIDATING' },
      { fields: ['rut'], orderBy: { rut: 'asc' } },
    );
    return enterprises.map(({ rut }) => validateCredentialsMessage(rut));
  },

  deliverWebhook: async (em, { rut }) => {
    const deliveries = await em.execute<
      {
        id: string;
        workflowId: string;
        eventName: Delivery['eventName'];
        rut: string | null;
        environment: string;
      }[]
    >(
      `select delivery.id, delivery.workflow_id as "workflowId", event_name as "eventName", event.rut, event.environment from delivery join event on event.id = delivery.event_id
       where delivery.status = 'PENDING' and (?::text is null or event.rut = ?)
       order by delivery.created_at, delivery.id`,
      [rut ?? null, rut ?? null],
    );
    return deliveries.map((delivery) => deliveryMessage(delivery, delivery));
  },

  reportDay: async (em, whose) => {
    const reports = await em.find(
      DailyReport,
      { ...conditionOf(whose), startedAt: { $ne: null }, ...UNENDED_REPORTS },
      { orderBy: { date: 'asc', rut: 'asc' } },
    );
    return reports.map((report) => reportDayMessage(report, SIGNALS.lookAgain));
  },

  deliverReceipt: (em, { rut }) => pendingMailMessages(em, rut),

  exchangeCfe: (em, { rut }) => pendingExchangeMessages(em, rut),

  bulkRun: async (em, { rut }) =>
    (await runningRuns(em)).filter(({ filter }) => rut === undefined || filter.rut === rut).map(runMessage),

  exportReceipts: async (em, { rut }) => (await runningExports(em, rut)).map(exportMessage),
};

const conditionOf = ({ rut }: Whose) => (rut === undefined ? {} : { rut });
