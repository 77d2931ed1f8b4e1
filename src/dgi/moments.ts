import { instantOfMontevideo } from '../domain/montevideo.ts';

/**
 * The instant that a timestamp of the authority means, undefined where it is not one. Those without an offset are in
 * Montevideo; a false `Z` (docs/authority/services.md#clock) makes it three hours early, so none of them orders
 * anything.
 */
export function instantOf(text: string | undefined): Date | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/.exec(
    text?.trim() ?? '',
  );
  if (!parts?.[1]) return undefined;
  if (parts[2] === undefined) return instantOfMontevideo(parts[1]);
  const instant = new Date(`${parts[1]}${parts[2]}`);
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}
