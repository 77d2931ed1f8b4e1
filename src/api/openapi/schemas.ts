/** zod's schemas as those of OpenAPI 3.1: JSON Schema 2020-12, with the named ones in one place. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether a schema describes what callers send or what they get. */
export type Direction = 'input' | 'output';

/** The schemas of a document: converts each, and collects the named ones. */
export interface SchemaBook {
  /** The schema, or a reference to it where it has a name: by `.meta({id})`, or the one given here. */
  of(schema: z.ZodType, direction: Direction, name?: string): JsonSchema;
  /** A reference to `schema`, which stands as `id` from now on. */
  name(id: string, schema: JsonSchema): JsonSchema;
  /** All named schemas so far, for `components.schemas`. */
  readonly named: Readonly<Record<string, JsonSchema>>;
}

/** An empty book. Its `of` throws when two different schemas claim one name. */
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
    of(schema, direction, wishedName) {
      const { $schema: _, $defs = {}, ...json } = jsonSchemaOf(schema, direction);
      for (const [id, inner] of Object.entries($defs)) name(id, withReferences(inner));
      const whole = withReferences(json);
      if ('$ref' in whole || wishedName === undefined) return whole;
      // Two routes with one schema (a form and its alias) share the name that came first.
      const known = names.get(schema) ?? wishedName;
      names.set(schema, known);
      return name(known, whole);
    },
  };
}

function jsonSchemaOf(schema: z.ZodType, direction: Direction) {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: direction,
    // Numbers and codes are read by schemas of our own, which describe themselves (`.meta`).
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // A field added to an answer must break no client that was generated before.
      if (direction === 'output') delete jsonSchema.additionalProperties;
      // Ours are of what is sent and what is answered, never of what a transform makes of it.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      // Who writes webhooks and answers is the service; `readOnly` would say that of a request.
      delete jsonSchema.readOnly;
      withoutBinaryBounds(jsonSchema);
      inWords(jsonSchema);
    },
  });
}

/** Takes out what only says that JavaScript cannot count further. */
function withoutBinaryBounds(schema: { minimum?: number | undefined; maximum?: number | undefined }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** Decimals in words: validators divide in binary and would reject 4.35 as a multiple of 0.01; the service itself checks exactly. */
function inWords(schema: { multipleOf?: number | undefined; description?: string | undefined }): void {
  const { multipleOf, description } = schema;
  if (multipleOf === undefined || multipleOf >= 1) return;
  delete schema.multipleOf;
  const words = `At most ${-Math.round(Math.log10(multipleOf))} decimals.`;
  schema.description = description === undefined ? words : `${description} ${words}`;
}

/** `schema` with the references of zod pointed at the named schemas of the document. */
const withReferences = (schema: object): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' ? String(value).replace('#/$defs/', '#/components/schemas/') : value,
  ) as JsonSchema;
