/** The words of refusals of support (src/domain/supportRefusal.ts). */
import { montevideoTimestamp } from '../montevideo.ts';
import { STUCK_REASONS } from '../stuckReason.ts';
import type { RefusalReason, SupportRefusal } from '../supportRefusal.ts';
import { answerMeans, CFE_WORDS, stuckMeans } from './cfes.ts';

type Words = Readonly<Record<SupportRefusal, (value: string) => string>>;

const EN: Words = {
  never_sent: () => 'It was never sent, so there is nothing to ask about: retry, or abandon it.',
  others: () =>
    'The authority has its number from a sobre that is not ours. Find out who used it; then abandon the CFE and issue it anew.',
  sobre_refused: () => 'The authority refused the sobre and does not have the number: retry, or abandon it.',
  absent: () => 'The authority has neither the sobre nor the number: retry, or abandon it.',
  held: () => 'The authority has it, so it cannot be abandoned: settle by asking.',
  lately_sent: (from) =>
    `The authority does not find it, but was sent it a moment ago and may find it yet: ask again from ${from} on.`,
  no_answer: (what) =>
    `The authority gave no answer to go by (${what}); nothing was changed. Ask again later.`,
  stuck: (what) => what,
  moved_on: () => 'It moved on while the authority was asked: ask again.',
  unknown_sobre: () =>
    'The authority has it, by a sobre that is not known here: was the database restored? See docs/backup.md; then retry.',
  not_accepted: () => 'The authority has not accepted it; it is asked again by itself, once a day.',
  accepted_for_others: () =>
    'The authority has accepted a CFE of another sobre under its number. Find out who sent it.',
  decided_meanwhile: () => 'It was decided meanwhile; `cfe show` says where it stands.',
  under_way: () => 'Another action of support is under way on this CFE.',
  not_reached: () => 'Its workflow took no request: no worker runs it, or Temporal cannot be reached.',
  webhook_removed: () => 'Its webhook was removed.',
};

const ES: Words = {
  never_sent: () => 'Nunca se envió, así que no hay qué consultar: reintentar o abandonar.',
  others: () =>
    'La DGI tiene su número por un sobre que no es nuestro. Averiguar quién lo usó; después, abandonar el comprobante y emitirlo de nuevo.',
  sobre_refused: () => 'La DGI rechazó el sobre y no tiene el número: reintentar o abandonar.',
  absent: () => 'La DGI no tiene ni el sobre ni el número: reintentar o abandonar.',
  held: () => 'La DGI lo tiene, así que no se puede abandonar: resolver consultando.',
  lately_sent: (from) =>
    `La DGI no lo encuentra, pero se le envió hace un momento y puede encontrarlo todavía: consultar otra vez a partir de ${from}.`,
  no_answer: (what) =>
    `La DGI no dio una respuesta que resuelva nada (${what}); nada cambió. Consultar otra vez más tarde.`,
  stuck: (what) => what,
  moved_on: () => 'Avanzó mientras se consultaba a la DGI: pedirlo otra vez.',
  unknown_sobre: () =>
    'La DGI lo tiene por un sobre que acá no se conoce: ¿se restauró un respaldo? Ver docs/backup.md; después, reintentar.',
  not_accepted: () => 'La DGI no lo aceptó; se le consulta sola una vez por día.',
  accepted_for_others: () =>
    'La DGI aceptó un comprobante de otro sobre con su número. Averiguar quién lo envió.',
  decided_meanwhile: () => 'Se resolvió mientras tanto; su página dice dónde está.',
  under_way: () => 'Otra acción de soporte está en curso sobre este comprobante.',
  not_reached: () =>
    'Su workflow no tomó el pedido: no hay un worker que lo ejecute, o no se llega a Temporal.',
  webhook_removed: () => 'Su webhook fue quitado.',
};

const WORDS = { en: EN, es: ES } as const;

/** A refusal as it is stored and answered: its code, and its words for whoever reads them in English, moments in UTC. */
export function refusalOf(code: SupportRefusal, value?: string): { message: string; why: RefusalReason } {
  return { message: EN[code](value ?? ''), why: { code, ...(value === undefined ? {} : { value }) } };
}

/** A refusal in the words of a page: moments in Montevideo's time, answers and reasons with what they mean. */
export function refusalMeans({ code, value = '' }: RefusalReason, language: keyof typeof WORDS): string {
  return WORDS[language][code](shown({ code, value }, language));
}

function shown({ code, value }: Required<RefusalReason>, language: keyof typeof WORDS): string {
  const words = CFE_WORDS[language];
  if (code === 'lately_sent') return montevideoTimestamp(new Date(value)).slice(0, 16).replace('T', ' ');
  if (code === 'no_answer') return `${value}: ${answerMeans(value, words)}`;
  const reason = STUCK_REASONS.find((known) => known === value);
  return code === 'stuck' && reason ? stuckMeans(reason, words) : value;
}
