import { instantOfMontevideo } from '../domain/values/montevideo.ts';

/**
 * Parses a timestamp of the authority; undefined when malformed. Without an offset it is Montevideo time. A wrong `Z`
 * (docs/authority/services.md#clock) makes it three hours early, so never order events by it.
 */
export function parseInstant(text: string | undefined): Date | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/.exec(
    text?.trim() ?? '',
  );
  if (!parts?.[1]) return undefined;
  if (parts[2] === undefined) return instantOfMontevideo(parts[1]);
  const instant = new Date(`${parts[1]}${parts[2]}`);
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}
