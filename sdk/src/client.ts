import { OPERATIONS } from './operations.ts';
import { type Call, createTransport, passed, type Reply, type Transport } from './transport.ts';
import type {
  Cfe,
  CfeRequest,
  DataOf,
  Environment,
  EnvironmentOf,
  ItemOf,
  ListName,
  OperationName,
  RequestOf,
  Validation,
} from './types.ts';

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
  idempotencyKey?: string | undefined;
  /** Gives the call up: with its reason, or with CfeUnanswered where something may have been done already. */
  signal?: AbortSignal | undefined;
}

/** Production unless told. Issuing needs a key of its environment; reading one of production, in the sandbox too. */
interface IssueOptions extends CallOptions {
  environment?: Environment | undefined;
}

interface Request {
  path?: object;
  query?: object;
  body?: unknown;
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
   * with the API's code, CfeUnanswered where it may have been done all the same, and TypeError where it is told the sandbox
   * and knows none.
   */
  async call<Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    options: CallOptions & { environment?: EnvironmentOf<Name> | undefined } = {},
  ): Promise<DataOf<Name>> {
    const { content } = await this.#ask(name, request as Request, options);
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
   * the authority is away it stays PENDING or RECEIVED, and goes on by itself. So it is where waiting fails or is given up,
   * since it is issued. Without a key of production the sandbox is waited for as long as the API does in one call, 30 seconds.
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
    const left = { ...options, waitSeconds: (deadline - Date.now()) / 1_000 };
    return this.verdict(rut, cfe.cfe_id, left).catch(() => cfe);
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
    const { items } = await this.call('getCfe', { path: { rut, cfe_id: cfeId } }, { environment, signal });
    const [cfe] = items;
    if (!cfe) throw new TypeError('the API answered a CFE without one');
    return cfe;
  }

  /** All CFEs that fit, newest first, page by page as they are wanted. */
  list(rut: string, query: ListQuery = {}, options: IssueOptions = {}): AsyncGenerator<Cfe, void, undefined> {
    return this.all('listCfes', { path: { rut }, query }, options);
  }

  /** All items of a list, by its operationId, page by page as they are wanted; `limit` of the query is the length of a page. */
  async *all<Name extends ListName>(
    name: Name,
    request: RequestOf<Name>,
    options: CallOptions & { environment?: EnvironmentOf<Name> | undefined } = {},
  ): AsyncGenerator<ItemOf<Name>, void, undefined> {
    const { query, ...place } = request as Request;
    let wanted: Query | null = { limit: PAGE, ...query };
    while (wanted) {
      const page: Reply = await this.#ask(name, { ...place, query: wanted }, options);
      const { data } = page.content as { data: Page };
      yield* ('items' in data ? data.items : data) as ItemOf<Name>[];
      wanted = nextOf(wanted, page.headers.get('Link'), data);
    }
  }

  #ask(
    name: OperationName,
    { path, query, body }: Request,
    { environment, idempotencyKey, signal }: IssueOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const [method, template, told]: readonly [string, string, string?] = OPERATIONS[name];
    // A misspelt environment is never production.
    const isSandbox = (environment ?? 'production') !== 'production';
    if (isSandbox && !told) throw new TypeError(`${name} knows no sandbox, and would act in production`);
    const inSandbox = isSandbox && told === 'key';
    const transport = inSandbox ? this.#sandbox : this.#production;
    if (!transport) {
      const orSandbox = told === 'key' ? ", or { environment: 'sandbox' }" : '';
      throw new TypeError(`${name} needs ${inSandbox ? 'sandboxApiKey' : `apiKey${orSandbox}`}`);
    }
    // Sent as it is, or not at all, it would leave the call without a key.
    if (idempotencyKey?.trim() === '') throw new TypeError('idempotencyKey is empty');
    const call: Call = {
      method,
      path:
        template.replace(/\{(\w+)\}/g, (_, key: string) =>
          encodeURIComponent(String((path as Record<string, unknown>)[key])),
        ) + queryOf(told === 'query' ? { ...query, ...(environment && { environment }) } : query),
      headers,
      body,
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

type Query = { limit: number; skip?: number } & Record<string, unknown>;
type Page = readonly unknown[] | { items: readonly unknown[]; next?: string | null };

/** What to ask for the page after this one: by the header Link (RFC 8288), by `next` of the body, or by what was skipped. */
function nextOf(query: Query, link: string | null, page: Page): Query | null {
  const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? [];
  // What was skipped does not count again beside a cursor.
  if (target !== undefined) {
    const { searchParams } = new URL(target, 'http://api.invalid');
    return { ...query, skip: undefined, ...Object.fromEntries(searchParams) } as Query;
  }
  const items = 'items' in page ? page.items : page;
  if ('next' in page) return page.next == null ? null : { ...query, after: page.next };
  return items.length < query.limit ? null : { ...query, skip: Number(query.skip ?? 0) + items.length };
}
