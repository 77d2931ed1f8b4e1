import type { Context } from 'koa';
import * as z from 'zod';
import { type Checked, check, limited } from '../domain/faults.ts';
import { invalidInput } from '../errors.ts';
import { failpoint } from '../failpoints.ts';
import type { Places } from '../http/places.ts';
import { answerFile, answerJson, answerText } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { parseBody, readBody, valueOf } from './body.ts';
import type { ApiDeps } from './deps.ts';
import { enterpriseAccess } from './enterpriseAccess.ts';
import type { FailureLimit } from './failedAttempts.ts';
import { applyQuota } from './hourlyLimit.ts';
import { type HandlerAnswer, handleOnce, readRequestKey } from './idempotency.ts';
import type { Lookups } from './lookups.ts';
import { waitSeconds } from './prefer.ts';
import { readQuery } from './query.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';
import { checkSandboxMode } from './sandboxMode.ts';

/**
 * Serves one route: the checks in their order (docs/contract.md#order-of-checks; path and method are the router's),
 * then its handler. `values` are the values of the path, decoded.
 */
export function serveRoute(
  route: Route,
  {
    deps,
    lookups,
    failures,
    places,
  }: { deps: ApiDeps; lookups: Lookups; failures: FailureLimit; places: Places },
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
    const checked = check(paramsSchema, values, { at: '/path' });
    const rut = checked.ok ? rutAsked(route, checked.value) : null;

    const { request, trial, answer } = await places.hold(accountId, async () => {
      const admission = await lookups.admit(caller, rut);
      applyQuota(ctx, admission.quota, deps.realClock());
      checkSandboxMode(route, headers, caller);
      const params = valueOf(checked);
      const unbound = route.checkParams?.(params) ?? [];
      if (unbound.length > 0) throw invalidInput(unbound);
      const { enterprise, role } = enterpriseAccess(route, rut, caller, admission);
      await route.requireResource?.({ params }, deps);
      const rawBody = route.body ? await readBody(ctx.req, route.body.limitBytes) : Buffer.alloc(0);
      const { query, body, json } = readInput(route, ctx.querystring, rawBody);

      const { requestId } = ctx.state;
      const trial = route.trial?.asked(query) ? route.trial : undefined;
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
    await send(ctx, route, { request, trial, answer }, deps);
  };
}

/** Sends what was answered: after waiting, where the caller asked for it, and as a file, where it is one. */
async function send(
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
    answerText(ctx, route.success.status, `{"data":${answer.replayed}}`);
    return;
  }
  if (trial) {
    answerJson(ctx, trial.success.status, { data: answer.data });
    return;
  }
  const data = await waitedFor(ctx, route, request, answer.data, deps);
  if (route.file) {
    answerFile(ctx, route.file.mediaType, await route.file.make(request, data, deps));
    return;
  }
  const next = route.nextPage?.(request, data);
  failpoint('request.answering');
  if (next) ctx.set('Link', `<${ctx.path}?${new URLSearchParams(next).toString()}>; rel="next"`);
  answerJson(ctx, route.success.status, { data });
}

/** The RUT in the path of a route that asks for a role; null elsewhere. */
function rutAsked({ role, name }: Route, { rut }: Readonly<Record<string, unknown>>): string | null {
  if (role === null) return null;
  if (typeof rut !== 'string') throw new TypeError(`${name} asks for a role and has no {rut} in its path`);
  return rut;
}

/**
 * `data` after the caller has waited for what it started (`Prefer: wait`), or at once. If waiting fails, the request
 * itself is done all the same: it is answered as it was.
 */
async function waitedFor(
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

/** Query and body together, so that the faults of both are told at once. */
function readInput(
  route: Route,
  search: string,
  rawBody: Uint8Array,
): { query: unknown; body: unknown; json: unknown } {
  const query = readQuery(search, route.query);
  const body = readBodyOf(route, rawBody);
  if (query.ok && body.ok) return { query: query.value, ...body.value };
  throw invalidInput(limited([query, body].flatMap((part) => (part.ok ? [] : part.faults))));
}

/** The body as its route takes it, and as it was read from JSON, numbers as `JsonNumber`. */
function readBodyOf({ body }: Route, rawBody: Uint8Array): Checked<{ body: unknown; json: unknown }> {
  if (!body) return { ok: true, value: { body: undefined, json: null } };
  const json = parseBody(rawBody, { optional: body.optional ?? false });
  if (!json.ok) return json;
  if (body.checkedBy === 'command') return { ok: true, value: { body: json.value, json: json.value } };
  const checked = check<unknown>(body.schema, json.value, body.hints ? { hints: body.hints } : {});
  return checked.ok ? { ok: true, value: { body: checked.value, json: json.value } } : checked;
}
