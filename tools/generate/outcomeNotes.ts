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
    'the authority may have kept the sobre, or the report. It is asked before the same bytes go out again; while it can be reached, CFE_PATIENCE counts.',
  repeat: 'tried again by itself. A send that may have begun is asked about first.',
  stuck: 'the CFE, or the report, waits for support, with this reason.',
};

type Notes<S extends Situation> = Partial<Record<SpecialAnswers[S] | CommonAnswer, string>>;

export const NOTES: { readonly [S in Situation]: Notes<S> } = {
  send: {
    AS: 'It has the sobre. Its number and token are stored; from Fechahora on it is asked for the verdict.',
    'AS without token': 'It has the sobre, but gave nothing to ask with: the list of sobres is asked for it.',
    S01: 'Nothing in the sobre was registered, and the same bytes will never be: the CFE is rejected with these reasons. `code 11`: the sobre is above the largest size, as S07; it holds one CFE, so it cannot be split.',
    S08: 'It has a sobre of this number already; see the next rows.',
    'code 100': 'An exception inside the authority: whether it kept the sobre, nobody knows.',
    'no answer': 'Sent, and then no usable answer: whether it kept the sobre, nobody knows.',
  },
  duplicate: {
    'at the first send':
      'Another sobre has the number: of another system of the company, or from before the database was restored. The CFE goes out in a new sobre with the next number.',
    'at a later send':
      'It is our own, from a send whose answer was lost. The list of sobres is asked for number and token; where it does not show the sobre for longer than CFE_PATIENCE, support is asked (`undecided`).',
  },
  find: {
    listed: 'It has the sobre; number and token are in its list.',
    'not listed':
      'It does not have the sobre: the same bytes are sent (again). Should its list lag, S08 tells.',
    'listed as refused':
      'It refused the sobre. Its list holds no reasons: sending the same bytes again brings them.',
    'listed without token': 'It has the sobre, or signed for it, but its list gives nothing to ask with.',
  },
  findCfe: {
    found: 'It has the number, by the sobre that it names.',
    'found without token':
      'It has the number, but gives nothing to ask about its sobre with, or that sobre has no verdict yet.',
  },
  ask: {
    'no verdict on it':
      'The sobre is not processed yet, or the answer covers other receipts of it only: it is asked again.',
    BE: 'The CFE is rejected with these reasons; its number is to be annulled.',
    CE: 'The CFE is observed (the authority gives this to contingency receipts only).',
    'E02 of ours':
      'The number was received before, in another sobre of ours for the same CFE (one that we hold, or one whose receipt was signed in the same second: a restored database lacks its last sobres): that one’s verdict counts, not this rejection.',
    'E02 without its original':
      'It does not say where the number was received first, or an exception inside the authority: it is asked again.',
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
    AR: 'It has the report. It is asked later what it made of it.',
    R05: 'The sequence is not the next one. Its list is asked: where all reports of the day there are ours the next sequence is taken; else stuck `report.other_system`.',
    R06: 'Received before its day, by the authority’s clock: sent again later.',
    'code 109': 'It has this report already, from a send whose answer was lost: its list gives the number.',
    'code 100': 'An exception inside the authority: whether it kept the report, nobody knows.',
    'no answer': 'Sent, and then no usable answer: whether it kept the report, nobody knows.',
  },
  findReport: {
    'listed AR': 'It has the report and has not compared it with the CFEs yet.',
    'listed DR': 'It has compared it: it agrees.',
    'listed ER': 'It has compared it: it differs. Stuck `report.differs`.',
    'listed FR': 'A later sequence of the day counts.',
    'listed BR': 'It refused the report; its answer is read once more for the reasons.',
    'not listed': 'It does not have the report: the same bytes are sent (again).',
  },
  listIssuers: {
    list: 'The issuers that came or changed since the moment asked for; none is a list, too.',
  },
};

export const GENERAL_NOTES: Partial<Record<CommonAnswer, string>> = {
  unreached:
    'No connection to the authority; or none was tried while its breaker is open; or, at a question that changes nothing, the answer was lost. CFEs whose endpoint is away wait at the gate; when it is back they go by enterprise in turn, the oldest first.',
  http: 'An answer that is none: an error page, a SOAP fault, not the XML that belongs here, a signature that does not verify, an answer about something else.',
};
