/** `Prefer: wait` (RFC 7240 §4.3). A malformed preference is ignored, as the header only expresses a wish. */
import { LONGEST_FIELD } from './route.ts';

/** Longer waits are cut to this (docs/contract.md#waiting-for-the-verdict). */
const LONGEST_SECONDS = 30;

/** One preference; commas inside quotes belong to it, and an open quotation runs to the end. */
const PREFERENCE = /(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^,"])+/g;
const WAIT = /^wait\s*(?:=\s*(?:"(\d{1,10})"|(\d{1,10}))\s*)?(?:;|$)/i;

/**
 * Returns the seconds that the caller wants to wait, at most 30; null without a preference. The first one
 * counts (§2).
 */
export function waitSeconds(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  if (text.length > LONGEST_FIELD) return null;
  for (const preference of text.match(PREFERENCE) ?? []) {
    const match = WAIT.exec(preference.trim());
    if (!match) continue;
    const digits = match[1] ?? match[2];
    return digits === undefined ? null : Math.min(Number(digits), LONGEST_SECONDS);
  }
  return null;
}
