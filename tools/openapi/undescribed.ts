/** What openapi.json leaves unexplained: each place, with what is missing there. Nothing is to be left. */

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectAt = (value: unknown, key: string): Json => {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
};
const entriesOf = (value: unknown): [string, Json][] =>
  isObject(value) ? Object.entries(value).filter((entry): entry is [string, Json] => isObject(entry[1])) : [];

/** Shorter than this is no explanation. */
const SHORTEST = 5;
const isSaid = (value: unknown): boolean => typeof value === 'string' && value.trim().length >= SHORTEST;

/** Every place of `document` that says too little: `<place>: <what is missing>`. */
export function undescribed(document: Json): string[] {
  const found: string[] = [];
  const need = (condition: boolean, place: string, what: string): void => {
    if (!condition) found.push(`${place}: ${what}`);
  };
  const resolved = (schema: Json): Json => {
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
    return name === undefined ? schema : objectAt(objectAt(document, 'components')['schemas'], name);
  };
  /** The schema, what it refers to, and what it is one of. */
  const readings = (schema: Json): Json[] => [
    schema,
    ...(resolved(schema) === schema ? [] : readings(resolved(schema))),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((key) =>
      Array.isArray(schema[key]) ? (schema[key] as Json[]).flatMap(readings) : [],
    ),
  ];
  const hasDescription = (schema: Json): boolean =>
    readings(schema).some(({ description }) => isSaid(description));
  /** Values of a closed set are their own examples; an object or a list shows itself in its parts. */
  const hasExample = (schema: Json): boolean =>
    readings(schema).some(
      ({ examples, enum: values, const: value, type, properties, items }) =>
        (Array.isArray(examples) && examples.length > 0) ||
        values !== undefined ||
        value !== undefined ||
        type === 'boolean' ||
        properties !== undefined ||
        items !== undefined,
    );

  const judgeSchema = (schema: Json, place: string): void => {
    const { enum: values, 'x-enum-of': standard, 'x-enum-descriptions': meanings } = schema;
    if (Array.isArray(values) && values.length > 1 && standard === undefined) {
      const said = Array.isArray(meanings) ? meanings : [];
      need(said.length === values.length && said.every(isSaid), place, 'the meaning of each value');
    }
    for (const [name, property] of entriesOf(schema['properties'])) {
      const at = `${place}.${name}`;
      need(hasDescription(property), at, 'a description');
      need(hasExample(property), at, 'an example');
      judgeSchema(property, at);
    }
    for (const key of ['anyOf', 'oneOf', 'allOf'])
      if (Array.isArray(schema[key])) for (const one of schema[key] as Json[]) judgeSchema(one, place);
    if (isObject(schema['items'])) judgeSchema(schema['items'], `${place}[]`);
  };
  const judgeParameter = (parameter: Json, place: string): void => {
    const schema = objectAt(parameter, 'schema');
    const { in: kind, name } = parameter;
    const at = typeof name === 'string' && typeof kind === 'string' ? `${place} ${kind} ${name}` : place;
    need(isSaid(parameter['description']), at, 'a description');
    need(hasExample(schema), at, 'an example');
    judgeSchema(schema, at);
  };
  const judgeContent = (holder: Json, place: string): void => {
    for (const [type, media] of entriesOf(holder['content']))
      judgeSchema(objectAt(media, 'schema'), `${place} ${type}`);
  };
  const judgeOperation = (operation: Json, place: string): void => {
    for (const key of ['operationId', 'summary', 'description']) need(isSaid(operation[key]), place, key);
    const parameters = Array.isArray(operation['parameters']) ? (operation['parameters'] as Json[]) : [];
    for (const parameter of parameters) judgeParameter(parameter, place);
    const body = objectAt(operation, 'requestBody');
    if (operation['requestBody'] !== undefined)
      need(isSaid(body['description']), `${place} body`, 'a description');
    judgeContent(body, `${place} body`);
    for (const [status, answer] of entriesOf(operation['responses'])) {
      if (answer['$ref'] !== undefined) continue;
      need(isSaid(answer['description']), `${place} ${status}`, 'a description');
      judgeContent(answer, `${place} ${status}`);
    }
  };

  need(isSaid(objectAt(document, 'info')['description']), 'info', 'a description');
  for (const tag of Array.isArray(document['tags']) ? (document['tags'] as Json[]) : [])
    need(isSaid(tag['description']), `tag ${String(tag['name'])}`, 'a description');
  for (const part of ['paths', 'webhooks'])
    for (const [path, item] of entriesOf(document[part]))
      for (const [method, operation] of entriesOf(item)) judgeOperation(operation, `${method} ${path}`);
  const components = objectAt(document, 'components');
  for (const [name, schema] of entriesOf(components['schemas'])) {
    need(isSaid(schema['description']), name, 'a description');
    judgeSchema(schema, name);
  }
  for (const [name, response] of entriesOf(components['responses'])) {
    need(isSaid(response['description']), `response ${name}`, 'a description');
    judgeContent(response, `response ${name}`);
  }
  for (const [name, header] of entriesOf(components['headers'])) judgeParameter(header, `header ${name}`);
  return found;
}

/** Fields of a CFE whose description does not say from where they come: the authority's document and field. */
export function withoutSource(document: Json): string[] {
  const schemas = objectAt(objectAt(document, 'components'), 'schemas');
  return ['CfeReceiver', 'CfeTotals', 'CfeLine', 'CfeExtra', 'IssueCfeRequest'].flatMap((name) =>
    entriesOf(objectAt(schemas[name], 'properties')).flatMap(([field, property]) => {
      const named = objectAt(schemas, String(property['$ref']).split('/').at(-1) ?? '');
      const said = `${String(property['description'])} ${String(named['description'])}`;
      return said.includes('Source: ') ? [] : [`${name}.${field}: a source`];
    }),
  );
}
