import type { AttemptOperation } from '../attempt.ts';
import type { NextStep } from '../cfeProgress.ts';
import type { CfeStatus } from '../cfeStatus.ts';
import type { StuckReason } from '../stuckReason.ts';
import type { SupportAction, SupportOutcome } from '../supportAction.ts';

/** A name in a few words, and a sentence or two on it. */
export interface Words {
  readonly label: string;
  readonly means: string;
}

/** What every language has words for; the names of answers, and of the timeline's lines, are those of the English below. */
interface Named {
  readonly status: Record<CfeStatus, Words>;
  /** `mend`: what a person of support does about it. */
  readonly stuck: Record<StuckReason, Words & { readonly mend: string }>;
  readonly next: Record<NextStep, string>;
  /** `means`: what will be done. */
  readonly action: Record<SupportAction, Words>;
  readonly outcome: Record<SupportOutcome, string>;
  readonly operation: Record<AttemptOperation, string>;
}

export const WORDS_EN = {
  status: {
    PENDING: {
      label: 'on its way',
      means: 'It has its number and has not been received by the authority yet.',
    },
    RECEIVED: { label: 'received', means: 'The authority has it and has not decided yet.' },
    ACCEPTED: { label: 'accepted', means: 'The authority has accepted it.' },
    REJECTED: { label: 'rejected', means: 'It does not count. What was sold needs a new CFE.' },
    OBSERVED: {
      label: 'accepted with observations',
      means: 'The authority has accepted it and noted something.',
    },
  },
  stuck: {
    signing: {
      label: 'cannot be signed',
      means: 'The private key of its certificate cannot be opened. Nothing goes to the authority meanwhile.',
      mend: 'Configure the key-encryption key, or have the company upload a new certificate; then retry.',
    },
    undecided: {
      label: 'no verdict for too long',
      means: 'The authority answers, and has not decided in the time that it is given (CFE_PATIENCE).',
      mend: 'Ask the authority what became of it; then settle by asking, or retry.',
    },
    internal: {
      label: 'our own code fails',
      means: 'A step has kept failing for an hour by a mistake of ours. It is tried again by itself.',
      mend: 'Nothing for support to do: tell the developers. With a version that mends it, it goes on by itself.',
    },
    'sobre.unknown_refusal': {
      label: 'sobre refused, code unknown',
      means: 'The authority refused the sobre with a code that no rule covers.',
      mend: 'Find out what the code means; then retry, or abandon it.',
    },
    'sobre.refused_without_reasons': {
      label: 'sobre refused without reasons',
      means: 'The authority lists the sobre as refused and does not say why.',
      mend: 'Ask the authority for its reasons; then retry, or abandon it.',
    },
    'verdict.unknown_state': {
      label: 'verdict unknown',
      means: 'The authority gives a state that no rule covers (FE, say).',
      mend: 'Ask the authority what it means; then settle by asking.',
    },
    'verdict.other_cfe': {
      label: 'verdict on another receipt',
      means:
        'The verdict at our place in the sobre names another type, serie, number or moment of signing than this CFE has.',
      mend: 'Ask the authority about the sobre. After a restored backup, see docs/backup.md.',
    },
    'duplicate.not_ours': {
      label: 'number used by another system',
      means:
        'The authority has this number from a sobre that is not ours: another system of the company issues from the same CAE, the start of the CAE was set too low, or the database was restored to an earlier moment (docs/backup.md).',
      mend: 'Find out who used it; then abandon this CFE and issue it anew. Do not annul the number.',
    },
    'authority.our_mistake': {
      label: 'our question was wrong',
      means:
        'The authority cannot use our question (token, number): a mistake of ours, or mixed-up companies.',
      mend: 'Report it to the developers with the code.',
    },
    'authority.certificate': {
      label: 'certificate not accepted',
      means: "The authority does not accept the company's certificate.",
      mend: 'Have the company upload a valid certificate; then retry.',
    },
    'authority.caller': {
      label: 'certificate of whom?',
      means: 'The authority cannot tell from the certificate whose it is.',
      mend: 'Have the company upload a certificate of its own; then retry.',
    },
    'authority.user': {
      label: 'user not authorised',
      means: 'The user at the authority is invalid or not authorised.',
      mend: "Have the company mend it in the authority's portal; then retry.",
    },
    'authority.no_permission': {
      label: 'no permission for the service',
      means: 'The company may not use the service of the authority.',
      mend: "Have the company ask for the permission in the authority's portal; then retry.",
    },
    'authority.not_an_issuer': {
      label: 'not an electronic issuer',
      means: 'The authority does not know the RUT as an electronic issuer.',
      mend: 'Have the company complete its authorisation; then retry.',
    },
    'authority.certification_stage': {
      label: 'still in certification',
      means: 'The company is in the certification stage at the authority.',
      mend: 'Have the company complete it; then retry.',
    },
    'authority.unknown_code': {
      label: 'code unknown',
      means: 'The authority answered a code that no rule covers.',
      mend: 'Find out what it means; then retry.',
    },
    'authority.signature_refused': {
      label: 'signature of our request refused',
      means: "The authority's gateway does not accept the signature of our requests.",
      mend: 'Check the certificate and CFE_DGI_SOAP_HASH; then retry.',
    },
    'authority.untrusted_signer': {
      label: 'answer signed by a stranger',
      means:
        'The answer is signed by a certificate that is not one of the authority as configured here, or was not valid at its date.',
      mend: 'Check whether the authority has a new certificate and add it (authority-certificate add); then retry.',
    },
    'report.format': {
      label: 'report not readable (R01)',
      means: 'The authority cannot read the report: a mistake of ours.',
      mend: 'Have it mended; then retry: the report is made anew with the same sequence.',
    },
    'report.company': {
      label: 'report of another company (R02)',
      means: 'The RUCs of report, certificate and request differ.',
      mend: 'Upload a certificate of the company; then retry.',
    },
    'report.signature': {
      label: "report's signature refused (R03)",
      means: 'The authority does not accept the signature or the certificate of the report.',
      mend: 'Upload a valid certificate; then retry: the report is signed anew with the same sequence.',
    },
    'report.content': {
      label: "report's content refused (R04)",
      means:
        'What the report says breaks a rule of the format, in sums, dates or branches (one that is not registered, say); its text says which.',
      mend: 'Have it mended; then retry.',
    },
    'report.unknown_refusal': {
      label: 'report refused, code unknown',
      means: 'The authority refused the report with a code that no rule covers.',
      mend: 'Find out what the code means; then retry.',
    },
    'report.other_system': {
      label: 'report of another system',
      means: 'The authority has a report of the day from another system of the company.',
      mend: 'Agree with the company which system reports; then retry, or settle to leave the day as it is.',
    },
    'report.differs': {
      label: 'report differs',
      means: 'The authority holds other CFEs for the day than the report says.',
      mend: 'Compare them; then retry, or settle to leave the day as it is.',
    },
    'report.unknown_state': {
      label: "report's state unknown",
      means: 'The authority lists the report in a state that no rule covers.',
      mend: 'Ask the authority what it means; then retry.',
    },
    'report.last_sequence': {
      label: 'no sequence left',
      means: 'The report of the day was sent as often as a report can be.',
      mend: 'Agree with the authority how to correct the day; then settle.',
    },
  },
  /** The reasons of rejections, the authority's (docs/authority/sobres.md) and ours. */
  rejection: {
    E01: 'The number was reported as annulled before.',
    E02: 'DGI has a CFE with this type, serie and number already, from another sobre. The number stays valid.',
    E03: 'The number does not belong to the CAE.',
    E04: 'The signature is not valid.',
    E05: 'It fails a validation of the format; the detail says which.',
    E06: "The amount is far above the usual. Unless there are other reasons, the company may still accept it in DGI's portal within 60 days.",
    E07: 'It was signed outside the dates of the CAE.',
    E08: 'The RUC is not that of the fiscal complement.',
    E09: 'The CAE is of another issuer or type, or the company is not authorised for the type. The number may be used again.',
    E10: 'The exchange rate is not valid.',
    E11: 'The CFE and the CAE do not agree on being special.',
    E12: 'DGI does not have the CFE that the note refers to.',
    E13: 'The CAE is of another kind, such as one for paper.',
    E14: "Irregularities in the company's standing at DGI; nothing in the CFE can mend that.",
    E15: 'The company is a contumacious debtor (deudor contumaz) and has not declared its situation.',
    S01: 'The sobre, the envelope in which the CFE went, is not in the prescribed format.',
    S02: 'The RUCs of sobre, certificate, sender or CFE differ.',
    S03: 'The certificate is not valid.',
    S04: 'The sobre fails the format.',
    S05: 'The sobre does not hold the number of CFEs that it says.',
    S06: 'The certificate of the sobre is not that of its CFE.',
    S07: 'The sobre is above the largest size.',
    S08: 'DGI has a sobre of this number already.',
    'reference.rejected': 'The CFE that it corrects was rejected, so it was never sent.',
    abandoned: 'Support gave it up; it never counted.',
    'duplicate.not_ours': 'Another system of the company used its number, which must not be annulled.',
  },
  /** What the company that issued it does about each, in Markdown; the guides' table shows it. */
  rejectionMend: {
    E01: 'Issue it anew; if it comes again, tell support.',
    E02: 'Tell support: another system uses numbers of this CAE.',
    E03: 'Tell support.',
    E04: 'Look at the certificate in the console, upload a valid one, issue anew.',
    E05: 'Tell support with the detail: the service checks the format before it sends.',
    E06: "The amount is right: accept it in DGI's portal; it becomes ACCEPTED by itself, and you issue nothing. It is wrong: issue it anew, and never accept the first one in the portal.",
    E07: 'Look at the CAEs in the console, upload a current one, issue anew.',
    E08: 'Tell support.',
    E09: "Compare the CAE with DGI's portal; issue anew once it is right.",
    E10: "Compare `exchange_rate` with the central bank's, issue anew.",
    E11: 'Tell support.',
    E12: 'Read the original: is it ACCEPTED, and the right one? Issue the note anew.',
    E13: 'Upload an electronic CAE, issue anew.',
    E14: 'The company settles them with DGI.',
    E15: 'The company settles it with DGI.',
    S01: 'Tell support.',
    S02: "Look at the certificate: is it this company's?",
    S03: 'Upload a valid one, issue anew.',
    S04: 'Tell support.',
    S05: 'Tell support.',
    S06: 'Tell support.',
    S07: 'Issue it with fewer lines.',
    S08: 'Tell support.',
    'reference.rejected':
      "Do what the original's own code says; a new note is issued only on a receipt that is valid.",
    abandoned: 'Issue it anew.',
    'duplicate.not_ours': 'Tell support; issue it anew.',
  },
  annulled: 'Its number cannot be used again: it is annulled, and what was sold goes out in a new CFE.',
  next: {
    ended: 'Nothing: it has its verdict.',
    support: 'It waits for a person.',
    portal:
      "Rejected for E06 alone: the company may still accept it in the authority's portal. The authority is asked once a day; after 60 days the number is annulled.",
    sign: 'Its XML is written and signed.',
    original: 'The CFE that it corrects has no verdict yet; it goes on by itself once that has one.',
    authority: 'The authority does not answer; it goes on by itself once it does.',
    slot: 'Others are before it: it waits for its slot to be sent.',
    send: 'It is sent to the authority.',
    ask: 'The authority is asked for its verdict.',
  },
  action: {
    retry: {
      label: 'Retry',
      means:
        'The step that was stuck is taken again. The authority is asked before anything is sent a second time.',
    },
    settle: { label: 'Settle by asking', means: 'The authority is asked what it has. Nothing is sent.' },
    abandon: {
      label: 'Abandon',
      means:
        'It is given up for good, if the authority surely does not have it: it ends rejected, and its number is annulled.',
    },
  },
  outcome: {
    retried: 'the step was taken again',
    settled: 'what the authority has was stored',
    abandoned: 'it was given up',
    refused: 'refused, and nothing was changed',
  },
  operation: {
    sendSobre: 'Sobre sent',
    askVerdict: 'Asked for the verdict',
    findSobre: 'Asked whether it has the sobre',
    findCfe: 'Asked whether it has the number',
  },
  answer: {
    AS: 'It has the sobre.',
    'AS without token': 'It has the sobre, and gave nothing to ask with; its list is asked.',
    BS: 'It refused the sobre.',
    AE: 'It accepted the CFE.',
    BE: 'It rejected the CFE.',
    CE: 'It accepted the CFE with observations.',
    'no verdict on it': 'It has not decided yet.',
    listed: 'It has the sobre in its list.',
    'listed as refused': 'It lists the sobre as refused.',
    'listed without token': 'It lists the sobre, and gives nothing to ask with yet.',
    'not listed': 'It does not have the sobre: the same bytes are sent again.',
    found: 'It has the fiscal number.',
    'found without token': 'It has the number, and gives nothing to ask with yet.',
    'not found': 'It does not have the fiscal number.',
    unreached: 'No connection was made; nothing was sent.',
    'no answer': 'Sent, and no answer came: it is asked before anything is sent again.',
    http: 'An error page instead of an answer.',
    'too large': 'An answer larger than any real one.',
    unreadable: 'An answer that cannot be read.',
    fault: 'The gateway failed (SOAP fault).',
    'bad signature': 'The signature of the answer does not verify.',
    'other subject': 'An answer about another company or another sobre.',
    document: 'A document about several receipts.',
    'not yet': 'Not processed yet: it is asked again.',
    inner: 'An exception inside the authority: it is asked again.',
    'unknown sobre': 'It knows no such sobre, or failed: its list is asked.',
    'received before': 'It has received this sobre before.',
    other: 'An answer that no rule covers.',
  },
  timeline: {
    numbered: 'Request taken: it has its number',
    by: (key: string) => `By the API key ${key}`,
    sobreMade: (idemisor: string) => `Signed, in sobre ${idemisor}`,
    sobreSent: (idemisor: string) => `Sobre ${idemisor} on its way to the authority`,
    sobreRefused: (idemisor: string) => `Sobre ${idemisor} sent, and refused`,
    sobreReceived: (idemisor: string) => `Sobre ${idemisor} received by the authority`,
    stuck: (label: string) => `Waits for a person: ${label}`,
    goesOn: 'Goes on',
    asked: 'asked for; no outcome so far',
    from: (address: string) => `from ${address}`,
    unverified: 'unverified: asked for in Temporal, which knows no logins',
    verdict: (label: string) => `Verdict: ${label}`,
    first: (count: number) => `first of ${count}`,
    last: (count: number) => `last of ${count}`,
  },
  observation: 'An observation: the CFE is valid.',
  otherRejection: 'A code that no rule covers.',
} satisfies Named & Record<string, unknown>;

/** The words of one language. */
export type CfeWords = typeof WORDS_EN;
