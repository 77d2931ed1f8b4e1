import type * as z from 'zod';
import type { BodyRule } from './bodyRules.ts';

/**
 * Adds a fault with one of our codes to what zod found, at `path` within the value under test; `message` goes on
 * after the field's name.
 */
export function addIssue(
  ctx: z.RefinementCtx,
  code: BodyRule,
  message: string,
  path: (string | number)[] = [],
): void {
  ctx.addIssue({ code: 'custom', params: { code }, message, path });
}
