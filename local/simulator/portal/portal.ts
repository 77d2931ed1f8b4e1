import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal, type RefusalCode } from '../../../src/errors.ts';
import { readBody, send, sendJson, TooLarge } from '../http.ts';
import { reportAnnulled } from './annulments.ts';
import { makeCae } from './caes.ts';
import { getCalls } from './calls.ts';
import { authorityCertificates, certificateAuthorities, makeCertificate } from './certificates.ts';
import { putCredentials, validateCredentials } from './credentials.ts';
import { putDirectory } from './directory.ts';
import { putForeignCfe } from './foreignCfes.ts';
import { readJson } from './input.ts';
import { ledger, ledgerXml } from './ledger.ts';
import { mailAttachment, mails, putMailboxAnswer } from './mails.ts';
import { getOutage, putOutage } from './outage.ts';
import { putQueryDelay } from './queryDelay.ts';
import { putRates } from './rates.ts';
import { putRegistry } from './registry.ts';
import { regularize } from './regularizations.ts';
import { putReportFaults, reports } from './reports.ts';
import type { PortalContext, PortalRoute } from './route.ts';

/** Every call of the portal (docs/local.md#the-portal). */
const ROUTES: readonly PortalRoute[] = [
  makeCertificate,
  authorityCertificates,
  certificateAuthorities,
  makeCae,
  reportAnnulled,
  putForeignCfe,
  regularize,
  reports,
  putReportFaults,
  putRates,
  putRegistry,
  putDirectory,
  putCredentials,
  validateCredentials,
  ledger,
  ledgerXml,
  putOutage,
  getOutage,
  putQueryDelay,
  getCalls,
  putMailboxAnswer,
  mails,
  mailAttachment,
];

const MOST_BODY_BYTES = 256 * 1024;
const STATUS: Partial<Record<RefusalCode, number>> = {
  INVALID_INPUT: 400,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
};

/** Serves one call of the portal. Refusals are answered; other errors are thrown. */
export async function servePortal(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  context: PortalContext,
): Promise<void> {
  try {
    const { route, path } = routeFor(request.method ?? '', url.pathname);
    const body = route.method === 'GET' ? undefined : readJson(await readBody(request, MOST_BODY_BYTES));
    const answer = await route.handle({ path, query: Object.fromEntries(url.searchParams), body }, context);
    if ('json' in answer) sendJson(response, answer.status, answer.json);
    else send(response, answer.status, answer.contentType, answer.text);
  } catch (error) {
    const refusal =
      error instanceof TooLarge ? new Refusal('PAYLOAD_TOO_LARGE', 'the body is too large') : error;
    if (!(refusal instanceof Refusal)) throw error;
    const { code, message, faults } = refusal;
    if (code === 'PAYLOAD_TOO_LARGE') response.setHeader('connection', 'close');
    sendJson(response, STATUS[code] ?? 500, { error: { code, message, details: { fields: faults } } });
  }
}

function routeFor(method: string, pathname: string): { route: PortalRoute; path: Record<string, string> } {
  const matches = ROUTES.flatMap((route) => {
    const path = matchPath(route.path, pathname);
    return path ? [{ route, path }] : [];
  });
  const found = matches.find(({ route }) => route.method === method);
  if (found) return found;
  if (matches.length > 0) throw new Refusal('METHOD_NOT_ALLOWED', `${method} is not allowed here`);
  throw new Refusal('NOT_FOUND', 'no such call; see docs/local.md#the-simulator');
}

/** The parameters of a path by name; null when it does not match the pattern. */
function matchPath(pattern: string, pathname: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), pathname.split('/')];
  if (wanted.length !== given.length) return null;
  const path: Record<string, string> = {};
  for (const [at, piece] of wanted.entries()) {
    const value = given[at] ?? '';
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    if (name !== undefined) path[name] = value;
    else if (piece !== value) return null;
  }
  return path;
}
