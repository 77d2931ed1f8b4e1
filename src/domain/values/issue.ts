import type * as z from 'zod';
import type { BodyRule } from '../requests/bodyRules.ts';

/** Quotes a text for a message, unless the text is too long. */
export const quoted = (text: string, longest = 20): string =>
  text.length <= longest ? JSON.stringify(text) : 'a longer string';

/** Adds a fault with one of our codes to zod's issues, at `path` inside the value. `message` follows the field name. */
export function addIssue(
  ctx: z.RefinementCtx,
  code: BodyRule,
  message: string,
  path: (string | number)[] = [],
): void {
  ctx.addIssue({ code: 'custom', params: { code }, message, path });
}
