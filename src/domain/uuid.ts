/** Whether `text` can be an id of one of our rows; PostgreSQL takes nothing else for one. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Before every other in the order of UUIDs. */
export const LEAST_UUID = '00000000-0000-0000-0000-000000000000';
