import type { RefusalWords } from '../en/refusals.ts';

export const refusalsEs: RefusalWords = {
  never_sent: () => 'Nunca se envió, así que no hay qué consultar: reintente o abandone.',
  others: () =>
    'La DGI tiene su número por un sobre que no es nuestro. Averigüe quién lo usó; después, abandone este comprobante y emítalo de nuevo.',
  sobre_refused: () => 'La DGI rechazó el sobre y no tiene el número: reintente o abandone.',
  absent: () => 'La DGI no tiene ni el sobre ni el número: reintente o abandone.',
  held: () => 'La DGI lo tiene, así que no se puede abandonar: resuelva consultando.',
  lately_sent: (from) =>
    `La DGI no lo encuentra, pero se le envió hace un momento y todavía puede aparecer: consulte otra vez a partir del ${from}.`,
  no_answer: (what) =>
    `La DGI no dio una respuesta útil (${what}); nada cambió. Consulte otra vez más tarde.`,
  stuck: (what) => what,
  moved_on: () => 'Avanzó mientras se consultaba a la DGI: intente de nuevo.',
  unknown_sobre: () =>
    'La DGI lo tiene por un sobre que acá no se conoce: ¿se restauró un respaldo? Vea docs/backup.md; después, reintente.',
  not_accepted: () => 'La DGI no lo aceptó; se le consulta automáticamente una vez por día.',
  accepted_for_others: () =>
    'La DGI aceptó un comprobante de otro sobre con su número. Averigüe quién lo envió.',
  decided_meanwhile: () => 'La DGI respondió mientras tanto; vea la página del comprobante.',
  under_way: () => 'Otra acción de soporte está en curso sobre este comprobante.',
  not_reached: () =>
    'Su workflow no tomó la solicitud: no hay un worker que lo ejecute, o no se llega a Temporal.',
  webhook_removed: () => 'Su webhook fue eliminado.',
};
