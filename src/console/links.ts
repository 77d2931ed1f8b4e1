/** Paths of the console. */

/** Returns a path with the non-empty values as its query. */
export function link(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set).toString()}`;
}

/** Returns the URL of a workflow in the Temporal UI. */
export const workflowUrl = (
  ui: { readonly url: string; readonly namespace: string },
  workflowId: string,
): string =>
  `${ui.url}/namespaces/${encodeURIComponent(ui.namespace)}/workflows/${encodeURIComponent(workflowId)}`;

/** Returns a path from a browser if it stays on this host, else `/`; prevents open redirects. */
export function ownPath(text: string | undefined): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return '/';
  const { origin, pathname, search } = new URL(text, 'http://console.invalid');
  // Resolving dots may leave a path with two slashes at its start: browsers read it as a host.
  return origin === 'http://console.invalid' && !pathname.startsWith('//') ? pathname + search : '/';
}
