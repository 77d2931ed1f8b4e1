import type { EntityManager } from '@mikro-orm/postgresql';
import {
  factsChangedMessage,
  validateCredentialsMessage,
  type WorkflowMessage,
  type WorkflowName,
} from '../temporal.ts';
import { issueCfeMessage } from './cfes.ts';
import { deliveryMessage } from './deliveries.ts';
import { Cfe } from './entities/Cfe.ts';
import { Enterprise } from './entities/Enterprise.ts';

/** Of one enterprise, or of all. */
export interface Whose {
  rut?: string | undefined;
}

/**
 * By workflow: everything that has not come to its end, oldest first, each as the message that starts its workflow.
 * The rows are enough to start again: no workflow holds anything that is not here.
 */
export const UNFINISHED: Readonly<
  Record<WorkflowName, (em: EntityManager, whose: Whose) => Promise<WorkflowMessage[]>>
> = {
  issueCfe: async (em, whose) => {
    const cfes = await em.find(
      Cfe,
      { ...conditionOf(whose), settledAt: null },
      {
        fields: ['id', 'workflowId', 'rut', 'environment', 'type', 'status', 'sequence'],
        orderBy: { createdAt: 'asc', id: 'asc' },
      },
    );
    return cfes.map((cfe) => issueCfeMessage(cfe));
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
      { id: string; workflowId: string; rut: string | null; environment: string }[]
    >(
      `select delivery.id, delivery.workflow_id as "workflowId", event.rut, event.environment from delivery join event on event.id = delivery.event_id
       where delivery.status = 'PENDING' and (?::text is null or event.rut = ?)
       order by delivery.created_at, delivery.id`,
      [rut ?? null, rut ?? null],
    );
    return deliveries.map((delivery) => deliveryMessage(delivery, delivery));
  },
};

const conditionOf = ({ rut }: Whose) => (rut === undefined ? {} : { rut });
