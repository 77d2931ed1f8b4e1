/** Facts about a request outside its route: for headers, log and metrics. */
export interface RequestState {
  requestId: string;
  /** The path template of the route; null when no route matches. */
  route: string | null;
  /** The caller, once authenticated. */
  accountId: string | null;
  keyId: string | null;
  /** The caller's network address, according to trusted proxies only. */
  address: string;
}
