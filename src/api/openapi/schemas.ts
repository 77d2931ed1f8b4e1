/** Converts zod schemas to those of OpenAPI 3.1 (JSON Schema 2020-12) and collects the named ones. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether a schema describes requests or answers. */
export type Direction = 'input' | 'output';

/** The schemas of a document: converts each, and collects the named ones. */
export interface SchemaBook {
  /** Returns the schema, or a reference to it if it has a name: by `.meta({id})`, or `name`. */
  of(schema: z.ZodType, direction: Direction, name?: string): JsonSchema;
  /** Stores `schema` as `id` and returns a reference to it. */
  name(id: string, schema: JsonSchema): JsonSchema;
  /** All named schemas so far, for `components.schemas`. */
  readonly named: Readonly<Record<string, JsonSchema>>;
}

/** Creates an empty book. Its `of` throws when two different schemas claim one name. */
export function createSchemaBook(): SchemaBook {
  const named: Record<string, JsonSchema> = {};
  const names = new Map<z.ZodType, string>();

  const name = (id: string, schema: JsonSchema): JsonSchema => {
    if (named[id] && !isDeepStrictEqual(named[id], schema)) throw new Error(`two schemas are named ${id}`);
    named[id] = schema;
    return { $ref: `#/components/schemas/${id}` };
  };

  return {
    named,
    name,
    of(schema, direction, requestedName) {
      const { $schema: _, $defs = {}, ...json } = jsonSchemaOf(schema, direction);
      for (const [id, inner] of Object.entries($defs)) name(id, pointReferences(inner));
      const whole = pointReferences(json);
      if ('$ref' in whole || requestedName === undefined) return whole;
      // Routes with the same schema (a form and its alias) share the first name.
      const known = names.get(schema) ?? requestedName;
      names.set(schema, known);
      return name(known, whole);
    },
  };
}

function jsonSchemaOf(schema: z.ZodType, direction: Direction) {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: direction,
    // Our own schemas parse numbers and codes; they describe themselves (`.meta`).
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // A new field in an answer must not break generated clients.
      if (direction === 'output') delete jsonSchema.additionalProperties;
      // Our examples are of JSON that is sent, not of values that a transform returns.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      // The service itself writes webhooks and answers; `readOnly` is about requests.
      delete jsonSchema.readOnly;
      removeBinaryBounds(jsonSchema);
      describeDecimals(jsonSchema);
    },
  });
}

/** Removes bounds that are only JavaScript's own. */
function removeBinaryBounds(schema: { minimum?: number | undefined; maximum?: number | undefined }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/**
 * Describes decimals in words: validators divide in binary and would reject 4.35 as a multiple of 0.01. The
 * service checks exactly.
 */
function describeDecimals(schema: {
  multipleOf?: number | undefined;
  description?: string | undefined;
}): void {
  const { multipleOf, description } = schema;
  if (multipleOf === undefined || multipleOf >= 1) return;
  delete schema.multipleOf;
  const words = `At most ${-Math.round(Math.log10(multipleOf))} decimals.`;
  schema.description = description === undefined ? words : `${description} ${words}`;
}

/** Points zod's references at the named schemas of the document. */
const pointReferences = (schema: object): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' ? String(value).replace('#/$defs/', '#/components/schemas/') : value,
  ) as JsonSchema;
