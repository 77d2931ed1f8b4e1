import type { EntityManager } from '@mikro-orm/postgresql';
import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { Sealer } from '../crypto/sealed.ts';
import { recordAudit } from '../db/audit.ts';
import { findDelivery, hasAttempted, insertAttempt, lockDelivery } from '../db/deliveries.ts';
import { Event } from '../db/entities/Event.ts';
import { Webhook } from '../db/entities/Webhook.ts';
import type { Orm } from '../db/orm.ts';
import { lockWebhook } from '../db/webhooks.ts';
import type { DeliveryStatus } from '../domain/webhook.ts';
import { failpoint } from '../failpoints.ts';
import type { Sender, SendOutcome } from '../webhooks/send.ts';
import { signatureHeaders } from '../webhooks/signature.ts';
import type { Turns } from '../webhooks/turns.ts';
import { whileBeating } from './heartbeat.ts';

export interface WebhookDeps {
  orm: Orm;
  clock: () => Date;
  sealer: Sealer;
  send: Sender;
  turns: Turns;
  /** Told of every attempt once it is stored; for the metrics. */
  onAttempt?: ((attempt: StoredAttempt) => void) | undefined;
}

/** What came of an attempt, and where the delivery stands now. */
export interface StoredAttempt {
  httpStatus: number | null;
  error: string | null;
  status: DeliveryStatus;
}

export interface AttemptInput {
  deliveryId: string;
  /** How many more attempts follow if this one fails: with none left, the delivery has failed. */
  retriesLeft: number;
}

/** 410: the receiver wants nothing more. */
const GONE = 410;
/** The webhook was taken away while deliveries to it were under way. */
const REMOVED: SendOutcome = { httpStatus: null, error: null, answer: null, milliseconds: 0 };

/** Activities that speak with customers' servers. */
export const createWebhookActivities = (deps: WebhookDeps) => ({
  /**
   * Makes one attempt of a delivery and stores what came of it; PENDING when it is to be tried again. Its repeat after a
   * dead worker finds what was stored, or else sends the same bytes with the same id once more.
   */
  attemptDelivery: (input: AttemptInput): Promise<{ status: DeliveryStatus }> =>
    whileBeating(() => attempt(deps, input)),
});

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

async function attempt(deps: WebhookDeps, input: AttemptInput): Promise<{ status: DeliveryStatus }> {
  const em = deps.orm.em.fork();
  const { deliveryId } = input;
  const execution = executionId();
  const delivery = await findDelivery(em, deliveryId);
  if (!delivery) throw new Error(`delivery ${deliveryId} is not there`);
  const { status, webhookId, eventId } = delivery;
  if (status !== 'PENDING' || (await hasAttempted(em, deliveryId, execution))) return { status };

  const webhook = await em.findOneOrFail(Webhook, { id: webhookId });
  if (webhook.removedAt !== null) return store(deps, { ...input, retriesLeft: 0 }, execution, null);
  const turn = deps.turns.take(webhookId);
  if ('waitMilliseconds' in turn) throw busy(turn.waitMilliseconds);
  try {
    const { body } = await em.findOneOrFail(Event, { id: eventId });
    failpoint('deliver.sending');
    const outcome = await sendTo(deps, webhook, { id: deliveryId, body });
    failpoint('deliver.sent');
    const stored = await store(deps, input, execution, outcome);
    failpoint('deliver.stored');
    return stored;
  } finally {
    turn.end();
  }
}

/** The same at every repeat of one activity of one run, and at no other. */
function executionId(): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId ?? ''}/${activityId}`;
}

function sendTo(
  { sealer, send, clock }: WebhookDeps,
  webhook: Webhook,
  message: { id: string; body: string },
): Promise<SendOutcome> {
  const at = clock();
  const body = Buffer.from(message.body, 'utf8');
  const sealed = [
    webhook.sealedSecret,
    ...(webhook.previousSecretUntil !== null && webhook.previousSecretUntil > at
      ? [webhook.sealedPreviousSecret]
      : []),
  ];
  const { accountId, id: rowId } = webhook;
  const secrets = sealed
    .filter((text) => text !== null)
    .map((text) => sealer.open(text, { purpose: 'webhook-secret', accountId, rowId }).toString('utf8'));
  return send({
    url: webhook.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'cfe-service-webhooks/1.0',
      ...signatureHeaders({ id: message.id, at, body, secrets }),
    },
    body,
  });
}

/** Stores an attempt and what follows from it. `outcome` null: nothing was sent, for the webhook is gone. */
async function store(
  { orm, clock, onAttempt }: WebhookDeps,
  { deliveryId, retriesLeft }: AttemptInput,
  execution: string,
  outcome: SendOutcome | null,
): Promise<{ status: DeliveryStatus }> {
  const stored = await orm.em.fork().transactional(async (em): Promise<StoredAttempt | DeliveryStatus> => {
    const delivery = await lockDelivery(em, deliveryId);
    if (!delivery) throw new Error(`delivery ${deliveryId} is not there`);
    // Two runs at once, after a worker was taken for dead: what was stored first stands.
    if (delivery.status !== 'PENDING' || (await hasAttempted(em, deliveryId, execution))) {
      return delivery.status;
    }
    const { httpStatus, answer, milliseconds } = outcome ?? REMOVED;
    const error = outcome === null ? 'webhook_removed' : outcome.error;
    const now = clock();
    await insertAttempt(em, {
      deliveryId,
      execution,
      at: new Date(now.getTime() - milliseconds),
      httpStatus,
      error,
      answer,
      milliseconds,
    });
    if (httpStatus === GONE) await disable(em, delivery.webhookId, now);
    const taken = httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
    if (taken || retriesLeft === 0) {
      delivery.status = taken ? 'DELIVERED' : 'FAILED';
      delivery.settledAt = now;
    }
    return { httpStatus, error, status: delivery.status };
  });
  if (typeof stored === 'string') return { status: stored };
  onAttempt?.(stored);
  return { status: stored.status };
}

async function disable(em: EntityManager, webhookId: string, now: Date): Promise<void> {
  const webhook = await lockWebhook(em, webhookId);
  if (!webhook?.enabled) return;
  webhook.enabled = false;
  webhook.disabledReason = 'gone';
  const { accountId } = webhook;
  const reason = 'the receiver answered 410';
  recordAudit(
    em,
    { actor: 'service', action: 'webhook.disable', subject: webhookId, accountId, reason },
    now,
  );
}

/** The receiver has as many attempts under way as it may: no attempt is counted, and no history grows. */
function busy(waitMilliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ReceiverBusy',
    category: 'BENIGN',
    message: 'Other deliveries to this receiver are under way; this one waits for its turn.',
    nextRetryDelay: waitMilliseconds,
  });
}
