/**
 * What we do about every answer of the authority, and about none: the one table (dgi/transport.md §5, §6, §11, §13).
 * A send whose outcome nobody knows is never simply repeated: the authority is asked first, and only what it surely
 * does not have goes out again, the same bytes.
 */

/** What was asked of the authority: to take a sobre, to say whether it has it, for its verdict, about a RUT. */
export type Situation = 'send' | 'find' | 'ask' | 'lookUp';

/**
 * Business answers settle something. `askFirst`: the outcome of a send is unknown. `repeat`: tried again by itself.
 * `stuck`: a person must look.
 */
export type Reaction =
  | 'received'
  | 'refused'
  | 'duplicate'
  | 'absent'
  | 'accepted'
  | 'rejected'
  | 'observed'
  | 'original'
  | 'notYet'
  | 'recover'
  | 'found'
  | 'unknown'
  | 'askFirst'
  | 'repeat'
  | 'stuck';

interface Row {
  readonly when: Situation | 'any';
  /** What may come, by key; `code N` is a service's exception. */
  readonly answers: readonly string[];
  readonly reaction: Reaction;
  /** For people: what the answer means and what is done about it. */
  readonly words: string;
  /** Of what is stuck: its stable reason. */
  readonly reason?: string;
  /** Of no answer: whether the authority was there at all; then patience counts. */
  readonly reached?: boolean;
}

const codes = (...numbers: number[]): string[] => numbers.map((number) => `code ${number}`);

const SEND: readonly Row[] = [
  {
    when: 'send',
    answers: ['AS'],
    reaction: 'received',
    words:
      'It has the sobre. Its number and token are stored; from Fechahora on it is asked for the verdict.',
  },
  {
    when: 'send',
    answers: ['AS without token'],
    reaction: 'askFirst',
    words: 'It has the sobre, but gave nothing to ask with: the list of sobres is asked for it.',
  },
  {
    when: 'send',
    answers: ['S01', 'S02', 'S03', 'S04', 'S05', 'S06', 'S07'],
    reaction: 'refused',
    words:
      'Nothing in the sobre was registered, and the same bytes will never be: the CFE is rejected with these reasons.',
  },
  {
    when: 'send',
    answers: ['S08'],
    reaction: 'duplicate',
    words:
      'It has this sobre already: our own, from a send whose answer was lost. It is asked for number and token; where its list does not show the sobre for longer than CFE_PATIENCE, support is asked (`undecided`). Answered to the very first send, it means that another sobre has the number (of another system of the company, or from before the database was restored): the CFE goes out in a new sobre with the next number.',
  },
  {
    when: 'send',
    answers: ['BS'],
    reaction: 'stuck',
    reason: 'sobre.unknown_refusal',
    words:
      'It refused the sobre for a reason that no rule covers. Find out what the code means; then retry, or abandon the CFE.',
  },
  { when: 'send', answers: codes(108), reaction: 'duplicate', words: 'As S08, by another way.' },
  {
    when: 'send',
    answers: codes(11),
    reaction: 'refused',
    words: 'The sobre is above the largest size, as S07. It holds one CFE, so that nothing can be split.',
  },
  {
    when: 'send',
    answers: codes(13, 99, 100, 102, 104, 105),
    reaction: 'askFirst',
    words: 'An exception inside the authority: whether it kept the sobre, nobody knows.',
  },
  {
    when: 'send',
    answers: ['unreached', 'held back'],
    reaction: 'repeat',
    words:
      'No connection was made, or none was tried while the endpoint is away (its breaker is open), so that nothing was sent. While it is away the CFE waits for its turn; when the authority is back, CFEs go by enterprise in turn, the oldest first.',
  },
  {
    when: 'send',
    answers: ['no answer', 'http', 'too large', 'unreadable', 'fault', 'bad signature', 'other subject'],
    reaction: 'askFirst',
    reached: true,
    words: 'Sent, and then no answer to go by: whether it kept the sobre, nobody knows.',
  },
];

const FIND: readonly Row[] = [
  {
    when: 'find',
    answers: ['listed'],
    reaction: 'received',
    words: 'It has the sobre; number and token are in its list.',
  },
  {
    when: 'find',
    answers: ['listed without token'],
    reaction: 'repeat',
    reached: true,
    words: 'It has the sobre, but its list gives nothing to ask with.',
  },
  {
    when: 'find',
    answers: ['listed as refused'],
    reaction: 'refused',
    words: 'It refused the sobre. Its list holds no reasons: sending the same bytes again brings them.',
  },
  {
    when: 'find',
    answers: ['not listed'],
    reaction: 'absent',
    words: 'It does not have the sobre: the same bytes are sent (again). Should its list lag, S08 tells.',
  },
  {
    when: 'find',
    answers: codes(13, 99, 100, 102, 104, 105),
    reaction: 'repeat',
    reached: true,
    words: 'An exception inside the authority, at a question that changes nothing.',
  },
];

const ASK: readonly Row[] = [
  { when: 'ask', answers: ['AE'], reaction: 'accepted', words: 'The CFE is accepted.' },
  {
    when: 'ask',
    answers: ['BE'],
    reaction: 'rejected',
    words: 'The CFE is rejected with these reasons; its number is to be annulled.',
  },
  {
    when: 'ask',
    answers: ['CE'],
    reaction: 'observed',
    words: 'The CFE is observed (the authority gives this to contingency receipts only).',
  },
  {
    when: 'ask',
    answers: ['other state'],
    reaction: 'stuck',
    reason: 'verdict.unknown_state',
    words:
      'The state of the CFE is one that no rule covers (FE, say). Ask the authority what it means; then settle by asking.',
  },
  {
    when: 'ask',
    answers: ['other receipt'],
    reaction: 'stuck',
    reason: 'verdict.other_cfe',
    words:
      'The verdict at our place in the sobre names another type, series, number or moment of signing. Ask the authority about the sobre; was the database restored to an earlier moment, see docs/backup.md.',
  },
  {
    when: 'ask',
    answers: ['no verdict on it'],
    reaction: 'notYet',
    words: 'The answer covers other receipts of the sobre only: it is asked again.',
  },
  {
    when: 'ask',
    answers: ['E02 of ours'],
    reaction: 'original',
    words:
      'The number was received before, in another sobre of ours for the same CFE (one that we hold, or one whose receipt was signed in the same second: a restored database lacks its last sobres): that one’s verdict counts, not this rejection.',
  },
  {
    when: 'ask',
    answers: ['E02 of others'],
    reaction: 'stuck',
    reason: 'duplicate.not_ours',
    words:
      'The authority has this number from a sobre that is not ours: another system of the company issues from the same CAE, the CAE’s start was set too low, or the database was restored to an earlier moment (docs/backup.md). The number must not be annulled. Find out who used it; then abandon the CFE and issue it anew.',
  },
  {
    when: 'ask',
    answers: codes(13, 99, 105),
    reaction: 'notYet',
    words: 'The sobre is not processed yet: it is asked again.',
  },
  {
    when: 'ask',
    answers: codes(104),
    reaction: 'recover',
    words:
      'It knows no such sobre, or failed: its list gives the right number and token; else it is asked again.',
  },
  {
    when: 'ask',
    answers: codes(100, 102),
    reaction: 'repeat',
    reached: true,
    words: 'An exception inside the authority, at a question that changes nothing.',
  },
];

const LOOK_UP: readonly Row[] = [
  { when: 'lookUp', answers: ['record'], reaction: 'found', words: 'The registry’s record of the RUT.' },
  {
    when: 'lookUp',
    answers: codes(8, 9),
    reaction: 'found',
    words:
      'The RUT is registered without a principal branch, or without its address: a record with nothing more.',
  },
  {
    when: 'lookUp',
    answers: codes(10, 11, 12),
    reaction: 'found',
    words:
      'The RUT never had activity (NT), has it no more (CC), or not yet (AF): a record with this status.',
  },
  {
    when: 'lookUp',
    answers: codes(5, 6, 7, 14),
    reaction: 'unknown',
    words: 'The registry does not know the RUT.',
  },
  {
    when: 'lookUp',
    answers: codes(1),
    reaction: 'repeat',
    reached: true,
    words: 'An error inside the registry.',
  },
];

const ANY: readonly Row[] = [
  {
    when: 'any',
    answers: codes(1, 2, 3, 4, 111),
    reaction: 'stuck',
    reason: 'authority.our_mistake',
    words:
      'The authority cannot use our question (token, number): a mistake of ours, or mixed-up companies. Report it with the code.',
  },
  {
    when: 'any',
    answers: codes(5, 12),
    reaction: 'stuck',
    reason: 'authority.certificate',
    words: 'The authority does not take the enterprise’s certificate. Upload a valid one; then retry.',
  },
  {
    when: 'any',
    answers: codes(6, 7),
    reaction: 'stuck',
    reason: 'authority.caller',
    words:
      'The authority cannot tell from the certificate whose it is. Upload one of the company; then retry.',
  },
  {
    when: 'any',
    answers: codes(8, 9, 10),
    reaction: 'stuck',
    reason: 'authority.user',
    words:
      'The user at the authority is invalid or not authorised. Have the company mend it in the portal; then retry.',
  },
  {
    when: 'any',
    answers: codes(101),
    reaction: 'stuck',
    reason: 'authority.no_permission',
    words: 'The company may not use the service. Have it ask for the permission in the portal; then retry.',
  },
  {
    when: 'any',
    answers: codes(103),
    reaction: 'stuck',
    reason: 'authority.not_an_issuer',
    words: 'The RUT is no electronic issuer. Have the company complete its authorisation; then retry.',
  },
  {
    when: 'any',
    answers: codes(201, 202, 211, 212, 221, 222, 223, 224, 225, 226, 227),
    reaction: 'stuck',
    reason: 'authority.certification_stage',
    words: 'The company is in the certification stage at the authority. Have it complete that; then retry.',
  },
  {
    when: 'any',
    answers: ['code *'],
    reaction: 'stuck',
    reason: 'authority.unknown_code',
    words: 'The authority answered a code that no rule covers. Find out what it means; then retry.',
  },
  {
    when: 'any',
    answers: ['fault security'],
    reaction: 'stuck',
    reason: 'authority.signature_refused',
    words:
      'The authority’s gateway does not take the signature of our requests. Check the certificate and CFE_DGI_SOAP_HASH; then retry.',
  },
  {
    when: 'any',
    answers: ['untrusted signer'],
    reaction: 'stuck',
    reason: 'authority.untrusted_signer',
    words:
      'The answer is signed by a certificate that is not among the configured ones of the authority, or not valid at its date. Check whether the authority has a new one, add it (authority-certificate add); then retry.',
  },
  {
    when: 'any',
    answers: ['unreached', 'held back'],
    reaction: 'repeat',
    words:
      'No connection to the authority, or none was tried while the endpoint is away (its breaker is open).',
  },
  {
    when: 'any',
    answers: ['no answer'],
    reaction: 'repeat',
    words: 'The connection was lost, or the answer did not come in time, at a question that changes nothing.',
  },
  {
    when: 'any',
    answers: ['http', 'too large', 'unreadable', 'fault', 'bad signature', 'other subject'],
    reaction: 'repeat',
    reached: true,
    words:
      'An answer that is none: an error page, a SOAP fault, not the XML that belongs here, a signature that does not verify, an answer about something else.',
  },
];

/** Every row, in the order in which they are looked through. */
export const OUTCOMES: readonly Row[] = [...SEND, ...FIND, ...ASK, ...LOOK_UP, ...ANY];
export type Outcome = Row;

/** The row for an answer: that of the situation, else that of any; a code that stands nowhere is `code *`. */
export function outcomeOf(situation: Situation, answer: string): Outcome {
  const row =
    OUTCOMES.find(({ when, answers }) => when === situation && answers.includes(answer)) ??
    OUTCOMES.find(({ when, answers }) => when === 'any' && answers.includes(answer));
  if (row) return row;
  if (answer.startsWith('code ')) return outcomeOf(situation, 'code *');
  throw new RangeError(`no row for ${situation}, ${answer}`);
}

/** The reaction to an answer in a situation, or undefined where the table has no row of its own for it. */
export const reactionTo = (situation: Situation, answer: string): Reaction | undefined =>
  OUTCOMES.find(({ when, answers }) => when === situation && answers.includes(answer))?.reaction;

/** No answer to go by: it goes on by itself, or a person must look. */
export type Unsettled =
  | {
      readonly kind: 'repeat';
      /** For logs and failures: what happened, in a few words. */
      readonly what: string;
      /** Whether the authority was there: one that cannot be reached makes nobody stuck, however long. */
      readonly reached: boolean;
    }
  | { readonly kind: 'stuck'; readonly reason: string; readonly explanation: string };

/** What an answer that settles nothing comes to; `detail` is a status or code, never the authority's text. */
export function unsettled(situation: Situation, answer: string, detail?: string): Unsettled {
  const { reaction, reason, words, reached = false } = outcomeOf(situation, answer);
  const found = detail ?? answer;
  if (reaction === 'stuck') {
    return { kind: 'stuck', reason: reason ?? 'authority.unknown_code', explanation: `${words} (${found})` };
  }
  return { kind: 'repeat', what: found, reached: reached || answer.startsWith('code ') };
}

const SITUATION_WORDS: Readonly<Record<Row['when'], string>> = {
  send: 'A sobre is sent',
  find: 'Is the sobre there?',
  ask: 'The verdict is asked for',
  lookUp: 'A RUT is looked up',
  any: 'Any of them, unless told above',
};

/** The table as Markdown, for docs/outcomes.md. */
export function describeOutcomes(): string {
  const rows = OUTCOMES.map(
    ({ when, answers, reaction, reason, words }) =>
      `| ${SITUATION_WORDS[when]} | ${answers.map((answer) => `\`${answer}\``).join(', ')} | ${reaction}${reason ? ` \`${reason}\`` : ''} | ${words} |`,
  );
  return [
    '| Situation | Answer | Reaction | What it means, and what is done |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
