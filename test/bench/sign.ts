import { createSign, generateKeyPairSync } from 'node:crypto';
import { createSigner } from '../../src/dgi/sign.ts';
import { writeCfe } from '../../src/dgi/xml/cfe.ts';
import { selfSignedCertificate } from '../support/enterprises/selfSigned.ts';
import { aDocument } from './tools/document.ts';

const LINES = [3, 30, 200];
/** Each kind of work gets its turn in every round, so that what else the machine does falls on all alike. */
const ROUNDS = 40;
const SLICE_MILLISECONDS = 75;

/** Documents built and signed per second for 3, 30 and 200 lines, beside the bare RSA operation of the same machine. */
export function run(): void {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signer = createSigner({
    privateKey,
    certificateDer: selfSignedCertificate(privateKey),
    hash: 'sha256',
  });
  const bytes = Buffer.alloc(500, 'x');
  const signing = (lines: number) => {
    const document = aDocument(lines);
    return () => void signer.sign(writeCfe(document));
  };
  const [raw = 0, ...signed] = ratesOf([
    () => void createSign('RSA-SHA256').update(bytes).sign(privateKey),
    ...LINES.map(signing),
  ]);
  console.log(`raw RSA-2048 SHA-256   ${raw.toFixed(0).padStart(6)} /s`);
  for (const [index, lines] of LINES.entries()) {
    const rate = signed[index] ?? 0;
    const share = ((100 * rate) / raw).toFixed(0);
    console.log(
      `${String(lines).padStart(3)} lines, signed     ${rate.toFixed(0).padStart(6)} /s  ${share} % of raw`,
    );
  }
}

/** How often a second each of the works was done: the median of all rounds but the first, which warms up. */
function ratesOf(works: readonly (() => void)[]): number[] {
  const rates = works.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [index, work] of works.entries()) {
      const rate = rateIn(work);
      if (round > 0) rates[index]?.push(rate);
    }
  }
  return rates.map((each) => each.toSorted((a, b) => a - b)[Math.floor(each.length / 2)] ?? 0);
}

function rateIn(work: () => void): number {
  const started = performance.now();
  let done = 0;
  while (performance.now() - started < SLICE_MILLISECONDS) {
    work();
    done += 1;
  }
  return (done * 1_000) / (performance.now() - started);
}
