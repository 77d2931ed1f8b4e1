/** Notes for people on the table of outcomes (src/dgi/outcomes.ts), by the first answer of a row: what the words of the answer, or of the reason to be stuck, do not say. */
import type { CommonAnswer, Situation, SpecialAnswers } from '../../src/dgi/outcomes.ts';

export const SITUATIONS: Readonly<Record<Situation, string>> = {
  send: 'A sobre is sent',
  duplicate: 'It calls the sobre a duplicate',
  find: 'Is the sobre there?',
  findCfe: 'Is the fiscal number there?',
  ask: 'The verdict is asked for',
  lookUp: 'A RUT is looked up',
  sendReport: 'The report of a day is sent',
  findReport: 'Is the report there?',
  listIssuers: 'Electronic issuers are listed',
};

/** Of the reactions that their names do not explain. */
export const REACTIONS = {
  fateUnknown:
    'the authority may have the sobre or report. It is asked before the same bytes are sent again; while it can be reached, CFE_PATIENCE counts.',
  repeat: 'retried automatically. A send that may have started is asked about first.',
  stuck: 'the CFE, or the report, waits for support, with this reason.',
};

type Notes<S extends Situation> = Partial<Record<SpecialAnswers[S] | CommonAnswer, string>>;

export const NOTES: { readonly [S in Situation]: Notes<S> } = {
  send: {
    AS: 'It has the sobre. Number and token are stored; the verdict is requested from Fechahora on.',
    'AS without token': 'It has the sobre, without number or token: they are read from its list of sobres.',
    S01: 'Nothing was registered. A single CFE is rejected with these reasons; several are sent again one by one. `code 11`: the sobre is too large, as S07.',
    S08: 'It already has a sobre with this number; see the next rows.',
    'code 100': 'An exception inside the authority: it may or may not have the sobre.',
    'no answer': 'Sent, without a usable answer: it may or may not have the sobre.',
  },
  duplicate: {
    'at the first send':
      'Another sobre has the number: another system’s, or one from before a restore. The CFEs are sent in a new sobre.',
    'at a later send':
      'It is ours, from a send whose answer was lost. Number and token are read from the list of sobres; if missing there for longer than CFE_PATIENCE: stuck `undecided`.',
  },
  find: {
    listed: 'It has the sobre; number and token are in its list.',
    'not listed': 'It does not have the sobre: the same bytes are sent. If its list lags, S08 shows it.',
    'listed as refused':
      'It refused the sobre. Its list has no reasons; the same bytes are sent again to get them.',
    'listed without token': 'It has the sobre, or signed for it, but its list has no token.',
  },
  findCfe: {
    found: 'It has the number, from the sobre named.',
    'found without token': 'It has the number, but no token, or that sobre has no verdict yet.',
  },
  ask: {
    'no verdict on it': 'Not processed yet, or the answer covers other receipts only: asked again.',
    BE: 'The CFE is rejected with these reasons; its number is to be annulled.',
    CE: 'The CFE is observed (the authority gives this to contingency receipts only).',
    'E02 of ours':
      'The number was received in another sobre of ours for the same CFE (one we have, or one signed in the same second, after a restore): that verdict counts.',
    'E02 without its original':
      'It does not say where the number came from, or an exception inside the authority: asked again.',
  },
  lookUp: {
    record:
      'The registry’s record of the RUT. `code 8`, `code 9`: registered without a principal branch, or without its address; the record holds nothing more.',
    'code 10': 'The RUT never had activity: a record with the status NT.',
    'code 11': 'The RUT has no activity any more: a record with the status CC.',
    'code 12': 'The RUT has no activity yet: a record with the status AF.',
    'code 5': 'The registry does not know the RUT.',
    'code 1': 'An error inside the registry.',
  },
  sendReport: {
    AR: 'It has the report. The result is requested later.',
    R05: 'The sequence is not the next one. If all reports in its list are ours the next one is used; else stuck `report.other_system`.',
    R06: 'Received before its day, by the authority’s clock: sent again later.',
    'code 109': 'It already has this report, from a send whose answer was lost; the number is in its list.',
    'code 100': 'An exception inside the authority: it may or may not have the report.',
    'no answer': 'Sent, without a usable answer: it may or may not have the report.',
  },
  findReport: {
    'listed AR': 'It has the report and has not compared it with the CFEs yet.',
    'listed DR': 'It has compared it: it agrees.',
    'listed ER': 'It has compared it: it differs. Stuck `report.differs`.',
    'listed FR': 'A later sequence of the day counts.',
    'listed BR': 'It refused the report; its answer is requested again for the reasons.',
    'not listed': 'It does not have the report: the same bytes are sent.',
  },
  listIssuers: {
    list: 'The issuers changed since the given time; the list may be empty.',
  },
};

export const GENERAL_NOTES: Partial<Record<CommonAnswer, string>> = {
  unreached:
    'No connection, or not tried because the breaker is open, or the answer to a query was lost. CFEs wait at the gate; afterwards enterprises take turns, oldest first.',
  http: 'Not a valid answer: an error page, a SOAP fault, other XML, an invalid signature, an answer about something else.',
};
