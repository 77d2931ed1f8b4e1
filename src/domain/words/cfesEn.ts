import type { CfeWords } from './shape.ts';

const ANNULLED = 'Its number cannot be used again: it is annulled, and what was sold goes out in a new CFE.';

export const WORDS_EN: CfeWords = {
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
      means: 'The authority answers, and has not decided for longer than CFE_PATIENCE.',
      mend: 'Ask the authority what became of it; then settle by asking, or retry.',
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
      means: 'The authority gives a state that no rule covers.',
      mend: 'Ask the authority what it means; then settle by asking.',
    },
    'verdict.other_cfe': {
      label: 'verdict on another receipt',
      means: 'The verdict names another type, number or moment of signing than this CFE has.',
      mend: 'Ask the authority about the sobre. After a restored backup, see docs/backup.md.',
    },
    'duplicate.not_ours': {
      label: 'number used by another system',
      means: 'The authority has this number from a sobre that is not ours.',
      mend: 'Find out who used it; then abandon this CFE and issue it anew. Do not annul the number.',
    },
    'authority.our_mistake': {
      label: 'our question was wrong',
      means: 'The authority cannot use our question (token, number).',
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
      means: 'The answer is signed by a certificate that is not one of the authority as configured here.',
      mend: 'Check whether the authority has a new certificate and add it (authority-certificate add); then retry.',
    },
    'report.format': {
      label: 'report not readable (R01)',
      means: 'The authority cannot read the report: a mistake of ours.',
      mend: 'Have it mended; then retry: the report is made anew.',
    },
    'report.company': {
      label: 'report of another company (R02)',
      means: 'The RUC in the report is not that of the certificate or of the request.',
      mend: 'Upload a certificate of the company; then retry.',
    },
    'report.signature': {
      label: "report's signature refused (R03)",
      means: 'The authority does not accept the signature or the certificate of the report.',
      mend: 'Upload a valid certificate; then retry.',
    },
    'report.content': {
      label: "report's content refused (R04)",
      means: 'What the report says breaks a rule, such as a branch that is not registered.',
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
  rejection: {
    E01: `The number was reported as annulled before. ${ANNULLED}`,
    E02: 'The authority has the number already, by another sobre. The number stays valid.',
    E03: `The number does not belong to the CAE. ${ANNULLED}`,
    E04: `The signature is not valid. ${ANNULLED}`,
    E05: `It fails a validation of the format; the detail says which. ${ANNULLED}`,
    E06: "The amount is above the usual. The company may still accept it in the authority's portal within 60 days, unless there are other reasons.",
    E07: `It was signed outside the dates of the CAE. ${ANNULLED}`,
    E08: `The RUC is not that of the fiscal complement. ${ANNULLED}`,
    E09: 'The CAE is of another issuer or type. The number may be used again.',
    E10: `The exchange rate is not valid. ${ANNULLED}`,
    E11: `It and the CAE differ in being special. ${ANNULLED}`,
    E12: `The authority does not have the CFE that it refers to. ${ANNULLED}`,
    E13: `The CAE is of another kind. ${ANNULLED}`,
    E14: "Irregularities in the company's standing at the authority. Nothing in the CFE can mend that.",
    E15: 'The company is a contumacious debtor and has not informed its situation.',
    S01: "The sobre's file is not in the prescribed format.",
    S02: 'The RUCs of sobre, certificate, sender or receipts differ.',
    S03: 'The certificate is not valid.',
    S04: 'The sobre fails the format.',
    S05: 'The number of receipts in the sobre is not the one that it says.',
    S06: 'The certificate of the sobre is not that of its receipts.',
    S07: 'The sobre is above the largest size.',
    S08: 'The authority has a sobre of this number already.',
    '11': 'The sobre is above the largest size.',
    abandoned: 'Support gave it up.',
    'reference.rejected': 'The CFE that it corrects was rejected, so it was never sent.',
    'duplicate.not_ours': 'Another system of the company used its number, which must not be annulled.',
  },
  observation: 'An observation: the CFE is valid.',
  otherRejection: 'A code that no rule covers.',
};
