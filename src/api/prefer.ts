/** `Prefer: wait` (RFC 7240 §4.3). Ignores malformed preferences, because the header is only a wish. */
import { LONGEST_FIELD } from './route.ts';

/** Longest wait (docs/contract.md#waiting-for-the-verdict). */
const LONGEST_SECONDS = 30;

/** One preference: commas inside quotes belong to the preference, and an open quotation runs to the end. */
const PREFERENCE = /(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^,"])+/g;
const WAIT = /^wait\s*(?:=\s*(?:"(\d{1,10})"|(\d{1,10}))\s*)?(?:;|$)/i;

/**
 * Returns the seconds that the caller wants to wait, at most 30; null without a preference. The first preference counts
 * (§2).
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
