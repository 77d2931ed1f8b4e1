/**
 * Explains the statuses and reasons of a daily report (docs/daily-report.md#status,
 * docs/authority/reports.md#answers-to-a-report). The reasons why a report needs support are among the words of CFEs.
 */
import type { SubmissionStatus } from '../reportStatus.ts';
import { CFE_WORDS, type CfeWords } from './cfes.ts';
import type { Words } from './cfesEn.ts';

interface ReportWords {
  /** Of reports and submissions; a report starts as OPEN, a submission as PREPARED. */
  readonly status: Readonly<Record<SubmissionStatus | 'OPEN', Words>>;
  /** The reasons for which the authority rejects a report; those that need support have the words of their stuck reason. */
  readonly reason: Readonly<Record<string, string>>;
  readonly otherReason: string;
}

const refusedFor = ({ stuck }: CfeWords) => ({
  R01: stuck['report.format'].means,
  R02: stuck['report.company'].means,
  R03: stuck['report.signature'].means,
  R04: stuck['report.content'].means,
});

const EN: ReportWords = {
  status: {
    OPEN: { label: 'open', means: 'Not sent yet: the day is not over, or something is pending.' },
    PREPARED: { label: 'prepared', means: 'Created and signed, and not sent yet.' },
    SENT: { label: 'on its way', means: 'On its way. If the answer was lost, DGI is asked.' },
    RECEIVED: {
      label: 'received',
      means: 'DGI has received it (AR) and has not compared it yet with the receipts that it holds.',
    },
    CONSISTENT: { label: 'agrees', means: 'DGI compared it, and it agrees (DR).' },
    DIFFERS: {
      label: 'differs',
      means:
        'DGI compared it, and holds other receipts than those reported (ER). It does not say which, in numbers, types or amounts.',
    },
    SUPERSEDED: {
      label: 'superseded',
      means: 'A report of the day with a higher sequence counts (FR), from another system of the company.',
    },
    REFUSED: {
      label: 'rejected',
      means: 'DGI did not accept it as a report (BR). Its sequence is still free.',
    },
  },
  reason: {
    ...refusedFor(CFE_WORDS.en),
    R05: 'The sequence is not the next one: DGI already has another report of the day.',
    R06: 'Received before the day of the report.',
  },
  otherReason: 'A reason that no rule covers.',
};

const ES: ReportWords = {
  status: {
    OPEN: { label: 'abierto', means: 'Todavía no se envió: el día no terminó, o hay algo pendiente.' },
    PREPARED: { label: 'preparado', means: 'Generado y firmado; todavía no se envió.' },
    SENT: { label: 'en camino', means: 'En camino. Si se perdió la respuesta, se consulta a la DGI.' },
    RECEIVED: {
      label: 'recibido',
      means: 'La DGI lo recibió (AR), y todavía no lo comparó con los comprobantes que tiene.',
    },
    CONSISTENT: { label: 'coincide', means: 'La DGI lo comparó y coincide (DR).' },
    DIFFERS: {
      label: 'con diferencias',
      means:
        'La DGI lo comparó y tiene otros comprobantes que los informados (ER). No dice cuáles, en números, tipos o importes.',
    },
    SUPERSEDED: {
      label: 'reemplazado',
      means: 'Vale un reporte del día con una secuencia mayor (FR), de otro sistema de la empresa.',
    },
    REFUSED: {
      label: 'rechazado',
      means: 'La DGI no lo aceptó como reporte (BR). Su secuencia sigue libre.',
    },
  },
  reason: {
    ...refusedFor(CFE_WORDS.es),
    R05: 'La secuencia no es la siguiente: la DGI ya tiene otro reporte del día.',
    R06: 'Llegó antes del día del reporte.',
  },
  otherReason: 'Un motivo que ninguna regla contempla.',
};

export const REPORT_WORDS: Readonly<Record<'en' | 'es', ReportWords>> = { en: EN, es: ES };
