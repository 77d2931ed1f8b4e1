import { type ReportWords, sharedReportReasons } from '../en/reportStates.ts';
import { WORDS_ES } from './cfeStates.ts';

export const reportStatesEs: ReportWords = {
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
    ...sharedReportReasons(WORDS_ES),
    R05: 'La secuencia no es la siguiente: la DGI ya tiene otro reporte del día.',
    R06: 'Llegó antes del día del reporte.',
  },
  otherReason: 'Un motivo que ninguna regla contempla.',
};
