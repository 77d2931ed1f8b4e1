/** The words of refusals of support (src/domain/supportRefusal.ts). */
import { dateText } from '../figures.ts';
import { montevideoTimestamp } from '../montevideo.ts';
import { STUCK_REASONS } from '../stuckReason.ts';
import type { RefusalReason, SupportRefusal } from '../supportRefusal.ts';
import { answerMeans, CFE_WORDS, stuckMeans } from './cfes.ts';

type Words = Readonly<Record<SupportRefusal, (value: string) => string>>;

const EN: Words = {
  never_sent: () => 'It was never sent, so there is nothing to ask DGI: retry, or give it up (abandon).',
  others: () =>
    'DGI has its number from a sobre that is not ours. Find out who used it; then give this receipt up (abandon) and issue it again.',
  sobre_refused: () => 'DGI rejected the sobre and does not have the number: retry, or give it up (abandon).',
  absent: () => 'DGI has neither the sobre nor the number: retry, or give it up (abandon).',
  held: () => 'DGI has it, so it cannot be given up: ask DGI (settle).',
  lately_sent: (from) =>
    `DGI does not find it, but it was sent a moment ago and may still appear: ask again from ${from}.`,
  no_answer: (what) => `DGI gave no usable answer (${what}); nothing changed. Ask again later.`,
  stuck: (what) => what,
  moved_on: () => 'It moved on while DGI was being asked: try again.',
  unknown_sobre: () =>
    'DGI has it, from a sobre that is not known here: was the database restored? See docs/backup.md; then retry.',
  not_accepted: () => 'DGI has not accepted it; DGI is asked automatically once a day.',
  accepted_for_others: () => 'DGI accepted a receipt of another sobre with its number. Find out who sent it.',
  decided_meanwhile: () => 'DGI answered meanwhile; its page, or `cfe show`, says what.',
  under_way: () => 'Another action of support is in progress on this receipt.',
  not_reached: () =>
    'Its workflow did not take the request: no worker is running it, or Temporal cannot be reached.',
  webhook_removed: () => 'Its webhook was deleted.',
};

const ES: Words = {
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

const WORDS = { en: EN, es: ES } as const;

/** Returns a refusal as it is stored and returned: its code and its message in English, times in UTC. */
export function refusalOf(code: SupportRefusal, value?: string): { message: string; why: RefusalReason } {
  return { message: EN[code](value ?? ''), why: { code, ...(value === undefined ? {} : { value }) } };
}

/** Returns a refusal in the words of a page: times in Montevideo's zone, answers and reasons with their meaning. */
export function refusalMeans({ code, value = '' }: RefusalReason, language: keyof typeof WORDS): string {
  return WORDS[language][code](shown({ code, value }, language));
}

function shown({ code, value }: Required<RefusalReason>, language: keyof typeof WORDS): string {
  const words = CFE_WORDS[language];
  if (code === 'lately_sent') {
    const local = montevideoTimestamp(new Date(value));
    return `${dateText(local)} ${local.slice(11, 16)}`;
  }
  if (code === 'no_answer') return `${value}: ${answerMeans(value, words)}`;
  const reason = STUCK_REASONS.find((known) => known === value);
  return code === 'stuck' && reason ? stuckMeans(reason, words) : value;
}
