import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import type { TypeSummary } from '../../domain/report/summary.ts';
import type { SubmissionStatus } from '../../domain/reportStatus.ts';

const ReportSubmissionSchema = defineEntity({
  name: 'ReportSubmission',
  properties: {
    /** In the order in which they were made. */
    id: p.bigint().primary().autoincrement(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    date: p.date(),
    /** SecEnvio, 1 to 99. */
    sequence: p.integer(),
    /** IDEmisor: ours alone, whatever other systems the company has. */
    idEmisor: p.bigint(),
    status: p.text().$type<SubmissionStatus>(),
    /** The signed report, byte for byte as it is sent at every attempt. */
    xml: p.text().lazy(),
    /** SHA-256 of what it tells, hex: equal for two that differ in sequence, number and signature only. */
    contentHash: p.text(),
    /** What it tells of each type. */
    types: p.json().$type<TypeSummary[]>().lazy(),
    sentAt: p.datetime().strictNullable(),
    /** When the authority's first answer was stored. */
    answeredAt: p.datetime().strictNullable(),
    /** IDReceptor, the authority's number of it. */
    authorityId: p.text().strictNullable(),
    reasons: p.json().$type<RejectionReason[]>().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** One file that was, or is to be, sent as the report of a day. */
export class ReportSubmission extends ReportSubmissionSchema.class {}
ReportSubmissionSchema.setClass(ReportSubmission);
