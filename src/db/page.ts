/** Pages of rows of which there may be very many. */
import { LEAST_UUID } from '../domain/uuid.ts';

/** What was made before a moment, by the order of its UUID, behind that of the last page. */
export interface UuidPage {
  readonly before: Date;
  /** Empty: from the beginning. */
  readonly after: string;
  readonly limit: number;
}

/** For `em.find` of rows with an id: those of a page, or all of them, oldest first. */
export const pageCriteria = (page: UuidPage | undefined) => ({
  where: page ? { id: { $gt: page.after || LEAST_UUID }, createdAt: { $lt: page.before } } : {},
  options: page
    ? { orderBy: { id: 'asc' as const }, limit: page.limit }
    : { orderBy: { createdAt: 'asc' as const, id: 'asc' as const } },
});
