import { defineEntity, p } from '@mikro-orm/core';
import type { CfeDocument } from '../../domain/cfeDocument.ts';
import type { CfeStatus } from '../../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/cfeTypes.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';

/** Where a CFE stood when its request was answered after waiting (`Prefer: wait`). */
export interface FirstAnswer {
  status: CfeStatus;
  rejection: RejectionReason[] | null;
  digest: string | null;
}

const CfeSchema = defineEntity({
  name: 'Cfe',
  properties: {
    id: p.uuid().primary(),
    /** Under which its workflow runs: what it is today is told by newCfeWorkflowId, older rows hold older forms. */
    workflowId: p.text(),
    accountId: p.uuid(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    type: p.text().$type<CfeType>(),
    /** Place in the enterprise's own sequence for type and environment: the n of cfe_id. */
    sequence: p.integer(),
    caeId: p.uuid(),
    serie: p.text(),
    numero: p.integer(),
    status: p.text().$type<CfeStatus>(),
    emissionDate: p.date(),
    currency: p.text(),
    payAmount: p.decimal(),
    /** Everything the XML is written from; fixed when the number is taken. */
    document: p.json().$type<CfeDocument>(),
    /** The original that a note corrects. */
    referenceId: p.uuid().strictNullable(),
    /** What the note takes from its original, in the original's currency (MntCFEref). */
    referenceAmount: p.decimal().strictNullable(),
    /** Certificate that signs it, fixed together with the moment of signing. */
    certificateId: p.uuid(),
    /** The signed CFE, byte for byte as sent; made once. */
    signedXml: p.text().strictNullable().lazy(),
    /** DigestValue of the signature, base64: the hash of the QR code. */
    digest: p.text().strictNullable(),
    rejection: p.json().$type<RejectionReason[]>().strictNullable(),
    /** Why its workflow waits for support; null while all goes by itself. */
    stuckReason: p.text().$type<StuckReason>().strictNullable(),
    /** The keys of `extra` without a meaning for the XML; kept, never returned. */
    extra: p.json().$type<Record<string, unknown>>().strictNullable().lazy(),
    /** Idempotency-Key of the request, unique per account and environment, for ever; and what its body was. */
    idempotencyKey: p.text().strictNullable().lazy(),
    idempotencyHash: p.blob().strictNullable().lazy(),
    /** How the CFE was first answered to the request with the key, where that was not as it was taken. */
    firstAnswer: p.json().$type<FirstAnswer>().strictNullable().lazy(),
    /** X-Request-Id of the request that took it; null from before it was noted. */
    requestId: p.text().strictNullable().lazy(),
    /** The API key of that request; null from before it was noted. */
    keyId: p.uuid().strictNullable().lazy(),
    /** In the address of its receipt page: 128 random bits in base64url, made by the database. */
    receiptToken: p.text(),
    createdAt: p.datetime(),
    settledAt: p.datetime().strictNullable(),
  },
});

/** A fiscal receipt: its number, its certificate and CAE, and its state at the authority. */
export class Cfe extends CfeSchema.class {}
CfeSchema.setClass(Cfe);

/** The values of a CFE, wherever they come from. */
export type CfeRow = Omit<Cfe, symbol>;
