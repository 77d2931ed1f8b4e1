import { createSign, createVerify } from 'node:crypto';
import { parseAnswer, readSignedDocument } from '../../../src/dgi/answers.ts';
import { createSigner } from '../../../src/dgi/sign.ts';
import { wrapInXmlData, writeCall, writeVerdictQuery } from '../../../src/dgi/soap.ts';
import { signEnvelope } from '../../../src/dgi/wsSecurity.ts';
import { readAckCfe, readAckSobre } from '../../../src/dgi/xml/ack.ts';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import { writeSobreXml } from '../../../src/dgi/xml/sobre.ts';
import {
  AUTHORITY_RUT,
  ackCfe,
  ackSobre,
  authorityKeys,
  credentialsOf,
  exception,
  fingerprint,
  soapAnswer,
} from '../../support/dgi/answers.ts';
import { aDocument } from './document.ts';

const ROUNDS = 30;
const SLICE_MILLISECONDS = 40;

/** One piece of work, and how often a CFE needs it: the first question for its verdict comes too early. */
interface Piece {
  readonly name: string;
  readonly times: number;
  readonly work: () => void;
}

/** What the XML and the signatures of one CFE with three lines cost the worker, and how much of it is RSA. */
export function xmlCosts(): string {
  const pieces = [...ofOneCfe(), ...ofRsa()];
  const costs = medians(pieces.map(({ work }) => work));
  const rows = pieces.map((piece, i) => ({ ...piece, milliseconds: costs[i] ?? 0 }));
  const sum = (names: (name: string) => boolean): number =>
    rows
      .filter(({ name }) => names(name))
      .reduce((total, { times, milliseconds }) => total + times * milliseconds, 0);
  const all = sum((name) => !name.startsWith('RSA'));
  const rsa = sum((name) => name.startsWith('RSA'));
  return [
    `XML and signatures ${all.toFixed(2)} ms, of it RSA ${rsa.toFixed(2)} ms: ${(all - rsa).toFixed(2)} ms beyond it`,
    ...rows.map(
      ({ times, milliseconds, name }) =>
        `${String(times).padStart(9)} × ${milliseconds.toFixed(3)} ms  ${name}`,
    ),
  ].join('\n');
}

function ofOneCfe(): Piece[] {
  const credentials = credentialsOf();
  const signer = createSigner({ ...credentials, hash: 'sha256' });
  const document = aDocument(3);
  const signed = signer.sign(writeCfe(document)).xml;
  const sobre = (): string =>
    writeSobreXml({
      receiverRut: AUTHORITY_RUT,
      issuerRut: '210154140015',
      idemisor: 7n,
      createdAt: '2026-11-20T10:00:00-03:00',
      certificateDer: credentials.certificateDer,
      signedCfes: [signed],
    });
  const options = { credentials, hash: 'sha256' } as const;
  const keys = authorityKeys();
  const trust = {
    signers: new Set([fingerprint(keys)]),
    authorityRut: AUTHORITY_RUT,
    now: new Date('2026-03-02T13:00:00Z'),
  };
  const bytes = (text: string) => ({ status: 200, body: Buffer.from(text) });
  const received = bytes(soapAnswer('EFACRECEPCIONSOBRE', ackSobre({ hash: 'sha256' })));
  const decided = bytes(soapAnswer('EFACCONSULTARESTADOENVIO', ackCfe({ hash: 'sha256' })));
  const early = bytes(soapAnswer('EFACCONSULTARESTADOENVIO', exception(105)));
  const question = writeVerdictQuery({ idReceptor: '4242', token: 'dG9rZW4=' });
  return [
    { name: 'CFE written and signed', times: 1, work: () => signer.sign(writeCfe(document)) },
    { name: 'sobre written', times: 1, work: sobre },
    {
      name: 'sobre in a signed request',
      times: 1,
      work: () => signEnvelope(writeCall('sendSobre', wrapInXmlData(sobre())), options),
    },
    {
      name: 'question in a signed request',
      times: 2,
      work: () => signEnvelope(writeCall('askVerdict', question), options),
    },
    {
      name: 'signed answer to the sobre, read and verified',
      times: 1,
      work: () => readSignedDocument(parseAnswer(received, 'sendSobre'), readAckSobre, trust),
    },
    {
      name: 'answer "not yet", read',
      times: 1,
      work: () => {
        try {
          readSignedDocument(parseAnswer(early, 'askVerdict'), readAckCfe, trust);
        } catch {
          return;
        }
        throw new Error('"not yet" was read as a verdict');
      },
    },
    {
      name: 'signed verdict, read and verified',
      times: 1,
      work: () => readSignedDocument(parseAnswer(decided, 'askVerdict'), readAckCfe, trust),
    },
  ];
}

/** Four signatures are made, the first of them checked, and two are verified. */
function ofRsa(): Piece[] {
  const { privateKey } = credentialsOf();
  const { certificate } = authorityKeys();
  const bytes = Buffer.alloc(500, 'x');
  const signature = createSign('RSA-SHA256').update(bytes).sign(authorityKeys().privateKey);
  return [
    {
      name: 'RSA-2048 signature',
      times: 4,
      work: () => createSign('RSA-SHA256').update(bytes).sign(privateKey),
    },
    {
      name: 'RSA-2048 verification',
      times: 3,
      work: () => createVerify('RSA-SHA256').update(bytes).verify(certificate.publicKey, signature),
    },
  ];
}

/** Milliseconds of processor that each of the works takes: medians of rounds in which all have their turn. */
function medians(works: readonly (() => void)[]): number[] {
  const costs = works.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [index, work] of works.entries()) {
      const started = performance.now();
      const before = process.cpuUsage();
      let done = 0;
      for (; performance.now() - started < SLICE_MILLISECONDS; done += 1) work();
      const { user, system } = process.cpuUsage(before);
      if (round > 0) costs[index]?.push((user + system) / 1_000 / done);
    }
  }
  return costs.map((each) => each.toSorted((a, b) => a - b)[Math.floor(each.length / 2)] ?? 0);
}
