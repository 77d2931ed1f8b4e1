/** Paths of the console. */

/** A path of ours with a query of what is set; never of another host, whatever the values hold. */
export function link(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set).toString()}`;
}

/** A run in the Temporal UI. */
export const runUrl = (
  ui: { readonly url: string; readonly namespace: string },
  workflowId: string,
): string =>
  `${ui.url}/namespaces/${encodeURIComponent(ui.namespace)}/workflows/${encodeURIComponent(workflowId)}`;

/** Where to go after something else, as a browser was told it: a path of ours, else `/`. */
export function ownPath(text: string | undefined): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return '/';
  const { origin, pathname, search } = new URL(text, 'http://console.invalid');
  // Without its dots a path may begin with two slashes, which would name a host.
  return origin === 'http://console.invalid' && !pathname.startsWith('//') ? pathname + search : '/';
}
