import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import * as z from 'zod';
import type { Enterprise } from '../db/entities/enterprises.ts';
import type { RequestAdmission } from '../db/people/counts.ts';
import { isExceeded, type RateLimitUsage, secondsUntilReset } from '../domain/people/rateLimits.ts';
import { isAtLeast, type Role } from '../domain/people/roles.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { type Checked, checkInput, limitFaults } from '../domain/requests/faults.ts';
import type { RequestRule } from '../domain/requests/requestRules.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { failpoint } from '../failpoints.ts';
import type { ConcurrencySlots } from '../http/concurrencySlots.ts';
import { answerData, answerFile, answerStored } from './answer.ts';
import { authenticate, type Lookups } from './authenticate.ts';
import { parseBody, readBody, valueOf } from './body.ts';
import type { ApiDeps } from './deps.ts';
import type { FailureLimit } from './failedAttempts.ts';
import { type HandlerAnswer, handleOnce, readRequestKey } from './idempotency.ts';
import { waitSeconds } from './prefer.ts';
import { readQuery } from './query.ts';
import type { RequestState } from './requestState.ts';
import type { ApiCaller, Route } from './route.ts';

/**
 * Serves one route: runs the checks in order (docs/contract.md#order-of-checks; the router has checked path and method),
 * then the handler. `values`: the decoded path values.
 */
export function serveRoute(
  route: Route,
  {
    deps,
    lookups,
    failures,
    places: slots,
  }: { deps: ApiDeps; lookups: Lookups; failures: FailureLimit; places: ConcurrencySlots },
) {
  const paramsSchema = z.strictObject(route.params);

  return async (
    ctx: Context & { state: RequestState },
    values: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const { headers } = ctx.req;
    const caller = await failures.guard({ route, headers, address: ctx.state.address }, () =>
      authenticate(route, headers, { deps, lookups }),
    );
    const { accountId, keyId } = caller;
    Object.assign(ctx.state, { accountId, keyId });
    const checked = checkInput(paramsSchema, values, { at: '/path' });
    const rut = checked.ok ? requireRutInPath(route, checked.value) : null;

    const { request, trial, answer } = await slots.hold(accountId, async () => {
      const admission = await lookups.admit(caller, rut);
      applyRateLimit(ctx, admission.usage, deps.realClock());
      checkSandboxMode(route, headers, caller);
      const params = valueOf(checked);
      const unbound = route.checkParams?.(params) ?? [];
      if (unbound.length > 0) throw invalidInput(unbound);
      const { enterprise, role } = requireAccess(route, rut, caller, admission);
      await route.requireResource?.({ params }, deps);
      const rawBody = route.body ? await readBody(ctx.req, route.body.limitBytes) : Buffer.alloc(0);
      const { query, body, json } = readInput(route, ctx.querystring, rawBody);

      const { requestId } = ctx.state;
      const trial = route.trial?.isSelected(query) ? route.trial : undefined;
      const asked = { path: ctx.path, json, hashOf: deps.requestHash };
      const idempotency = trial ? null : readRequestKey(route, ctx.req, asked);
      const request = { params, query, body, caller, enterprise, role, rawBody, requestId, idempotency };
      const origin = { keyId, address: ctx.state.address };
      const acting: ApiDeps = { ...deps, actor: `account:${accountId}`, origin };
      const answer = trial
        ? { data: await trial.handle(request, acting) }
        : await handleOnce(route, request, acting);
      return { request, trial, answer };
    });
    await sendAnswer(ctx, route, { request, trial, answer }, deps);
  };
}

/** Sends the answer, after waiting if the caller asked for it, as JSON or as a file. */
async function sendAnswer(
  ctx: Context,
  route: Route,
  {
    request,
    trial,
    answer,
  }: { request: Parameters<Route['handle']>[0]; trial: Route['trial']; answer: HandlerAnswer },
  deps: ApiDeps,
): Promise<void> {
  if ('replayed' in answer) {
    ctx.set('Idempotent-Replayed', 'true');
    answerStored(ctx, route.success.status, answer.replayed);
    return;
  }
  if (trial) {
    answerData(ctx, trial.success.status, answer.data);
    return;
  }
  const data = await waitForData(ctx, route, request, answer.data, deps);
  if (route.file) {
    answerFile(ctx, route.file.mediaType, await route.file.make(request, data, deps));
    return;
  }
  const next = route.nextPage?.(request, data);
  failpoint('request.answering');
  if (next) ctx.set('Link', `<${ctx.path}?${new URLSearchParams(next).toString()}>; rel="next"`);
  answerData(ctx, route.success.status, data);
}

/** Returns the RUT in the path of a route that requires a role; otherwise null. */
function requireRutInPath({ role, name }: Route, { rut }: Readonly<Record<string, unknown>>): string | null {
  if (role === null) return null;
  if (typeof rut !== 'string') throw new TypeError(`${name} asks for a role and has no {rut} in its path`);
  return rut;
}

/**
 * Waits as long as the caller wants (`Prefer: wait`) and returns the new `data`; the old `data` if waiting fails, because
 * the request itself has succeeded.
 */
async function waitForData(
  ctx: Context,
  route: Route,
  request: Parameters<Route['handle']>[0],
  data: unknown,
  deps: ApiDeps,
): Promise<unknown> {
  const seconds = waitSeconds(ctx.req.headers['prefer']);
  if (!route.waitFor || seconds === null) return data;
  ctx.set('Preference-Applied', `wait=${seconds}`);
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  try {
    return await route.waitFor(request, data, { seconds, signal: gone.signal }, deps);
  } catch (err) {
    deps.logger.warn({ err, requestId: request.requestId }, 'waiting failed; answered without it');
    return data;
  }
}

/** Reads query and body together, to report the faults of both at once. */
function readInput(
  route: Route,
  search: string,
  rawBody: Uint8Array,
): { query: unknown; body: unknown; json: unknown } {
  const query = readQuery(search, route.query);
  const body = readBodyOf(route, rawBody);
  if (query.ok && body.ok) return { query: query.value, ...body.value };
  throw invalidInput(limitFaults([query, body].flatMap((part) => (part.ok ? [] : part.faults))));
}

/** Returns the body in two forms: as the route wants it, and as JSON with numbers as `JsonNumber`. */
function readBodyOf({ body }: Route, rawBody: Uint8Array): Checked<{ body: unknown; json: unknown }> {
  if (!body) return { ok: true, value: { body: undefined, json: null } };
  const json = parseBody(rawBody, { optional: body.optional ?? false });
  if (!json.ok) return json;
  if (body.checkedBy === 'command') return { ok: true, value: { body: json.value, json: json.value } };
  const checked = checkInput<unknown>(body.schema, json.value, body.hints ? { hints: body.hints } : {});
  return checked.ok ? { ok: true, value: { body: checked.value, json: json.value } } : checked;
}

// The rate limit of an account (docs/contract.md#limits), counted by db/people/counts.ts.

/** Name of the limit in the draft's headers. */
const POLICY = '"default"';

/**
 * Sends the usage of the rate limit in the headers of draft-ietf-httpapi-ratelimit-headers. Throws RATE_LIMITED beyond the
 * limit.
 */
export function applyRateLimit(ctx: Pick<Context, 'set'>, usage: RateLimitUsage, now: Date): void {
  const { limit, used } = usage;
  const remaining = Math.max(0, limit.most - used);
  const seconds = secondsUntilReset(usage, now);
  ctx.set({
    'RateLimit-Policy': `${POLICY};q=${limit.most};w=${limit.seconds}`,
    RateLimit: `${POLICY};r=${remaining};t=${seconds}`,
  });
  if (!isExceeded(usage)) return;
  throw new Refusal(
    'RATE_LIMITED',
    `The account has used its ${limit.most} requests of this hour; the next hour starts in ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  );
}

// X-Sandbox-Mode against route, key and account (docs/contract.md#sandbox-mode).

const SANDBOX_HEADER = 'X-Sandbox-Mode';

/**
 * Throws INVALID_INPUT for a malformed header or `true` on a production-only route; INVALID_API_KEY (for
 * tokens) or FORBIDDEN for a key of the other environment; FORBIDDEN for the sandbox without is_developer.
 */
function checkSandboxMode(
  route: Pick<Route, 'auth' | 'sandbox'>,
  headers: IncomingHttpHeaders,
  caller: ApiCaller,
): void {
  const asked = parseSandboxMode(headers[SANDBOX_HEADER.toLowerCase()]);
  if (asked === 'sandbox' && !route.sandbox) {
    throw sandboxFault(
      'sandbox.unsupported',
      `${SANDBOX_HEADER} true is not supported here: this endpoint is for production only.`,
    );
  }
  if (asked !== caller.environment) {
    const code = route.auth === 'key' ? 'INVALID_API_KEY' : 'FORBIDDEN';
    throw new Refusal(code, wrongEnvironment(caller.environment, route.sandbox));
  }
  if (caller.environment === 'sandbox' && !caller.isDeveloper) {
    throw new Refusal('FORBIDDEN', 'Only developer accounts may use the sandbox.');
  }
}

function parseSandboxMode(header: string | string[] | undefined): Environment {
  if (header === undefined || header === 'false') return 'production';
  if (header === 'true') return 'sandbox';
  throw sandboxFault('sandbox.malformed', `${SANDBOX_HEADER} must be true or false.`);
}

const sandboxFault = (code: RequestRule, message: string): Refusal =>
  invalidInput([{ path: `/headers/${SANDBOX_HEADER}`, code, message }]);

function wrongEnvironment(environment: Environment, supported: boolean): string {
  if (environment === 'production')
    return `The API key is for production; use it without ${SANDBOX_HEADER} true.`;
  return supported
    ? `The API key is for the sandbox; use it with ${SANDBOX_HEADER} true.`
    : 'The API key is for the sandbox; this endpoint is for production only.';
}

// The enterprise of a request, and the caller's role.

/** The enterprise of a request and the caller's role; both null when the route requires no role. */
interface Access {
  readonly enterprise: Enterprise | null;
  readonly role: Role | null;
}

/**
 * Returns the enterprise of `{rut}`. Throws NOT_FOUND for an unknown one, FORBIDDEN without the required
 * role.
 */
function requireAccess(
  route: Pick<Route, 'role'>,
  rut: string | null,
  caller: ApiCaller,
  { enterprise, granted }: Omit<RequestAdmission, 'usage'>,
): Access {
  if (route.role === null) return { enterprise: null, role: null };
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  // The registering account is the owner; an operator grants all other roles.
  const role = enterprise.ownerAccountId === caller.accountId ? 'OWNER' : granted;
  if (!role) throw new Refusal('FORBIDDEN', `Your account has no role at the enterprise ${rut}.`);
  if (!isAtLeast(role, route.role)) {
    throw new Refusal(
      'FORBIDDEN',
      `This requires the role ${route.role}; yours at the enterprise ${rut} is ${role}.`,
    );
  }
  return { enterprise, role };
}
