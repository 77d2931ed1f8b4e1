/** Holds every answer of the API against its own description: status, type, headers, body. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type OpenApiDocument, openApiDocument } from '../../../src/api/openapi/document.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { messageInSpanish } from '../../../src/words/errors.ts';
import { RULE_CODES } from '../../../tools/generate/rules.ts';

/** What was asked and what came. */
export interface Exchange {
  method: string;
  /** Below /v1, with its query. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

/** Throws when an answer is not as the document says. */
export type Inspect = (exchange: Exchange) => void;

interface Described {
  template: string;
  form: RegExp;
  methods: readonly string[];
}

interface Response {
  $ref?: string;
  headers?: Record<string, { $ref: string }>;
  /** By media type; none where there is no body. */
  content?: Record<string, unknown>;
}

interface WebhookOperation {
  parameters: { name: string }[];
}

const KEY = 'openapi';
const JSON_TYPE = 'application/json';

const pointerTo = (...parts: (string | number)[]): string =>
  parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** An Ajv that knows `document` under the key `openapi`. */
export function ajvOf(document: OpenApiDocument): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats.default(ajv);
  // Ajv has no formats for addresses with letters of any language; the service's own pattern judges them.
  ajv.addFormat('idn-email', true);
  ajv.addSchema(JSON.parse(JSON.stringify(document)) as object, KEY);
  return ajv;
}

/** A checker for answers of the API that `document` describes. */
function conformance(document: OpenApiDocument): Inspect {
  const ajv = ajvOf(document);
  const validators = new Map<string, ValidateFunction>();
  const described: Described[] = Object.entries(document.paths).map(([template, item]) => ({
    template,
    form: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods: Object.keys(item).map((method) => method.toUpperCase()),
  }));

  const validatorAt = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `${KEY}#${encodeURI(pointer)}` });
    validators.set(pointer, known);
    return known;
  };

  return (exchange) => {
    const { method, status } = exchange;
    const path = exchange.path.split(/[?#]/)[0] ?? '';
    const at = described.find(({ form }) => form.test(path));
    if (!at) return bareRefusal(exchange, 404, 'NOT_FOUND');
    if (method === 'OPTIONS') return;
    const asked = method === 'HEAD' ? 'GET' : method;
    if (!at.methods.includes(asked)) {
      bareRefusal(exchange, 405, 'METHOD_NOT_ALLOWED');
      const allow = exchange.headers.get('allow') ?? '';
      for (const one of at.methods)
        expectThat(allow.split(', ').includes(one), exchange, `Allow has no ${one}`);
      return;
    }

    const operation = pointerTo('paths', at.template, asked.toLowerCase());
    const whole = document.paths[at.template]?.[asked.toLowerCase()] as {
      responses: Record<string, Response>;
    };
    const reference = whole.responses[status];
    expectThat(reference, exchange, `the status ${status} is not described`);
    const name = reference.$ref?.split('/').at(-1);
    const response = name === undefined ? reference : (document.components['responses']?.[name] as Response);
    headersAsDescribed(exchange, response, document);
    if (method === 'HEAD' || response.content?.[JSON_TYPE] === undefined) return;
    const where =
      name === undefined
        ? `${operation}${pointerTo('responses', status)}`
        : pointerTo('components', 'responses', name);
    const validate = validatorAt(`${where}${pointerTo('content', 'application/json', 'schema')}`);
    const body = JSON.parse(exchange.text) as ErrorText;
    const sound = validate(body);
    expectThat(sound, exchange, ajv.errorsText(validate.errors, { dataVar: 'the body' }));
    for (const { code } of body.error?.details?.fields ?? []) {
      expectThat(RULE_CODES.includes(code), exchange, `${code} is not in docs/rules.md`);
    }
    inBothLanguages(exchange, body);
  };
}

interface ErrorText {
  error?: { message: string; details?: { fields?: { code: string; message: string }[] } };
}

/** Every English message has a Spanish one (src/words/es/errors.ts). */
function inBothLanguages(exchange: Exchange, { error }: ErrorText): void {
  if (!error || exchange.headers.get('content-language') !== 'en') return;
  const fields = error.details?.fields ?? [];
  // Of a refusal with faults, INVALID_INPUT says the first of them, with their number.
  const messages = fields.length > 0 ? fields.map(({ message }) => message) : [error.message];
  for (const message of messages)
    expectThat(messageInSpanish(message) !== null, exchange, `no Spanish for: ${message}`);
}

function headersAsDescribed(exchange: Exchange, response: Response, document: OpenApiDocument): void {
  const { headers } = exchange;
  const [type] = Object.keys(response.content ?? {});
  // Koa names the charset of types that are text.
  const expected = type === JSON_TYPE ? `${type}; charset=utf-8` : (type ?? null);
  expectThat(
    headers.get('content-type') === expected,
    exchange,
    `the type is ${headers.get('content-type')}`,
  );
  for (const [header, { $ref }] of Object.entries(response.headers ?? {})) {
    const described = document.components['headers']?.[$ref.split('/').at(-1) ?? ''];
    expectThat(described, exchange, `the header ${header} is not described`);
    const isRequired = 'required' in described && described.required === true;
    expectThat(!isRequired || headers.has(header), exchange, `the header ${header} is missing`);
  }
  const isWait = headers.has('retry-after');
  expectThat(!isWait || response.headers?.['Retry-After'], exchange, 'Retry-After is not described');
}

/** The envelope of what no operation describes. */
function bareRefusal(exchange: Exchange, status: number, code: string): void {
  expectThat(exchange.status === status, exchange, `${status} is expected for what is not described`);
  if (exchange.method === 'HEAD') return;
  const { error } = JSON.parse(exchange.text) as { error?: { code?: unknown } };
  expectThat(error?.code === code, exchange, `${code} is expected for what is not described`);
}

function expectThat(condition: unknown, exchange: Exchange, words: string): asserts condition {
  if (condition) return;
  const { method, path, status, text } = exchange;
  throw new Error(
    `${method} ${path} answered ${status} against openapi.json: ${words}\n${text.slice(0, 2_000)}`,
  );
}

/** The document of the API as it is served, without examples. */
export const DOCUMENT = openApiDocument(ROUTES, { operations: {}, errors: {} });

let inspector: Inspect | undefined;
let events: Ajv2020 | undefined;

/** Holds what a customer's server was sent, or is to be sent, against the webhooks of the description. */
export function inspectEvent({ body, headers }: { body: string; headers?: Record<string, string> }): void {
  events ??= ajvOf(DOCUMENT);
  const value = JSON.parse(body) as { event: string };
  const operation = DOCUMENT.webhooks[value.event]?.['post'] as WebhookOperation | undefined;
  if (!operation) throw new Error(`no webhook ${value.event} is described`);
  const at = `${KEY}#${pointerTo('webhooks', value.event, 'post')}`;
  const fits = (pointer: string, what: unknown): boolean =>
    events?.validate({ $ref: `${at}${pointer}` }, what) === true;
  if (!fits('/requestBody/content/application~1json/schema', value)) {
    throw new Error(`an event against openapi.json: ${events.errorsText()}\n${body}`);
  }
  if (!headers) return;
  for (const [i, { name }] of operation.parameters.entries()) {
    if (!fits(`/parameters/${i}/schema`, headers[name])) {
      throw new Error(`an event against openapi.json: the header ${name} is ${headers[name]}`);
    }
  }
}

/** Holds an answer of the API against its description. */
export const inspect: Inspect = (exchange) => {
  inspector ??= conformance(DOCUMENT);
  inspector(exchange);
};
