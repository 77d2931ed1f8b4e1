/** The entries of the reference, for the search of the guides. */
import type { ReferencePart } from '../../handbook/site.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

interface Explained {
  readonly $ref?: string;
  readonly summary?: string;
  readonly description?: string;
}
interface Operation extends Explained {
  readonly operationId?: string;
  readonly tags?: readonly string[];
}

/**
 * Returns every operation of `document` (an OpenAPI document) with its anchor in the reference, and every
 * field, parameter, header and event with its description. Entries with the same name are merged.
 */
export function referenceParts(document: object): ReferencePart[] {
  const parts = new Map<string, { texts: Set<string>; place: string }>();
  const { components = {} } = document as { components?: { schemas?: Record<string, Explained> } };
  // The description of a field with a named schema is in that schema.
  const explainedAt = (one: Explained): Explained =>
    one.description === undefined ? (components.schemas?.[one.$ref?.split('/').at(-1) ?? ''] ?? one) : one;
  const add = (name: string, explained: Explained, place: string): void => {
    const { summary = '', description = '' } = explainedAt(explained);
    const text = `${summary} ${description}`.trim();
    if (text === '') return;
    const part = parts.get(name) ?? { texts: new Set(), place };
    parts.set(name, part);
    part.texts.add(text);
  };
  const { paths = {}, webhooks = {} } = document as Record<string, Record<string, Record<string, Operation>>>;
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS.filter((one) => one in item)) {
      const operation = item[method] ?? {};
      const { operationId = '', tags: [tag = ''] = [] } = operation;
      const place = `#/${encodeURIComponent(tag)}/${operationId}`;
      add(`${operationId} ${method.toUpperCase()} ${path}`, operation, place);
    }
  }
  for (const [event, item] of Object.entries(webhooks)) add(event, item['post'] ?? {}, '');
  eachNamed(document, (name, explained) => add(name, explained, ''));
  return [...parts].map(([name, { texts, place }]) => ({ name, text: [...texts].join(' · '), place }));
}

/** Calls `visit` for every field, parameter and header below `node`. */
function eachNamed(node: unknown, visit: (name: string, explained: Explained) => void): void {
  if (typeof node !== 'object' || node === null) return;
  const { name, in: place, properties, headers, ...others } = node as Record<string, unknown>;
  if (typeof name === 'string' && typeof place === 'string') visit(name, node);
  for (const named of [properties, headers]) {
    for (const [field, explained] of Object.entries(named ?? {})) {
      visit(field, explained as Explained);
      eachNamed(explained, visit);
    }
  }
  for (const [key, inner] of Object.entries(others)) if (!key.startsWith('example')) eachNamed(inner, visit);
}
