import { OPERATIONS } from './operations.ts';
import { type Call, createTransport, passed, type Reply, type Transport } from './transport.ts';
import type { Cfe, CfeRequest, DataOf, OperationName, RequestOf, Validation } from './types.ts';

const PATIENCE_SECONDS = 90;
/** The longest that the API waits at a time. */
const LONGEST_WAIT_SECONDS = 30;
const PAGE = 100;
const POLL_MILLISECONDS = 2_000;
const FINAL: ReadonlySet<string> = new Set(['ACCEPTED', 'OBSERVED', 'REJECTED']);

/** Where the API is and who calls. */
export interface ClientOptions {
  /** With `/v1`, as `https://cfe.example.com/v1`. */
  baseUrl: string;
  /** Key of production, `cfe_live_…`. */
  apiKey?: string;
  /** Key of the sandbox, `cfe_test_…`. */
  sandboxApiKey?: string;
  /** How long a call may take with all its repetitions, in seconds; 90 unless told. */
  patienceSeconds?: number;
  /** In place of the engine's own. */
  fetch?: typeof fetch;
}

/** What each call may be told. */
export interface CallOptions {
  /** Of a POST: the same key with the same request has one effect and one answer, however often it is sent. Made unless told. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export type Environment = 'production' | 'sandbox';

/** Issuing needs a key of its environment; reading one of production, in the sandbox too. */
interface IssueOptions extends CallOptions {
  environment?: Environment;
}

type ListQuery = NonNullable<RequestOf<'listCfes'>['query']>;

/** A program's way to the API. Safe to be shared by everything in a process; it keeps one token. */
export class CfeClient {
  readonly #production: Transport | undefined;
  readonly #sandbox: Transport | undefined;

  constructor({ baseUrl, apiKey, sandboxApiKey, ...more }: ClientOptions) {
    const shared = {
      baseUrl: baseUrl.replace(/\/+$/, ''),
      patienceSeconds: more.patienceSeconds ?? PATIENCE_SECONDS,
      fetch: more.fetch ?? fetch,
    };
    this.#production = apiKey ? createTransport({ ...shared, apiKey, isSandbox: false }) : undefined;
    this.#sandbox = sandboxApiKey
      ? createTransport({ ...shared, apiKey: sandboxApiKey, isSandbox: true })
      : undefined;
  }

  /**
   * Calls an operation by its operationId, and answers the `data` of its body, or the bytes of a file. A token is fetched
   * and renewed; 429, 503 and lost answers are waited for and asked again, as long as the patience lasts. Throws CfeRefused
   * with the API's code, or CfeUnanswered.
   */
  async call<Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    options: CallOptions & { environment?: Environment } = {},
  ): Promise<DataOf<Name>> {
    const { content } = await this.#ask(name, request as { path?: object }, options);
    return (content instanceof Uint8Array ? content : (content as { data: unknown }).data) as DataOf<Name>;
  }

  /** Issues a CFE: one number for one key, however often it is sent. The verdict follows. */
  async issue(rut: string, body: CfeRequest, options: IssueOptions = {}): Promise<Cfe> {
    return (await this.call('issueCfe', { path: { rut }, body }, options)) as Cfe;
  }

  /** Has a CFE judged by every rule without issuing it; answers the totals as they are read. Throws CfeRefused with every fault. */
  async validate(
    rut: string,
    body: CfeRequest,
    options: Omit<IssueOptions, 'idempotencyKey'> = {},
  ): Promise<Validation> {
    const request = { path: { rut }, query: { validate_only: 'true' as const }, body };
    return (await this.call('issueCfe', request, options)) as Validation;
  }

  /**
   * Issues a CFE and waits for the authority's verdict. After `waitSeconds` (60 unless told) it is answered as it stands: while
   * the authority is away it stays PENDING or RECEIVED, and goes on by itself. Without a key of production the sandbox is
   * waited for as long as the API does in one call, 30 seconds.
   */
  async issueAndWait(
    rut: string,
    body: CfeRequest,
    { waitSeconds = 60, ...options }: IssueOptions & { waitSeconds?: number } = {},
  ): Promise<Cfe> {
    const deadline = Date.now() + waitSeconds * 1_000;
    const wait = Math.max(0, Math.min(LONGEST_WAIT_SECONDS, Math.floor(waitSeconds)));
    const { content } = await this.#ask('issueCfe', { path: { rut }, body }, options, {
      Prefer: `wait=${wait}`,
    });
    const cfe = (content as { data: Cfe }).data;
    if (FINAL.has(cfe.cfe_status) || !this.#production) return cfe;
    return this.verdict(rut, cfe.cfe_id, { ...options, waitSeconds: (deadline - Date.now()) / 1_000 });
  }

  /** One CFE once it has its verdict, or as it stands after `waitSeconds` (60 unless told). */
  async verdict(
    rut: string,
    cfeId: string,
    { waitSeconds = 60, ...options }: IssueOptions & { waitSeconds?: number } = {},
  ): Promise<Cfe> {
    const deadline = Date.now() + waitSeconds * 1_000;
    for (;;) {
      const cfe = await this.read(rut, cfeId, options);
      if (FINAL.has(cfe.cfe_status) || Date.now() + POLL_MILLISECONDS > deadline) return cfe;
      await passed(POLL_MILLISECONDS, options.signal);
    }
  }

  /** One CFE as it stands. */
  async read(rut: string, cfeId: string, { environment, signal }: IssueOptions = {}): Promise<Cfe> {
    const { items } = await this.call(
      'getCfe',
      { path: { rut, cfe_id: cfeId }, query: { ...(environment === 'sandbox' ? { environment } : {}) } },
      { ...(signal ? { signal } : {}) },
    );
    const [cfe] = items;
    if (!cfe) throw new TypeError('the API answered a CFE without one');
    return cfe;
  }

  /** All CFEs that fit, newest first, page by page as they are wanted. */
  async *list(
    rut: string,
    query: ListQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<Cfe, void, undefined> {
    let next: string | null = '';
    while (next !== null) {
      const page: Reply = await this.#ask(
        'listCfes',
        { path: { rut }, query: { limit: PAGE, ...query, ...(next ? { after: next } : {}) } },
        options,
      );
      yield* (page.content as { data: { items: Cfe[] } }).data.items;
      next = nextIn(page.headers.get('Link'));
    }
  }

  #ask(
    name: OperationName,
    request: { path?: object; query?: object; body?: unknown },
    { environment, idempotencyKey, signal }: CallOptions & { environment?: Environment },
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const [method, template] = OPERATIONS[name];
    const inSandbox = environment === 'sandbox' && name === 'issueCfe';
    const transport = inSandbox ? this.#sandbox : this.#production;
    if (!transport) throw new TypeError(`${name} needs ${inSandbox ? 'sandboxApiKey' : 'apiKey'}`);
    const call: Call = {
      method,
      path:
        template.replace(/\{(\w+)\}/g, (_, key: string) =>
          encodeURIComponent(String((request.path as Record<string, unknown>)[key])),
        ) + queryOf(request.query),
      headers,
      body: request.body,
      inSandbox,
      signal,
    };
    return transport.ask(
      method === 'POST' ? { ...call, idempotencyKey: idempotencyKey ?? crypto.randomUUID() } : call,
    );
  }
}

function queryOf(query: object = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined);
  return set.length === 0
    ? ''
    : `?${new URLSearchParams(set.map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
}

/** The cursor of the next page, by the header that names it (RFC 8288). */
function nextIn(header: string | null): string | null {
  const [, target = null] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(header ?? '') ?? [];
  return target === null ? null : new URL(target, 'http://api.invalid').searchParams.get('after');
}
