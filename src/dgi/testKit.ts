import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { post } from './post.ts';

const MOST_BYTES = 256 * 1024;
const TIMEOUTS = { connectSeconds: 3, answerSeconds: 10 } as const;

const CertificateAnswer = z.object({ cert_b64: z.base64(), password: z.string() });

/**
 * Gets test certificates from the simulator's portal (docs/local.md#the-simulator), which accepts invented CAEs. Calls
 * reject if the portal gives no certificate.
 */
export function createPortalTestKit(portalUrl: string) {
  const ask = async <T>(path: string, request: unknown, answer: z.ZodType<T>): Promise<T> => {
    const { status, body } = await post({
      url: `${portalUrl}/${path}`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ ...(request as object), environment: 'sandbox' }),
      timeouts: TIMEOUTS,
      mostBytes: MOST_BYTES,
      ca: undefined,
    });
    if (status !== 200 && status !== 201) throw new Error(`the portal answered ${status}`);
    return answer.parse(JSON.parse(body.toString('utf8')));
  };
  return {
    async certificate(rut: string) {
      const request = { rut, password: randomBytes(18).toString('base64url') };
      const { cert_b64, password } = await ask('certificates', request, CertificateAnswer);
      return { file: Buffer.from(cert_b64, 'base64'), password };
    },
    cae: () => Promise.resolve(null),
  };
}

const TestKitIndex = z.object({
  password: z.string(),
  caes: z.record(z.string(), z.object({ file: z.string(), start_number: z.int() })).default({}),
});

/**
 * Reads test certificates and CAEs of the authority's test environment from files: `<folder>/<rut>/` holds
 * `certificate.p12` and `papers.json` {password, caes?: {"101": {file, start_number}}}. Calls reject if either is missing.
 */
export function createFolderTestKit(folder: string) {
  const index = async (rut: string) =>
    TestKitIndex.parse(JSON.parse(await readFile(join(folder, rut, 'papers.json'), 'utf8')));
  return {
    async certificate(rut: string) {
      const { password } = await index(rut);
      return { file: await readFile(join(folder, rut, 'certificate.p12')), password };
    },
    async cae(rut: string, typeCode: number) {
      const { caes } = await index(rut);
      const cae = caes[String(typeCode)];
      if (!cae) return null;
      return { file: await readFile(join(folder, rut, cae.file)), startNumber: cae.start_number };
    },
  };
}
