/** True for a UUID; PostgreSQL accepts nothing else as an id. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** The first UUID in sort order. */
export const LEAST_UUID = '00000000-0000-0000-0000-000000000000';
