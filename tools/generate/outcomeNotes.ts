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
    'the authority may have the sobre or report: it is asked before the same bytes go again; while it can be reached, CFE_PATIENCE counts.',
  repeat: 'retried automatically. A send that may have started is asked about first.',
  stuck:
    'the CFE, or the report, waits for support, with this reason. After the act named, retry, unless it says otherwise.',
};

type Notes<S extends Situation> = Partial<Record<SpecialAnswers[S] | CommonAnswer, string>>;

export const NOTES: { readonly [S in Situation]: Notes<S> } = {
  send: {
    AS: 'Number and token are stored; the verdict is requested from Fechahora on.',
    'AS without token': 'Number and token are read from its list of sobres.',
    S01: 'Nothing was registered. A single CFE is rejected with these reasons; several are sent again one by one. `code 11`: too large, as S07.',
    S08: 'See the next section.',
    'code 100': 'It may or may not have the sobre.',
    'no answer': 'It may or may not have the sobre.',
  },
  duplicate: {
    'at the first send':
      'Another system’s sobre, or one from before a restore, has the number: sent in a new sobre.',
    'at a later send':
      'Ours, its answer was lost: read from the list of sobres; missing there for CFE_PATIENCE: stuck `undecided`.',
  },
  find: {
    listed: 'Number and token are in its list.',
    'not listed': 'The same bytes are sent. If its list lags, S08 shows it.',
    'listed as refused': 'The same bytes are sent again, to get the reasons.',
    'listed without token': 'Its list has no token yet.',
  },
  findCfe: {
    found: 'From the sobre named.',
    'found without token': 'No token, or no verdict on that sobre yet.',
  },
  ask: {
    'no verdict on it': 'Not processed yet, or other receipts only: asked again.',
    BE: 'The CFE is rejected with these reasons, which decide [its number](contract.md#numbers).',
    CE: 'Given to contingency receipts only.',
    'E02 of ours':
      'Received in another sobre of ours for the same CFE (stored, or signed in the same second, after a restore): that verdict counts.',
    'E02 without its original': 'Origin of the number missing, or an exception: asked again.',
  },
  lookUp: {
    record:
      '`code 8`, `code 9`: registered without a principal branch, or its address; the record has nothing more.',
    'code 10': 'Never had activity: status NT.',
    'code 11': 'No activity any more: status CC.',
    'code 12': 'No activity yet: status AF.',
    'code 5': 'The registry does not know the RUT.',
    'code 1': 'An error inside the registry.',
  },
  sendReport: {
    AR: 'The result is requested later.',
    R05: 'Not the next sequence. If all listed reports are ours, the next is used; else stuck `report.other_system`.',
    R06: 'Received before its day, by the authority’s clock: sent again later.',
    'code 109': 'Its answer was lost; the number is in its list.',
    'code 100': 'It may or may not have the report.',
    'no answer': 'It may or may not have the report.',
  },
  findReport: {
    'listed AR': 'Not compared with the CFEs yet.',
    'listed DR': 'Compared: agrees.',
    'listed ER': 'Compared: differs. Stuck `report.differs`.',
    'listed FR': 'A later sequence of the day counts.',
    'listed BR': 'Its answer is requested again, for the reasons.',
    'not listed': 'The same bytes are sent.',
  },
  listIssuers: {
    list: 'Those changed since the given time; may be empty.',
  },
};

export const GENERAL_NOTES: Partial<Record<CommonAnswer, string>> = {
  unreached:
    'No connection, breaker open, or the answer to a query was lost. CFEs wait at the gate; then enterprises take turns, oldest first.',
  http: 'An error page, a SOAP fault, other XML, an invalid signature, an answer about something else.',
};
