/** What is known of a request outside its route: for the answer's headers, the log and the metrics. */
export interface RequestState {
  requestId: string;
  /** The path as the route's definition writes it; null when no route has the path. */
  route: string | null;
  /** Who called, once that is proven. */
  accountId: string | null;
  keyId: string | null;
  /** From where: the network address that counts as the caller's; told by proxies only as far as they are trusted. */
  address: string;
}
