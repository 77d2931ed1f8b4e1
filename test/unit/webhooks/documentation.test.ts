import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { openAuthority } from '../../../local/stack/localAuthority.ts';
import { sampleBody } from '../../../src/api/openapi/eventSamples.ts';
import { createWebhookSecret } from '../../../src/crypto/webhookSecret.ts';
import { EVENT_NAMES } from '../../../src/domain/webhooks/events.ts';
import { createSender } from '../../../src/webhooks/send.ts';
import { signatureHeaders } from '../../../src/webhooks/signature.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'cfe-samples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The blocks of the page with this mark, by their language. */
const blocks = (mark: string): { language: string; text: string }[] =>
  [...page.matchAll(new RegExp(`^\`\`\`(\\w+) ${mark}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, language = '', text = '']) => ({ language, text }),
  );

const there = (program: string): boolean =>
  spawnSync(program, [program === 'openssl' ? 'version' : '--version']).status === 0;

const PROGRAMS: Readonly<Record<string, { program: string; file: string }>> = {
  js: { program: process.execPath, file: 'verify.mjs' },
  python: { program: 'python3', file: 'verify.py' },
  bash: { program: 'bash', file: 'verify.sh' },
};

describe('docs/webhooks.md', () => {
  test('shows a body of every event, to the byte as the service makes it', () => {
    expect(blocks('event').map(({ text }) => text)).toEqual(
      EVENT_NAMES.map((name) => `${sampleBody(name)}\n`),
    );
  });

  test('has samples in three languages', () => {
    expect(blocks('sample').map(({ language }) => language)).toEqual(['js', 'python', 'bash']);
  });

  (there('openssl') ? test : test.skip)(
    'makes a certificate that our sender takes, from the local authority',
    async () => {
      mkdirSync(join(folder, '.local'));
      const authority = await openAuthority(join(folder, '.local'));
      const [{ text: commands } = { text: '' }] = blocks('certificate');
      const { status, stderr } = spawnSync('bash', ['-e', '-c', commands], { cwd: folder, encoding: 'utf8' });
      expect(status === 0 ? '' : stderr).toBe('');
      const file = (name: string): string => readFileSync(join(folder, name), 'utf8');
      const server = createServer({ key: file('server-key.pem'), cert: file('server.pem') }, (_, response) =>
        response.writeHead(204).end(),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const send = createSender({ localCa: readFileSync(authority.certificate, 'utf8') });
        const { port } = server.address() as AddressInfo;
        for (const host of ['127.0.0.1', 'localhost']) {
          const outcome = await send({
            url: `https://${host}:${port}/`,
            headers: {},
            body: Buffer.from('{}'),
          });
          expect(outcome).toMatchObject({ httpStatus: 204, error: null });
        }
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
    },
  );

  const samples = blocks('sample').map(({ language, text }) => {
    const { program, file } = PROGRAMS[language] ?? { program: language, file: language };
    writeFileSync(join(folder, file), text);
    return { language, program, path: join(folder, file), isThere: there(program) };
  });

  describe.each(samples)('the sample in $language', ({ program, path, isThere }) => {
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

    (isThere ? test : test.skip)('takes what is ours and refuses everything else', () => {
      expect(run()).toBe(0);
      expect(run({ also: createWebhookSecret() })).toBe(0);
      expect(run({ body: body.replace('1.10', '1.1') })).toBe(1);
      expect(run({ secret: createWebhookSecret() })).toBe(1);
      expect(run({ at: new Date(Date.now() - 600_000) })).toBe(1);
      expect(run({ at: new Date(Date.now() + 600_000) })).toBe(1);
    });
  });
});
