import { setTimeout as pause } from 'node:timers/promises';
import { aCfeBody } from '../../../test/support/receipts/cfeBodies.ts';
import type { Chance } from './chance.ts';
import type { PlannedCfe } from './plan.ts';

/** A CFE that was answered with 201. */
export interface Issued {
  planned: PlannedCfe;
  cfeId: string;
  serie: string;
  numero: number;
}

/** What came of the requests of a run. */
export interface Posted {
  issued: Issued[];
  /** Notes that came after their original was rejected: refused, as they must be, without a number. */
  refused: PlannedCfe[];
  /** Requests beyond the first for a CFE. */
  repeats: number;
  /** Repeats that were answered with what an earlier one had made: its answer had been lost. */
  replays: number;
}

/** The customer's side of the API. */
export interface Entrance {
  /** The addresses of the APIs that may be tried now, with /v1. */
  baseUrls: () => readonly string[];
  headers: Readonly<Record<string, string>>;
  /** Makes the Idempotency-Keys of this run different from those of others. */
  run: string;
}

/** Requests at a time. */
const CLIENTS = 6;
/** They come in heaps, so that some share a sobre. */
const BURST = 20;
/** A connection that says nothing for so long counts as lost. */
const PATIENCE_MILLISECONDS = 15_000;
/** The service is away, or busy with the same key: asked again after a moment. */
const TRIED_AGAIN = [409, 429, 503];
/** The share of answers that do not reach the customer. */
const LOST = 0.1;

/**
 * Issues the CFEs of a plan in their order, each with its Idempotency-Key again and again until it is answered with
 * 201; `perSecond` at most, but for those that were `held` back. Throws where the API answers what it must not.
 */
export async function postAll(
  plan: readonly PlannedCfe[],
  entrance: Entrance,
  options: {
    perSecond: number;
    chance: Chance;
    /** Called before the first request, and with each answer. */
    onAnswer: (answered: number) => void;
    held: { from: number; until: Promise<void> };
  },
): Promise<Posted> {
  const posted: Posted = { issued: [], refused: [], repeats: 0, replays: 0 };
  const answers = plan.map(() => Promise.withResolvers<Issued | null>());
  const waiting = [...plan];
  const startedAt = performance.now();

  async function client(): Promise<void> {
    for (let planned = waiting.shift(); planned; planned = waiting.shift()) {
      const burst = planned.index - (planned.index % BURST);
      const due = startedAt + (burst / options.perSecond) * 1_000;
      await pause(Math.max(0, due - performance.now()));
      if (planned.index >= options.held.from) await options.held.until;
      const original = planned.original === null ? null : await answers[planned.original]?.promise;
      const issued = await untilAnswered(planned, original?.cfeId, entrance, { ...options, posted });
      answers[planned.index]?.resolve(issued);
      if (issued) posted.issued.push(issued);
      else posted.refused.push(planned);
      options.onAnswer(posted.issued.length + posted.refused.length);
    }
  }
  options.onAnswer(0);
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return posted;
}

/** The answer to one CFE; null for a note that came too late to be taken. */
async function untilAnswered(
  planned: PlannedCfe,
  reference: string | undefined,
  { baseUrls, headers, run }: Entrance,
  { chance, posted }: { chance: Chance; posted: Posted },
): Promise<Issued | null> {
  const { rut, type, net, itemName, index } = planned;
  const body = JSON.stringify(aCfeBody({ type, net, itemName, ...(reference ? { reference } : {}) }));
  for (let tries = 1; ; tries += 1) {
    if (tries > 1) posted.repeats += 1;
    const url = `${chance.oneOf(baseUrls())}/enterprises/${rut}/cfes`;
    const answer = await send(url, body, {
      ...headers,
      'content-type': 'application/json',
      'idempotency-key': `${run} ${index}`,
    });
    if (chance.happens(LOST)) continue;
    if (answer?.status === 201) {
      if (answer.replayed) posted.replays += 1;
      const { data } = JSON.parse(answer.text) as { data: { cfe_id: string; serie: string; numero: number } };
      return { planned, cfeId: data.cfe_id, serie: data.serie, numero: data.numero };
    }
    const tooLate = planned.original !== null && planned.ends === 'REJECTED' && !planned.registered;
    if (answer?.status === 400 && tooLate && answer.text.includes('"reference.rejected"')) return null;
    if (answer && !TRIED_AGAIN.includes(answer.status))
      throw new Error(`CFE ${index} of the plan was answered ${answer.status}: ${answer.text}`);
    await pause(200 + chance.below(300));
  }
}

/** An answer as it came; null where none did. */
async function send(
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string; replayed: boolean } | null> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    const response = await fetch(url, { method: 'POST', body, headers, signal });
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, text: await response.text(), replayed };
  } catch {
    return null;
  }
}
