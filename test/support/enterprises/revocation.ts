/** An invented root and intermediate, with their list of revoked certificates and OCSP responder over HTTP. */
import { createHash, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import forge from 'node-forge';
import { rsaKey } from '../receipts/papers.ts';

const { asn1, pki } = forge;
const { UNIVERSAL, CONTEXT_SPECIFIC } = asn1.Class;
const T = asn1.Type;
type Node = forge.asn1.Asn1;

const derOf = (node: Node): Buffer => Buffer.from(asn1.toDer(node).getBytes(), 'latin1');
const nodeOf = (der: Buffer): Node => asn1.fromDer(forge.util.createBuffer(der.toString('latin1')));
const sequence = (...parts: Node[]): Node => asn1.create(UNIVERSAL, T.SEQUENCE, true, parts);
const leaf = (type: forge.asn1.Type, value: string): Node => asn1.create(UNIVERSAL, type, false, value);
const oid = (id: string): Node => leaf(T.OID, asn1.oidToDer(id).getBytes());
const explicit = (tag: number, part: Node): Node => asn1.create(CONTEXT_SPECIFIC, tag, true, [part]);
const implicit = (tag: number, value: string): Node => asn1.create(CONTEXT_SPECIFIC, tag, false, value);
const time = (at: Date): Node => leaf(T.GENERALIZEDTIME, asn1.dateToGeneralizedTime(at));
const SHA256_RSA = sequence(oid('1.2.840.113549.1.1.11'), leaf(T.NULL, ''));

const DAY = 86_400_000;
const HOUR = 3_600_000;

export interface Holder {
  readonly pem: string;
  readonly der: Buffer;
  readonly keyPem: string;
  readonly serial: string;
}

interface Wishes {
  readonly name: string;
  readonly issuer?: Holder;
  readonly ca?: boolean;
  readonly rut?: string;
  readonly notBefore?: Date;
  readonly ocspSigning?: boolean;
  readonly list?: string;
  readonly responder?: string;
}

const nameOf = (address: string): Node => implicit(6, address);
const extension = (id: string, node: Node) => ({
  id,
  critical: false,
  value: derOf(node).toString('latin1'),
});

let lastSerial = 16;
/** A certificate; its key is that of its name. */
export function aHolder(wishes: Wishes): Holder {
  const keyPem = rsaKey(wishes.name);
  const key = pki.privateKeyFromPem(keyPem);
  const certificate = pki.createCertificate();
  lastSerial += 1;
  certificate.serialNumber = `4${lastSerial.toString(16).padStart(5, '0')}`;
  certificate.publicKey = pki.setRsaPublicKey(key.n, key.e);
  certificate.validity.notBefore = wishes.notBefore ?? new Date(Date.now() - 30 * DAY);
  certificate.validity.notAfter = new Date(Date.now() + 365 * DAY);
  const subject = [
    { name: 'commonName', value: wishes.name },
    ...(wishes.rut === undefined ? [] : [{ type: '2.5.4.5', value: `RUC${wishes.rut}` }]),
  ];
  certificate.setSubject(subject);
  const { issuer } = wishes;
  certificate.setIssuer(issuer ? pki.certificateFromPem(issuer.pem).subject.attributes : subject);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: wishes.ca ?? false, critical: true },
    wishes.ca
      ? { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true }
      : { name: 'keyUsage', digitalSignature: true },
    ...(wishes.ocspSigning ? [{ name: 'extKeyUsage', '1.3.6.1.5.5.7.3.9': true }] : []),
    ...(wishes.list === undefined
      ? []
      : [extension('2.5.29.31', sequence(sequence(explicit(0, explicit(0, nameOf(wishes.list))))))]),
    ...(wishes.responder === undefined
      ? []
      : [
          extension(
            '1.3.6.1.5.5.7.1.1',
            sequence(sequence(oid('1.3.6.1.5.5.7.48.1'), nameOf(wishes.responder))),
          ),
        ]),
  ]);
  certificate.sign(pki.privateKeyFromPem(issuer?.keyPem ?? keyPem), forge.md.sha256.create());
  const pem = pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
  return { pem, der: derOf(pki.certificateToAsn1(certificate)), keyPem, serial: certificate.serialNumber };
}

/** The holder with the certificates of its issuers as a .p12. */
export function p12Of(holder: Holder, issuers: readonly Holder[], password: string): Buffer {
  const certificates = [holder, ...issuers].map(({ pem }) => pki.certificateFromPem(pem));
  const key = pki.privateKeyFromPem(holder.keyPem);
  return derOf(forge.pkcs12.toPkcs12Asn1(key, certificates, password, { algorithm: '3des', count: 64 }));
}

function signed(content: Node, keyPem: string, ...more: Node[]): Node {
  const signature = sign('sha256', derOf(content), keyPem).toString('latin1');
  return sequence(content, SHA256_RSA, leaf(T.BITSTRING, `\0${signature}`), ...more);
}

const integer = (hex: string): Node => leaf(T.INTEGER, forge.util.hexToBytes(hex));

export interface ListWishes {
  /** Whose list it is, and who signs it in its place. */
  readonly issuer: Holder;
  readonly signer?: Holder;
  readonly revoked?: readonly string[];
  /** Reason 8: the entry is taken out again. */
  readonly removed?: boolean;
  readonly nextUpdate?: Date;
}

/** A list of revoked certificates (RFC 5280, section 5), DER. */
export function aList({ issuer, signer = issuer, revoked = [], removed, nextUpdate }: ListWishes): Buffer {
  const subject = pki.certificateToAsn1(pki.certificateFromPem(issuer.pem)).value[0] as Node;
  const reason = sequence(sequence(oid('2.5.29.21'), leaf(T.OCTETSTRING, '\n\x01\x08')));
  const entries = revoked.map((serial) =>
    sequence(integer(serial), time(new Date(Date.now() - DAY)), ...(removed ? [reason] : [])),
  );
  const content = sequence(
    integer('01'),
    SHA256_RSA,
    // Its subject is the sixth part of a certificate.
    (subject.value as Node[])[5] as Node,
    time(new Date(Date.now() - 2 * DAY)),
    time(nextUpdate ?? new Date(Date.now() + DAY)),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
  );
  return derOf(signed(content, signer.keyPem));
}

export interface AnswerWishes {
  readonly state: 'good' | 'revoked' | 'unknown';
  readonly signer: Holder;
  /** Whether the answer brings the signer's certificate. */
  readonly brings?: boolean;
  readonly nextUpdate?: Date;
}

/** A responder's answer (RFC 6960) to a question, DER. */
export function anAnswer(question: Buffer, { state, signer, brings, nextUpdate }: AnswerWishes): Buffer {
  const [request] = nodeOf(question).value as Node[];
  const partsOf = (node: Node | undefined): Node[] => (node?.value ?? []) as Node[];
  const list = partsOf(request).find(({ tagClass }) => tagClass === UNIVERSAL);
  const certId = partsOf(partsOf(list)[0])[0] as Node;
  const status = {
    good: implicit(0, ''),
    revoked: asn1.create(CONTEXT_SPECIFIC, 1, true, [time(new Date(Date.now() - DAY))]),
    unknown: implicit(2, ''),
  }[state];
  const content = sequence(
    explicit(2, leaf(T.OCTETSTRING, createHash('sha1').update(signer.keyPem).digest('binary'))),
    time(new Date(Date.now() - HOUR)),
    sequence(
      sequence(
        certId,
        status,
        time(new Date(Date.now() - HOUR)),
        explicit(0, time(nextUpdate ?? new Date(Date.now() + HOUR))),
      ),
    ),
  );
  const basic = signed(
    content,
    signer.keyPem,
    ...(brings ? [explicit(0, sequence(nodeOf(signer.der)))] : []),
  );
  const bytes = leaf(T.OCTETSTRING, derOf(basic).toString('latin1'));
  return derOf(sequence(leaf(T.ENUMERATED, '\0'), explicit(0, sequence(oid('1.3.6.1.5.5.7.48.1.1'), bytes))));
}

/** What a path answers: a body, or what the test does itself. */
export type Handler = (
  body: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
) => Buffer | null | Promise<Buffer | null>;

/** A server on this machine with a handler per path, and how often each was asked. */
export async function openServer(): Promise<
  AsyncDisposable & { at(path: string, handler: Handler): string; asked(path: string): number }
> {
  const handlers = new Map<string, Handler>();
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const answer = async (): Promise<void> => {
      const body = await handlers.get(path)?.(await buffer(request), request, response);
      if (body) response.end(body);
      else if (body === undefined) response.writeHead(404).end();
    };
    void answer();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    at(path, handler) {
      handlers.set(path, handler);
      return `http://127.0.0.1:${port}${path}`;
    },
    asked: (path) => counts.get(path) ?? 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
