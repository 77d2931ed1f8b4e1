import type { AttemptOperation } from '../../domain/authority/attempt.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { NextStep } from '../../domain/operations/cfeProgress.ts';
import type { SupportAction, SupportOutcome } from '../../domain/operations/supportAction.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';

/** A name in a few words, and a sentence or two on it. */
export interface Words {
  readonly label: string;
  readonly means: string;
}

/** The words that every language must have; the keys of `answer` and `timeline` come from the English words below. */
interface RequiredWords {
  readonly status: Record<CfeStatus, Words>;
  /** `fix`: the action of support that resolves the reason. */
  readonly stuck: Record<StuckReason, Words & { readonly fix: string }>;
  readonly next: Record<NextStep, string>;
  /** `means`: the effect of the action. */
  readonly action: Record<SupportAction, Words>;
  readonly outcome: Record<SupportOutcome, string>;
  readonly operation: Record<AttemptOperation, string>;
}

export const WORDS_EN = {
  status: {
    PENDING: {
      label: 'on its way',
      means: 'It has its number. DGI has not received it yet.',
    },
    RECEIVED: { label: 'in process at DGI', means: 'DGI has received it and has not answered yet.' },
    ACCEPTED: { label: 'accepted', means: 'DGI accepted it.' },
    REJECTED: { label: 'rejected', means: 'Not valid.' },
    OBSERVED: {
      label: 'accepted with observations',
      means: 'DGI accepted it and noted something. It is valid.',
    },
  },
  stuck: {
    signing: {
      label: 'cannot be signed',
      means: 'The private key of its certificate cannot be opened. Nothing is sent to DGI meanwhile.',
      fix: 'Configure the key-encryption key, or ask the company to upload a new certificate; then retry.',
    },
    undecided: {
      label: 'no answer for too long',
      means: 'DGI responds, but has not decided in the time allowed (CFE_PATIENCE).',
      fix: 'Find out from DGI what happened; then ask DGI again (settle), or retry.',
    },
    internal: {
      label: 'error of our own',
      means:
        'A step has been failing for an hour because of an error in this service. It is retried automatically.',
      fix: 'Support has nothing to do: inform the developers. It continues automatically with a version that fixes it.',
    },
    'sobre.unknown_refusal': {
      label: 'sobre rejected, code unknown',
      means: 'DGI rejected the sobre with a code that no rule covers.',
      fix: 'Find out what the code means; then retry, or give it up (abandon).',
    },
    'sobre.refused_without_reasons': {
      label: 'sobre rejected without reasons',
      means: 'DGI lists the sobre as rejected and does not say why.',
      fix: 'Ask DGI for its reasons; then retry, or give it up (abandon).',
    },
    'verdict.unknown_state': {
      label: 'unexpected answer from DGI',
      means: 'DGI gives a state that no rule covers (FE, for example).',
      fix: 'Find out from DGI what it means; then ask DGI again (settle).',
    },
    'verdict.other_cfe': {
      label: 'answer about another receipt',
      means:
        'DGI’s answer for our place in the sobre names another type, series, number or moment of signing than this receipt has.',
      fix: 'Ask DGI about the sobre. After a restored backup, see docs/backup.md.',
    },
    'duplicate.not_ours': {
      label: 'number used by another system',
      means:
        'DGI has this number from a sobre that is not ours: another system of the company issues from the same CAE, the first number to use was set too low, or the database was restored to an earlier moment (docs/backup.md).',
      fix: 'Find out who used the number; then give this receipt up (abandon) and issue it again. Do not annul the number.',
    },
    'authority.our_mistake': {
      label: 'DGI could not use our request',
      means: 'DGI could not use our request (token, number): an error of ours, or companies mixed up.',
      fix: 'Report it to the developers, with the code.',
    },
    'authority.certificate': {
      label: 'certificate not accepted',
      means: 'DGI does not accept the company’s certificate.',
      fix: 'Ask the company to upload a valid certificate; then retry.',
    },
    'authority.caller': {
      label: 'certificate holder unknown',
      means: 'DGI cannot tell from the certificate who its holder is.',
      fix: 'Ask the company to upload a certificate of its own; then retry.',
    },
    'authority.user': {
      label: 'user not authorised',
      means: 'The company’s user at DGI is not valid or not authorised.',
      fix: 'Ask the company to correct it in DGI’s portal; then retry.',
    },
    'authority.no_permission': {
      label: 'no permission for the service',
      means: 'The company is not allowed to use this DGI service.',
      fix: 'Ask the company to request the permission in DGI’s portal; then retry.',
    },
    'authority.not_an_issuer': {
      label: 'not an electronic issuer',
      means: 'DGI does not know the RUT as an electronic issuer.',
      fix: 'Ask the company to complete its authorisation; then retry.',
    },
    'authority.certification_stage': {
      label: 'still in certification',
      means: 'The company is in DGI’s certification stage.',
      fix: 'Ask the company to complete it; then retry.',
    },
    'authority.unknown_code': {
      label: 'unknown code from DGI',
      means: 'DGI answered with a code that no rule covers.',
      fix: 'Find out what it means; then retry.',
    },
    'authority.signature_refused': {
      label: 'signature of our request not accepted',
      means: 'DGI’s gateway does not accept the signature of our requests.',
      fix: 'Check the certificate and CFE_DGI_SOAP_HASH; then retry.',
    },
    'authority.untrusted_signer': {
      label: 'answer signed by an unknown certificate',
      means:
        'The answer is signed by a certificate that is not configured here as DGI’s, or was not valid on that date.',
      fix: 'Check whether DGI has a new certificate and add it (authority-certificate add); then retry.',
    },
    'report.format': {
      label: 'report not readable (R01)',
      means: 'DGI cannot read the report: an error of ours.',
      fix: 'Inform the developers. Once it is fixed, retry: the report is created again with the same sequence.',
    },
    'report.company': {
      label: 'report of another company (R02)',
      means: 'The RUCs of report, certificate and request do not match.',
      fix: 'Ask the company to upload its own certificate; then retry.',
    },
    'report.signature': {
      label: 'signature of the report not accepted (R03)',
      means: 'DGI does not accept the signature or the certificate of the report.',
      fix: 'Ask the company to upload a valid certificate; then retry: the report is signed again with the same sequence.',
    },
    'report.content': {
      label: 'content of the report rejected (R04)',
      means:
        'The report breaks a rule of the format, in sums, dates or branches (one that is not registered, for example); DGI’s text says which.',
      fix: 'Correct the cause; then retry.',
    },
    'report.unknown_refusal': {
      label: 'report rejected, code unknown',
      means: 'DGI rejected the report with a code that no rule covers.',
      fix: 'Find out what the code means; then retry.',
    },
    'report.other_system': {
      label: 'report from another system',
      means: 'DGI has a report of the day from another system of the company.',
      fix: 'Agree with the company which system reports; then retry, or leave the day as it is (settle).',
    },
    'report.differs': {
      label: 'report differs',
      means: 'DGI has other receipts for the day than the report says.',
      fix: 'Compare them; then retry, or leave the day as it is (settle).',
    },
    'report.unknown_state': {
      label: 'state of the report unknown',
      means: 'DGI lists the report in a state that no rule covers.',
      fix: 'Ask DGI what it means; then retry.',
    },
    'report.last_sequence': {
      label: 'no sequence left',
      means: 'The report of the day has been sent the maximum number of times.',
      fix: 'Agree with DGI how to correct the day; then leave it as it is (settle).',
    },
  },
  /** The reasons of rejections, the authority's (docs/authority/sobres.md) and ours. */
  rejection: {
    E01: 'The number was already reported as annulled.',
    E02: 'DGI already has a receipt with this type, series and number, from another sobre. The number stays valid.',
    E03: 'The number does not belong to the CAE.',
    E04: 'The signature is not valid.',
    E05: 'It does not pass a validation of the format; the detail says which.',
    E06: 'The amount is far above the usual. If there are no other reasons, the company may still accept it in DGI’s portal within 60 days.',
    E07: 'It was signed outside the dates of the CAE.',
    E08: 'The RUC does not match the fiscal complement.',
    E09: 'The CAE belongs to another issuer or type, or the company is not authorised for the type. The number may be used again.',
    E10: 'The exchange rate is not valid.',
    E11: 'Receipt and CAE do not match: only one of them is special.',
    E12: 'DGI does not have the receipt that the note refers to.',
    E13: 'The CAE is of another kind, such as one for paper.',
    E14: 'Irregularities in the company’s registration with DGI; nothing in the receipt can correct them.',
    E15: 'The company is a contumacious debtor (deudor contumaz) and has not declared its situation.',
    S01: 'The sobre, the envelope in which the receipt was sent, is not in the prescribed format.',
    S02: 'The RUCs of sobre, certificate, sender or receipt do not match.',
    S03: 'The certificate is not valid.',
    S04: 'The sobre does not pass the validation of its format.',
    S05: 'The sobre does not contain the number of receipts that it states.',
    S06: 'The certificate of the sobre is not that of its receipt.',
    S07: 'The sobre exceeds the maximum size.',
    S08: 'DGI already has a sobre with this number.',
    'reference.rejected': 'The receipt that it corrects was rejected, so this one was never sent.',
    abandoned: 'Support gave it up; it was never valid.',
    'duplicate.not_ours': 'Another system of the company used its number, which must not be annulled.',
  },
  /** The company's remedy for each reason, in Markdown, for the table in the guides. */
  rejectionRemedy: {
    E01: 'Issue it again; if the same happens, inform support.',
    E02: 'Inform support: another system uses numbers of this CAE.',
    E03: 'Inform support.',
    E04: 'Check the certificate in the console, upload a valid one and issue again.',
    E05: 'Inform support, with the detail: the service checks the format before it sends.',
    E06: 'If the amount is right: accept it in DGI’s portal; it becomes accepted (ACCEPTED) automatically, and you issue nothing. If it is wrong: issue it again, and never accept the first one in the portal.',
    E07: 'Check the CAEs in the console, upload one in force and issue again.',
    E08: 'Inform support.',
    E09: 'Compare the CAE with DGI’s portal; issue again once it is right.',
    E10: 'Compare the exchange rate (`exchange_rate`) with the central bank’s and issue again.',
    E11: 'Inform support.',
    E12: 'Check the original: is it accepted (ACCEPTED), and the right one? Then issue the note again.',
    E13: 'Upload an electronic CAE and issue again.',
    E14: 'The company settles them with DGI.',
    E15: 'The company settles it with DGI.',
    S01: 'Inform support.',
    S02: 'Check the certificate: is it this company’s?',
    S03: 'Upload a valid certificate and issue again.',
    S04: 'Inform support.',
    S05: 'Inform support.',
    S06: 'Inform support.',
    S07: 'Issue it with fewer lines.',
    S08: 'Inform support.',
    'reference.rejected': 'Do what the original’s own code says; issue a new note only for a valid receipt.',
    abandoned: 'Issue it again.',
    'duplicate.not_ours': 'Inform support, then issue it again.',
  },
  annulled: 'Its number cannot be used again: it is annulled, and the sale needs a new receipt.',
  next: {
    ended: 'Final.',
    support: 'Needs attention from support.',
    portal:
      'Rejected only for E06: the company may still accept it in DGI’s portal. DGI is asked once a day; after 60 days the number is annulled.',
    sign: 'Its XML is created and signed.',
    original: 'Waits until the receipt that it corrects is final.',
    authority: 'DGI is not responding; it continues automatically once DGI responds.',
    slot: 'Others are ahead of it: it waits for its turn to be sent.',
    send: 'It is sent to DGI.',
    ask: 'DGI is asked for its answer.',
  },
  action: {
    retry: {
      label: 'Retry',
      means: 'Repeats the step that stopped. DGI is asked before anything is sent a second time.',
    },
    settle: { label: 'Ask DGI', means: 'Asks DGI what it has and stores the answer. Nothing is sent.' },
    abandon: {
      label: 'Give up',
      means:
        'Gives the receipt up permanently, if DGI certainly does not have it: it ends as rejected, and its number is annulled.',
    },
  },
  outcome: {
    retried: 'the step was repeated',
    settled: 'what DGI has was stored',
    abandoned: 'it was given up',
    refused: 'not done; nothing changed',
  },
  operation: {
    sendSobre: 'We sent the sobre to DGI',
    askVerdict: 'We asked DGI for its answer',
    findSobre: 'We asked DGI whether it has the sobre',
    findCfe: 'We asked DGI whether it has the number',
  },
  answer: {
    AS: 'DGI received the sobre.',
    'AS without token':
      'DGI received the sobre but gave no means to ask for the answer; we look it up in its list.',
    BS: 'DGI rejected the sobre.',
    AE: 'DGI accepted the receipt.',
    BE: 'DGI rejected the receipt.',
    CE: 'DGI accepted the receipt with observations.',
    'no verdict on it': 'DGI has not decided yet.',
    listed: 'DGI has the sobre in its list.',
    'listed as refused': 'DGI lists the sobre as rejected.',
    'listed without token': 'DGI lists the sobre, and gives no means to ask for the answer yet.',
    'not listed': 'DGI does not have the sobre: the same bytes are sent again.',
    found: 'DGI has the fiscal number.',
    'found without token': 'DGI has the number, and gives no means to ask for the answer yet.',
    'not found': 'DGI does not have the fiscal number.',
    unreached: 'There was no connection; nothing was sent.',
    'no answer': 'Sent, and no answer came: we ask DGI before anything is sent again.',
    http: 'An error page instead of an answer.',
    'too large': 'The answer is larger than any real one.',
    unreadable: 'The answer cannot be read.',
    fault: 'DGI’s gateway failed (SOAP fault).',
    'bad signature': 'The signature of the answer is not valid.',
    'other subject': 'The answer is about another company or another sobre.',
    document: 'The answer is about several receipts.',
    'not yet': 'DGI is still processing it: we ask again.',
    inner: 'An error inside DGI: we ask again.',
    'unknown sobre': 'DGI does not know the sobre, or failed: we look it up in its list.',
    'received before': 'DGI has already received this sobre.',
    other: 'An answer that no rule covers.',
  },
  timeline: {
    numbered: 'Received and numbered',
    credited: 'Credit note issued by hand',
    by: (key: string) => `With the API key ${key}`,
    sobreMade: (idemisor: string) => `Signed, in sobre ${idemisor}`,
    sobreSent: (idemisor: string) => `Sobre ${idemisor} on its way to DGI`,
    sobreRefused: (idemisor: string) => `Sobre ${idemisor} sent, and rejected`,
    sobreReceived: (idemisor: string) => `Sobre ${idemisor} received by DGI`,
    stuck: (label: string) => `Needs attention: ${label}`,
    goesOn: 'Continues',
    asked: 'requested; no result yet',
    from: (address: string) => `from ${address}`,
    unverified: 'unverified: requested in Temporal, which has no users',
    verdict: (label: string) => `DGI’s answer: ${label}`,
    first: (count: number) => `first of ${count}`,
    last: (count: number) => `last of ${count}`,
  },
  onlyReported: 'Accepted: signed and not sent; DGI learns of it by the daily report.',
  observation: 'An observation: the receipt is valid.',
  otherRejection: 'A code that no rule covers.',
  otherRejectionMend: 'Inform support, with the code.',
} satisfies RequiredWords & Record<string, unknown>;

/** The words of one language. */
export type CfeWords = typeof WORDS_EN;
