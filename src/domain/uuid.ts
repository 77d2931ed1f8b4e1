/** Whether `text` can be an id of one of our rows; PostgreSQL takes nothing else for one. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
