/** The output of `cfe show`. */

import type { Cfe } from '../db/entities/receipts.ts';
import { type CfeDossier, formatRequestingKey } from '../db/receipts/cfeDossier.ts';
import type { AttemptSummary } from '../domain/authority/attempt.ts';
import { formatCfeId } from '../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../domain/receipts/cfeTypes.ts';
import { decimalText } from '../domain/values/figures.ts';
import { type CfeHistory, cfeTimeline } from '../views/receipts/cfeTimeline.ts';
import { answerMeans, CFE_WORDS, rejectionMeans, stuckMeans } from '../words/cfeStates.ts';
import type { OutputRow } from './verb.ts';

const quantity = (text: string): string => decimalText(text, 0, NUMERALS);
const money = (text: string): string => decimalText(text, 2, NUMERALS);
const NUMERALS = { thousands: '', decimals: '.' };

const words = CFE_WORDS.en;

/** Returns the fields that a dossier adds to the JSON of a CFE. */
export function dossierRow(cfe: Cfe, dossier: CfeDossier): OutputRow {
  const { next, nextAt, since, actions, originals, ahead, awaySince, stuck, attempts, askedBy, acts } =
    dossier;
  return {
    explanation: explainState(cfe),
    since: since.toISOString(),
    next,
    next_at: nextAt?.toISOString() ?? null,
    fitting_actions: actions,
    key_id: askedBy?.id ?? null,
    refers_to: originals.map(({ cfeId, status }) => ({ cfe_id: cfeId, cfe_status: status })),
    ahead,
    authority_away_since: awaySince?.toISOString() ?? null,
    last_error: lastError(attempts),
    attempts: attempts.map((attempt) => ({
      operation: attempt.operation,
      answer: attempt.answer,
      result: attempt.result,
      means: answerMeans(attempt.answer, words),
      detail: attempt.detail,
      reasons: attempt.reasons,
      count: attempt.count,
      first_at: attempt.firstAt.toISOString(),
      first_milliseconds: attempt.firstMilliseconds,
      last_at: attempt.lastAt.toISOString(),
      last_milliseconds: attempt.lastMilliseconds,
    })),
    stuck: stuck.map(({ reason, since: from, until }) => ({
      reason,
      since: from.toISOString(),
      until: until?.toISOString() ?? null,
    })),
    acts: acts.map(({ at, actor, address, action, outcome, reason, requestId }) => ({
      at: at.toISOString(),
      actor,
      verified: actor !== 'unverified',
      address,
      action,
      outcome,
      reason,
      request_id: requestId,
    })),
    timeline: cfeTimeline(timelineInput(cfe, dossier), words).map(({ at, what, more }) => ({
      at: at.toISOString(),
      what,
      more,
    })),
  };
}

const timelineInput = (
  { createdAt, settledAt, status, reportOnly, rejection }: Cfe,
  dossier: CfeDossier,
): CfeHistory => ({
  ...dossier,
  by: dossier.askedBy && formatRequestingKey(dossier.askedBy),
  createdAt,
  settledAt,
  status,
  reportOnly,
  rejection,
});

function explainState({ status, stuckReason, rejection }: Cfe): string {
  const reasons = rejection?.map(({ code }) => `${code}: ${rejectionMeans(code, words)}`) ?? [];
  return [
    words.status[status].means,
    ...(stuckReason ? [`Needs attention: ${stuckMeans(stuckReason)}`] : []),
    ...reasons,
  ].join(' ');
}

/** Returns the error of the last call; null when that call succeeded. */
function lastError(attempts: readonly AttemptSummary[]): string | null {
  const [last] = attempts.toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
  if (!last || !['repeat', 'stuck', 'fateUnknown'].includes(last.result)) return null;
  return `${last.answer}${last.detail === null ? '' : ` (${last.detail})`}: ${answerMeans(last.answer, words)}`;
}

const receiverText = ({ document: { receiver } }: Cfe): string =>
  [receiver?.legalName, receiver?.document && `${receiver.document.type} ${receiver.document.number}`]
    .filter(Boolean)
    .join(', ') || '-';

/** Describes the references to CFEs of other systems, and those without a CFE. */
const otherReferences = ({ document: { references = [] } }: Cfe): string[] =>
  references.flatMap(({ cfe, reason }) => {
    if (cfe?.cfeId !== undefined) return [];
    return cfe ? [`${cfe.typeCode} ${cfe.serie}-${cfe.numero} of another system`] : [reason ?? '-'];
  });

/** Returns the lines, adjustments and totals that are not zero. */
function contentLines({ document }: Cfe): string[] {
  const { lines, adjustments = [], totals, pricesIncludeVat } = document;
  const rows = lines.map(({ ivaType, name, quantity: count, unitPrice, amount }, i) => {
    const price = `${quantity(count)} × ${money(unitPrice)}`;
    return `  ${String(i + 1).padStart(3)}  ${ivaType}  ${price} = ${money(amount)}  ${name}`;
  });
  const adjusted = adjustments.map(
    ({ kind, ivaType, description, amount }) => `       ${ivaType}  ${kind} ${money(amount)}  ${description}`,
  );
  const sums = (
    [
      ['VAT', [totals.minimumVat, totals.basicVat, totals.otherVat]],
      ['not billed', [totals.nonBillable]],
      ['total', [totals.total]],
    ] as const
  ).flatMap(([name, amounts]) =>
    amounts.filter((one) => Number(one) !== 0).map((one) => `${name} ${money(one)}`),
  );
  const prices = `prices ${pricesIncludeVat ? 'with' : 'without'} VAT`;
  return [...rows, ...adjusted, `       ${[...sums, `to pay ${money(totals.pay)}`, prices].join(', ')}`];
}

/** Returns the text for people. */
export function cfeText(cfe: Cfe, dossier: CfeDossier): string {
  const { type, serie, numero, currency, payAmount, emissionDate, rut, environment } = cfe;
  const { next, nextAt, actions, originals, ahead, since } = dossier;
  const error = lastError(dossier.attempts);
  const lines: [string, string][] = [
    [
      'CFE',
      `${formatCfeId(cfe)}, ${CFE_TYPES[type].label} ${serie}-${numero}, ${currency} ${payAmount}, of ${emissionDate}`,
    ],
    ['Company', `${rut}, ${environment}`],
    ['Receiver', receiverText(cfe)],
    ['Status', `${cfe.status}, since ${since.toISOString()}`],
    ['', explainState(cfe)],
    ...originals.map(({ cfeId, status }): [string, string] => ['Refers to', `${cfeId}, ${status}`]),
    ...otherReferences(cfe).map((text): [string, string] => ['Refers to', text]),
    ['Next', `${words.next[next]}${nextAt ? ` (${nextAt.toISOString()})` : ''}`],
    ...(ahead === null
      ? []
      : [['Waits for', `${ahead} earlier receipts of the company`] as [string, string]]),
    ...(error === null ? [] : [['Last error', error] as [string, string]]),
    ...actions.map((action, i): [string, string] => [
      i === 0 ? 'You can' : '',
      `${action}: ${words.action[action].means}`,
    ]),
    ...(cfe.workflowId === null ? [] : [['Workflow', cfe.workflowId] as [string, string]]),
  ];
  const history = cfeTimeline(timelineInput(cfe, dossier), words).flatMap(({ at, what, more }) => [
    `  ${at.toISOString()}  ${what}`,
    ...(more ? [`${' '.repeat(28)}${more}`] : []),
  ]);
  const head = lines.map(([name, text]) => `${name.padEnd(10)}  ${text}`);
  // Stored text must not control the terminal.
  return `${[...head, 'Content', ...contentLines(cfe), 'History', ...history].map((line) => line.replace(/\p{Cc}/gu, ' ')).join('\n')}\n`;
}
