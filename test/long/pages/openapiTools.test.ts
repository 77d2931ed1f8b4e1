/** openapi.json as programs take it that are not ours: a generator of clients, and a fuzzer that knows nothing else. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { RULE_TABLES } from '../../../src/domain/requests/ruleTables.ts';
import { REFUSAL_CODES } from '../../../src/errors.ts';
import { issueReceipt } from '../../client/issueReceipt.ts';
import { asStrangers } from '../../support/openapi/strangers.ts';
import { runTool, testWithPython } from '../../support/processes/python.ts';
import { aRut, day } from '../../support/receipts/papers.ts';
import { startTestStack } from '../../support/stacks.ts';
import { useStack } from '../../support/useStack.ts';

const DOCUMENT = resolve('openapi.json');
const RUT = aRut();
/** Of its own: it believes the proxy that makes a stranger of each caller. */
const stack = useStack(
  () => startTestStack({ CFE_TRUSTED_PROXIES: '1' }),
  ({ onboard }) => onboard([101, 111], RUT),
);
const folder = mkdtempSync(join(tmpdir(), 'cfe-openapi-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a Python client generated from openapi.json', () => {
  testWithPython('issues a receipt, and reads why another is refused', async () => {
    const { base_url, live_api_key } = stack.info();
    const parameters = `generate --path ${DOCUMENT} --config client.yaml --meta none --output-path`;
    const generated = await runTool('openapi-python-client', [
      ...parameters.split(' '),
      join(folder, 'cfe_client'),
    ]);
    expect([generated.code, generated.said]).toEqual([0, expect.not.stringContaining('WARNING')]);

    const issued = await runTool('python', ['issue_receipt.py'], {
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      BASE_URL: base_url,
      API_KEY: live_api_key,
      RUT,
      TODAY: day(0),
    });
    expect([issued.code, issued.code === 0 ? '' : issued.said]).toEqual([0, '']);
    expect(JSON.parse(issued.output)).toMatchObject({
      cfe_type: 'ETICKET',
      cfe_status: 'ACCEPTED',
      total_amount: 122,
    });
  });
});

describe('a TypeScript client generated from openapi.json', () => {
  test('issues a receipt, and once only when it asks twice with one Idempotency-Key', async () => {
    const rut = await stack.onboard([101], aRut());
    const { base_url: baseUrl, live_api_key: apiKey } = stack.info();

    const cfe = await issueReceipt({ baseUrl, apiKey }, rut, day(0));
    const again = await issueReceipt({ baseUrl, apiKey }, rut, day(0));

    expect(cfe).toMatchObject({ cfe_type: 'ETICKET', cfe_status: 'ACCEPTED', total_amount: 122, numero: 1 });
    expect(again).toEqual(cfe);
  });
});

describe('schemathesis', () => {
  const listed = JSON.parse(readFileSync('test/python/refusals.json', 'utf8')) as Record<
    'errors' | 'faults',
    Record<string, string>
  >;

  test('may find refused, of what fits the schema, only what breaks a rule of ours', () => {
    const codes = new Set(RULE_TABLES.flatMap(({ rules }) => rules.map(([code]) => code)));
    expect(Object.keys(listed.faults).filter((code) => !codes.has(code))).toEqual([]);
    expect(Object.keys(listed.errors).filter((code) => !REFUSAL_CODES.some((one) => one === code))).toEqual(
      [],
    );
    expect(Object.values({ ...listed.errors, ...listed.faults }).filter((why) => why.length < 10)).toEqual(
      [],
    );
  });

  testWithPython('finds nothing in any operation, with every check', async () => {
    const { base_url, live_api_key } = stack.info();
    await using api = await asStrangers(base_url);
    const token = (await stack.customer.send('POST', 'tokens', {})) as { access_token: string };
    const parameters =
      `--config-file schemathesis.toml run ${DOCUMENT} --url ${api.baseUrl} --checks all ` +
      '--continue-on-failure --no-color --no-shrink --phases examples,coverage,fuzzing --max-examples 10 ' +
      // The same cases each time.
      '--seed 1 --generation-deterministic';
    const headers = ['-H', `X-API-Key: ${live_api_key}`, '-H', `Authorization: Bearer ${token.access_token}`];
    const run = await runTool('schemathesis', [...parameters.split(' '), ...headers], { CFE_RUT: RUT });
    expect([run.code, run.code === 0 ? '' : run.said]).toEqual([0, '']);
    const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as { paths: Record<string, object> };
    const operations = Object.values(paths).flatMap((item) => Object.keys(item)).length;
    expect(run.said).toMatch(new RegExp(`Tested: ${operations}$`, 'm'));
  });
});
