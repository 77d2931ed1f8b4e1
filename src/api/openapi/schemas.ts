/** Converts zod schemas to OpenAPI 3.1 (JSON Schema 2020-12) and collects the named schemas. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether a schema describes requests or answers. */
export type Direction = 'input' | 'output';

/** Converts the schemas of a document, and collects the named schemas. */
export interface SchemaBook {
  /** Returns the converted schema, or a reference if the schema has a name: by `.meta({id})`, or `name`. */
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
    // Our own schemas of numbers and codes describe themselves (`.meta`).
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // Allows new fields in answers without breaking generated clients.
      if (direction === 'output') delete jsonSchema.additionalProperties;
      // Examples show the JSON that is sent, not the values that a transform returns.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      // The service itself writes webhooks and answers; `readOnly` is about requests.
      delete jsonSchema.readOnly;
      removeBinaryBounds(jsonSchema);
      describeDecimals(jsonSchema);
    },
  });
}

/** Removes the bounds of JavaScript's numbers. */
function removeBinaryBounds(schema: { minimum?: number | undefined; maximum?: number | undefined }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/**
 * Describes decimals in words instead of `multipleOf`: validators divide in binary and would reject 4.35 as a multiple of
 * 0.01.
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
