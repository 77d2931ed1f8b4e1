import type { SupportRefusal } from '../../domain/operations/supportRefusal.ts';

export type RefusalWords = Readonly<Record<SupportRefusal, (value: string) => string>>;

export const refusalsEn: RefusalWords = {
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
  accepted_for_others: () =>
    'DGI accepted a receipt with this number from another sobre. Find out who sent it.',
  decided_meanwhile: () => 'DGI answered meanwhile: see the page of the receipt, or `cfe show`.',
  under_way: () => 'Another action of support is in progress on this receipt.',
  not_reached: () =>
    'Its workflow did not take the request: no worker is running it, or Temporal cannot be reached.',
  webhook_removed: () => 'Its webhook was deleted.',
};
