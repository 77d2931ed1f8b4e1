import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createWebhookSecret } from '../../../src/crypto/webhookSecret.ts';
import { WEBHOOK_EVENTS } from '../../../src/domain/webhook.ts';
import { signatureHeaders } from '../../../src/webhooks/signature.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'cfe-samples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The blocks of the page with this mark, by their language. */
const blocks = (mark: string): { language: string; text: string }[] =>
  [...page.matchAll(new RegExp(`^\`\`\`(\\w+) ${mark}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, language = '', text = '']) => ({ language, text }),
  );

const PROGRAMS: Readonly<Record<string, { program: string; file: string }>> = {
  js: { program: process.execPath, file: 'verify.mjs' },
  python: { program: 'python3', file: 'verify.py' },
  bash: { program: 'bash', file: 'verify.sh' },
};

describe('docs/webhooks.md', () => {
  test('shows a body of every event, in the envelope of the contract', () => {
    const bodies = blocks('event').map(({ text }) => JSON.parse(text) as { event: string });

    expect(bodies.map(({ event }) => event)).toEqual([...WEBHOOK_EVENTS, 'webhook.test']);
    for (const body of bodies) expect(Object.keys(body)).toEqual(['event', 'timestamp', 'data']);
  });

  test('has samples in three languages', () => {
    expect(blocks('sample').map(({ language }) => language)).toEqual(['js', 'python', 'bash']);
  });

  const samples = blocks('sample').map(({ language, text }) => {
    const { program, file } = PROGRAMS[language] ?? { program: language, file: language };
    writeFileSync(join(folder, file), text);
    const there = spawnSync(program, ['--version']).status === 0;
    return { language, program, path: join(folder, file), there };
  });

  describe.each(samples)('the sample in $language', ({ program, path, there }) => {
    const body = '{"event":"webhook.test","data":{"message":"ñandú","amount":1.10}}';
    const secret = createWebhookSecret();
    const run = (
      changes: { body?: string; secret?: string; at?: Date; also?: string } = {},
    ): number | null => {
      const at = changes.at ?? new Date();
      const secrets = [...(changes.also ? [changes.also] : []), secret];
      const headers = signatureHeaders({ id: 'some-id', at, body: Buffer.from(body), secrets });
      return spawnSync(program, [path], {
        input: changes.body ?? body,
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          WEBHOOK_SECRET: changes.secret ?? secret,
          WEBHOOK_ID: headers['webhook-id'],
          WEBHOOK_TIMESTAMP: headers['webhook-timestamp'],
          WEBHOOK_SIGNATURE: headers['webhook-signature'],
        },
      }).status;
    };

    (there ? test : test.skip)('takes what is ours and refuses everything else', () => {
      expect(run()).toBe(0);
      expect(run({ also: createWebhookSecret() })).toBe(0);
      expect(run({ body: body.replace('1.10', '1.1') })).toBe(1);
      expect(run({ secret: createWebhookSecret() })).toBe(1);
      expect(run({ at: new Date(Date.now() - 600_000) })).toBe(1);
      expect(run({ at: new Date(Date.now() + 600_000) })).toBe(1);
    });
  });
});
