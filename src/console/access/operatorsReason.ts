/** Asks operators for the reason of an action on a customer's data; customers need none. */
import * as z from 'zod';
import { REASON_LENGTH } from '../../domain/operations/supportAction.ts';
import { textSchema } from '../../domain/values/text.ts';
import { type Html, html } from '../../page/html.ts';
import { LocalizedRefusal, signedIn, type Visit } from '../page.ts';
import { button, field, form } from '../parts.ts';

/** Field of the form. */
export const OPERATORS_REASON = { reason: z.string().max(4_000).optional() } as const;

const needsReason = (visit: Visit): boolean => signedIn(visit).viewer.kind === 'operator';

/** Renders the field of the reason to operators; nothing to customers. */
export const operatorsReasonField = (visit: Visit): Html =>
  needsReason(visit) ? field(visit.texts.runs.why, { name: 'reason', maxlength: REASON_LENGTH }) : html``;

/** Renders a form of one button in a table's row; for operators, the button opens the field of the reason. */
export function renderRowForm(
  visit: Visit,
  { id, action, title }: { id: string; action: string; title: string },
): Html {
  const content = html`${operatorsReasonField(visit)}${button(title, 'quiet')}`;
  if (!needsReason(visit)) return form(visit, action, content, 'inline');
  return html`<details id="${id}"><summary>${title}</summary>${form(visit, action, content)}</details>`;
}

/** Returns the reason, for the audit. Throws INVALID_INPUT if an operator gives none. */
export function operatorsReason(
  visit: Visit,
  { reason }: { reason?: string | undefined },
): { reason?: string } {
  if (!needsReason(visit)) return {};
  const parsed = textSchema(REASON_LENGTH).safeParse(reason?.trim() ?? '');
  if (parsed.success) return { reason: parsed.data };
  throw new LocalizedRefusal('INVALID_INPUT', visit.texts.runs.whyMissing);
}
