/** Why operators do something with what is a customer's own; customers themselves are not asked. */
import * as z from 'zod';
import { REASON_LENGTH } from '../domain/supportAction.ts';
import { textSchema } from '../domain/text.ts';
import { type Html, html } from '../page/html.ts';
import { signedIn, ToldRefusal, type Visit } from './page.ts';
import { button, field, form } from './parts.ts';

/** In the form. */
export const OPERATORS_REASON = { reason: z.string().max(4_000).optional() } as const;

const isAsked = (visit: Visit): boolean => signedIn(visit).viewer.kind === 'operator';

/** Where operators say it; nothing for customers. */
export const operatorsReasonField = (visit: Visit): Html =>
  isAsked(visit) ? field(visit.texts.runs.why, { name: 'reason', maxlength: REASON_LENGTH }) : html``;

/** A form of one button in a row of a table; to operators it opens where they say why. */
export function askedInRow(
  visit: Visit,
  { id, action, title }: { id: string; action: string; title: string },
): Html {
  const content = html`${operatorsReasonField(visit)}${button(title, 'quiet')}`;
  if (!isAsked(visit)) return form(visit, action, content, 'inline');
  return html`<details id="${id}"><summary>${title}</summary>${form(visit, action, content)}</details>`;
}

/** What was said, for the audit. Refuses an operator's act without it (INVALID_INPUT). */
export function operatorsReason(
  visit: Visit,
  { reason }: { reason?: string | undefined },
): { reason?: string } {
  if (!isAsked(visit)) return {};
  const said = textSchema(REASON_LENGTH).safeParse(reason?.trim() ?? '');
  if (said.success) return { reason: said.data };
  throw new ToldRefusal('INVALID_INPUT', visit.texts.runs.whyMissing);
}
