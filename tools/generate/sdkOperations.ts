import { openApiDocument } from '../../src/api/openapi/document.ts';
import { readExamples } from '../../src/api/openapi/examples.ts';
import { ROUTES } from '../../src/api/routes/index.ts';

interface Operation {
  operationId?: string;
  parameters?: readonly { name: string; schema: { enum?: readonly string[] } }[];
}

/** sdk/src/operations.ts: what the SDK must know of openapi.json when it runs. */
export function sdkOperations(): string {
  const document = JSON.parse(JSON.stringify(openApiDocument(ROUTES, readExamples()))) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: object };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const entry = [method.toUpperCase(), path, ...sandboxOf(operation)].map((text) => `'${text}'`);
      return operation.operationId ? [`  ${operation.operationId}: [${entry.join(', ')}],`] : [];
    }),
  );
  const fields = numberFields(document.components.schemas).map((name) => `  '${name}',`);
  return `/** Made by \`npm run generate\` from openapi.json. */

/**
 * Method and path of every operation, by its operationId. Those with a sandbox also have how a request selects it: by the
 * key of its caller (key), or by a parameter, with a key of production (query).
 */
export const OPERATIONS = {
${operations.join('\n')}
} as const;

/** Names of fields with decimals, in any object; all other numbers are integers. */
export const DECIMAL_FIELDS = [
${fields.join('\n')}
] as const;
`;
}

function sandboxOf({ parameters = [] }: Operation): string[] {
  const named = (name: string) => parameters.find((parameter) => parameter.name === name);
  if (named('X-Sandbox-Mode')?.schema.enum?.includes('true')) return ['key'];
  return named('environment') ? ['query'] : [];
}

/** The names of all fields of type number. Throws where a name is that of an integer elsewhere. */
function numberFields(schemas: object): string[] {
  const found = { number: new Set<string>(), integer: new Set<string>() };
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties } = value as { properties?: Record<string, { type?: string | string[] }> };
    for (const [name, { type }] of Object.entries(properties ?? {})) {
      for (const kind of ['number', 'integer'] as const)
        if ([type].flat().includes(kind)) found[kind].add(name);
    }
    Object.values(value).forEach(walk);
  };
  walk(schemas);
  const both = [...found.number].filter((name) => found.integer.has(name));
  if (both.length > 0) throw new Error(`decimal in one place and integer in another: ${both.join(', ')}`);
  return [...found.number].toSorted();
}
