/** Pages of tables that may be very large. */
import { LEAST_UUID } from '../domain/values/uuid.ts';

/** Rows created before a moment, by UUID, after the UUID of the last page. */
export interface UuidPage {
  readonly before: Date;
  /** Empty: from the beginning. */
  readonly after: string;
  readonly limit: number;
}

/** Returns the arguments for `em.find`: the rows of a page, or all rows, oldest first. */
export const pageCriteria = (page: UuidPage | undefined) => ({
  where: page ? { id: { $gt: page.after || LEAST_UUID }, createdAt: { $lt: page.before } } : {},
  options: page
    ? { orderBy: { id: 'asc' as const }, limit: page.limit }
    : { orderBy: { createdAt: 'asc' as const, id: 'asc' as const } },
});
