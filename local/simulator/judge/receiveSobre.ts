import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { EnvironmentName } from '../environments.ts';
import type { QueryDelay } from '../queryDelay.ts';
import type { Caller } from '../security/wsSecurity.ts';
import { inTransaction, type State } from '../state/database.ts';
import { keepFacts } from '../state/facts.ts';
import { countAgain, enterReceipt, type FiscalNumber, forgetOnce } from '../state/receipts.ts';
import {
  addJudgement,
  addSobre,
  countFault,
  findReceived,
  type Judgement,
  nextResponseId,
  orderLate,
  orderOddState,
  type Sobre,
} from '../state/sobres.ts';
import type { Schemas } from '../xml/schemas.ts';
import type { Reason } from './codes.ts';
import { type Directives, directivesIn, together } from './directives.ts';
import { day, FIRST_DAY, moment, type ValueCheck } from './format/values.ts';
import { type Bench, fiscalNumberOf, judgeReceipt, sha256Of } from './judgeReceipt.ts';
import {
  type CfeInSobre,
  checkContent,
  checkParties,
  type OpenSobre,
  openSobre,
  SobreRefused,
} from './openSobre.ts';
import { factsOf } from './reading.ts';

/** What judging needs: the records, the trusted certificates, the schemas, the time. */
export interface Court {
  readonly state: State;
  readonly trusts: Bench['trusts'];
  readonly schemas: Schemas | null;
  readonly clock: Clock;
  /** Between AS and the first moment at which the verdict may be asked for (Fechahora). */
  readonly queryDelay: QueryDelay;
}

/** What became of a sobre. */
export interface Reception {
  /** Receipts in it, as far as it could be read. */
  readonly count: number;
  /** The sobre as stored; with a `reason` it was refused (BS). */
  readonly sobre: Sobre;
  readonly reason: Reason | null;
  readonly directives: Directives;
}

/** A directive orders a SOAP fault instead of an answer; nothing was stored. */
export class FaultOrdered extends Error {
  override readonly name = 'FaultOrdered';
}

const NO_DIRECTIVES = directivesIn('');
const VERDICT_SECONDS = 1;
const TOKEN_BYTES = 64;
/** Later than every moment. */
const NEVER = '9999-12-31T23:59:59.999Z';

/**
 * Receives a sobre: refuses it (BS), or stores it with a verdict on each of its receipts (AS). Everything is on the
 * disk when this returns. Throws FaultOrdered.
 */
export function receiveSobre(
  text: string,
  caller: Caller,
  environment: EnvironmentName,
  court: Court,
): Reception {
  const who = { environment, caller, court };
  let sobre: OpenSobre;
  try {
    sobre = openSobre(text, court.schemas);
    checkParties(sobre, environment, caller.rut);
  } catch (error) {
    return refuse(error, { ...who, idemisor: idemisorIn(text), count: 0 });
  }
  const wishes = sobre.cfes.map(({ receipt }) => directivesIn(receipt?.items[0]?.text('NomItem')));
  const directives = together(wishes);
  const key = { environment, rut: sobre.rut, idemisor: sobre.idemisor };
  if (directives.faults > 0 && countFault(court.state, key) <= directives.faults)
    throw new FaultOrdered('fault by directive');
  try {
    return inTransaction(court.state, () => keep(sobre, wishes, directives, who));
  } catch (error) {
    if (error instanceof SobreRefused && error.code === 'S08')
      inTransaction(court.state, () => countCarried(sobre, key, court));
    return refuse(error, { ...who, idemisor: sobre.idemisor, count: sobre.cfes.length });
  }
}

interface Who {
  readonly environment: EnvironmentName;
  readonly caller: Caller;
  readonly court: Court;
}

function keep(opened: OpenSobre, wishes: readonly Directives[], directives: Directives, who: Who): Reception {
  const { environment, court } = who;
  const { state } = court;
  const { rut, idemisor, cfes } = opened;
  if (findReceived(state, { environment, rut, idemisor }))
    throw new SobreRefused('S08', `Idemisor ${idemisor}`);
  const now = court.clock();
  const certificate = checkContent(opened, now);
  if (directives.sobre !== null) throw new SobreRefused(directives.sobre, 'por directiva');

  const readyAt = new Date(now.getTime() + (directives.delaySeconds ?? VERDICT_SECONDS) * 1000);
  const sobre = store(who, { rut, idemisor, state: 'AS', now, readyAt });
  const bench: Bench = {
    state,
    environment,
    rut,
    certificate,
    trusts: court.trusts,
    schemas: court.schemas,
    schemaPassed: opened.schemaPassed,
    sobreId: sobre.id,
    now,
  };
  const judgements = cfes.map((cfe, index) =>
    enter(cfe, index + 1, wishes[index] ?? NO_DIRECTIVES, bench, sobre),
  );
  const anyFormatFault = judgements.some(({ reasons }) => reasons.length > 0);
  if (opened.schemaFault !== '' && !anyFormatFault)
    throw new SobreRefused('S04', opened.schemaFault.slice(0, 400));
  return { count: cfes.length, sobre, reason: null, directives };
}

/** Judges one receipt, enters it in the ledger under its number, and stores the verdict with the sobre. */
function enter(cfe: CfeInSobre, ordinal: number, wish: Directives, bench: Bench, sobre: Sobre): Judgement {
  const { state, environment, rut } = bench;
  const findings = judgeReceipt(cfe, bench);
  const { verdict, reasons } = verdictOf(findings.reasons, wish);
  const read = fiscalNumberOf(cfe, { environment, rut });
  const isUnknown = wish.unknown && read !== null && forgetOnce(state, read);
  const number = isUnknown ? null : read;
  const late = new Date(bench.now.getTime() + (wish.lateSeconds ?? 0) * 1000).toISOString();
  const readyAt = late > sobre.ready_at ? late : sobre.ready_at;
  if (isUnknown || readyAt > sobre.ready_at) orderLate(state, sobre.id, ordinal, isUnknown ? NEVER : readyAt);
  if (wish.oddState !== null) orderOddState(state, sobre.id, ordinal, wish.oddState);
  const bytes = Buffer.from(cfe.xml, 'utf8');
  if (number && findings.original) countAgain(state, number);
  else if (number)
    enterReceipt(
      state,
      number,
      {
        sobre_id: sobre.id,
        verdict,
        code: reasons[0]?.code ?? null,
        received_at: sobre.received_at,
        ready_at: readyAt,
        sha256: sha256Of(bytes),
        amount_payable: decimalOrNull(cfe.receipt?.totals.text('MntPagar')),
        currency: cfe.receipt?.totals.text('TpoMoneda') ?? null,
        exchange_rate: decimalOrNull(cfe.receipt?.totals.text('TpoCambio')),
      },
      bytes,
    );
  if (number && cfe.receipt && !findings.original) keepFacts(state, number, factsOf(cfe.receipt));
  const judgement: Judgement = {
    ordinal,
    cfeType: number?.cfeType ?? null,
    serie: number?.serie ?? null,
    number: number?.number ?? null,
    issuedOn: textIf(issueDay, cfe.receipt?.idDoc.text('FchEmis')),
    signedAt: textIf(moment, cfe.receipt?.signedAt),
    verdict,
    reasons,
    originalSobreId: reasons[0]?.code === 'E02' ? (findings.original?.sobre_id ?? sobre.id) : null,
  };
  addJudgement(state, sobre, judgement);
  return judgement;
}

/** A receipt's own faults come first; a directive counts when there are none. */
function verdictOf(reasons: readonly Reason[], wish: Directives): Pick<Judgement, 'verdict' | 'reasons'> {
  if (reasons.length > 0) return { verdict: 'BE', reasons };
  if (wish.reject !== null)
    return { verdict: 'BE', reasons: [{ code: wish.reject, detail: 'por directiva' }] };
  if (wish.observe !== null)
    return { verdict: 'CE', reasons: [{ code: wish.observe, detail: 'por directiva' }] };
  return { verdict: 'AE', reasons: [] };
}

function store(
  who: Who,
  sobre: Pick<Sobre, 'rut' | 'idemisor' | 'state'> & { readonly now: Date; readonly readyAt: Date },
): Sobre {
  const { state, queryDelay } = who.court;
  const row = {
    environment: who.environment,
    rut: sobre.rut,
    idemisor: sobre.idemisor,
    state: sobre.state,
    received_at: sobre.now.toISOString(),
    ready_at: sobre.readyAt.toISOString(),
    response_id: nextResponseId(state),
    token: randomBytes(TOKEN_BYTES).toString('base64'),
    query_from: queryFrom(sobre.now, queryDelay.seconds).toISOString(),
  } as const;
  return { ...row, id: addSobre(state, row), asked: 0, ack_cfe: null };
}

/** In whole seconds, as Fechahora says it: who asks at the moment that was named is answered. */
function queryFrom(now: Date, seconds: number): Date {
  return seconds === 0 ? now : new Date(Math.floor(now.getTime() / 1_000 + seconds) * 1_000);
}

function refuse(error: unknown, who: Who & { readonly idemisor: number; readonly count: number }): Reception {
  if (!(error instanceof SobreRefused)) throw error;
  const now = who.court.clock();
  const { rut } = who.caller;
  const sobre = store(who, { rut, idemisor: who.idemisor, state: 'BS', now, readyAt: now });
  const reason = { code: error.code, detail: error.message };
  return { count: who.count, sobre, reason, directives: NO_DIRECTIVES };
}

/** A sobre that the authority already has brought its receipts once more. */
function countCarried(
  sobre: OpenSobre,
  issuer: Pick<FiscalNumber, 'environment' | 'rut'>,
  court: Court,
): void {
  for (const cfe of sobre.cfes) {
    const number = fiscalNumberOf(cfe, issuer);
    if (number) countAgain(court.state, number);
  }
}

/** The answer repeats of a receipt only what fits the answer's own format. */
const textIf = (check: ValueCheck, text: string | undefined): string | null =>
  text !== undefined && check(text) === '' ? text : null;
const issueDay = day(FIRST_DAY);

const decimalOrNull = (text: string | undefined): string | null =>
  text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? text : null;

/** The Idemisor of a sobre that cannot be read, as far as it can be found; 0 otherwise. */
const idemisorIn = (text: string): number =>
  Number(/<(?:\w+:)?Idemisor>\s*(\d{1,10})\s*</.exec(text.slice(0, 4096))?.[1] ?? 0);
