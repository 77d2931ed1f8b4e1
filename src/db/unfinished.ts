import type { EntityManager } from '@mikro-orm/postgresql';
import { formatCfeId } from '../domain/cfeId.ts';
import {
  factsChangedMessage,
  issueCfeMessage,
  validateCredentialsMessage,
  type WorkflowMessage,
  type WorkflowName,
} from '../temporal.ts';
import { deliveryMessage } from './deliveries.ts';
import { Cfe } from './entities/Cfe.ts';
import { Enterprise } from './entities/Enterprise.ts';

/** Of one enterprise, or of all. */
export interface Whose {
  rut?: string | undefined;
}

/**
 * By workflow: everything that has not come to its end, oldest first, each as the message that starts its workflow.
 * What the rows say is enough to begin anew: no workflow holds anything that is not here.
 */
export const UNFINISHED: Readonly<
  Record<WorkflowName, (em: EntityManager, whose: Whose) => Promise<WorkflowMessage[]>>
> = {
  issueCfe: async (em, whose) => {
    const cfes = await em.find(
      Cfe,
      { ...of(whose), settledAt: null },
      {
        fields: ['id', 'rut', 'environment', 'type', 'status', 'sequence'],
        orderBy: { createdAt: 'asc', id: 'asc' },
      },
    );
    return cfes.map((cfe) => issueCfeMessage({ ...cfe, cfeId: formatCfeId(cfe) }));
  },

  onboardEnterprise: async (em, whose) => {
    const enterprises = await em.find(
      Enterprise,
      { ...of(whose), status: 'PENDING' },
      { fields: ['rut'], orderBy: { rut: 'asc' } },
    );
    return enterprises.map(({ rut }) => factsChangedMessage(rut));
  },

  validateCredentials: async (em, whose) => {
    const enterprises = await em.find(
      Enterprise,
      { ...of(whose), efacturaStatus: 'VALIDATING' },
      { fields: ['rut'], orderBy: { rut: 'asc' } },
    );
    return enterprises.map(({ rut }) => validateCredentialsMessage(rut));
  },

  deliverWebhook: async (em, { rut }) => {
    const deliveries = await em.execute<{ id: string; rut: string | null; environment: string }[]>(
      `select delivery.id, event.rut, event.environment from delivery join event on event.id = delivery.event_id
       where delivery.status = 'PENDING' and (?::text is null or event.rut = ?)
       order by delivery.created_at, delivery.id`,
      [rut ?? null, rut ?? null],
    );
    return deliveries.map(({ id, ...event }) => deliveryMessage(id, event));
  },
};

const of = ({ rut }: Whose) => (rut === undefined ? {} : { rut });
