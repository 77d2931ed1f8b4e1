import * as z from 'zod';
import { CaeStatusName, CfeTypeName } from '../../domain/requests/enums.ts';
import { CFE_FIELD_WORDS, describeField, ENTERPRISE_WORDS } from '../../domain/requests/fieldWords.ts';
import { countField, DateText, textField } from '../formats.ts';

/** The code and the label of a type, beside its name. */
export const TypeCode = textField('Code of the type (TipoCFE), as digits.', '101');
export const TypeLabel = textField('Name of the type in Spanish.', 'e-Ticket');
export const AuthorizationNumber = textField(
  'The authority’s number of the CAE, up to 11 digits. Source: Formato CAE v05 (NA).',
  '90260000194',
);

/** The CAE object of the API (docs/contract.md#cae). */
export const CaeView = z
  .object({
    authorization_number: AuthorizationNumber,
    issuer_ruc: z.string().meta(describeField(ENTERPRISE_WORDS.rut)),
    cfe_type: CfeTypeName,
    cfe_type_code: TypeCode,
    cfe_type_label: TypeLabel,
    series: z.string().meta(describeField(CFE_FIELD_WORDS.serie)),
    number_start: countField('First number of the range. Source: Formato CAE v05 (DNro).', 1, 1),
    number_end: countField('Last number of the range. Source: Formato CAE v05 (HNro).', 1000, 1),
    last_number: countField(
      'Last number used; before the first use, the number just below the first usable one.',
      12,
    ),
    numbers_left: countField(
      'Numbers left, not counting annulled ones. A CAE without numbers left stays OK until it expires.',
      812,
    ),
    issue_date: DateText.meta({
      description: 'Day on which the authority issued it. Source: Formato CAE v05 (FA).',
    }),
    expiration_date: DateText.meta({
      description: 'Last day on which a CFE may be signed with it. Source: Formato CAE v05 (FVD).',
    }),
    status: CaeStatusName,
  })
  .meta({
    id: 'Cae',
    description:
      'A range of numbers of one type (constancia de autorización de emisión), authorized by the tax authority.',
  });

const CaeWarningView = z
  .object({
    code: textField(
      'Kind of warning: for a CAE whose first numbers another system used, `cae.number_before_unknown`, the authority does not know the number before `cae_start_number`; `cae.first_number_known`, it knows `cae_start_number` already. Codes may be added.',
      'cae.number_before_unknown',
    ),
    message: textField(
      'The same in words; in Spanish by `Accept-Language`.',
      'The tax authority does not know ETICKET A 499, the last number before the numbers that this service uses from CAE 90260000194: check which number the earlier system used last.',
    ),
  })
  .meta({ id: 'CaeWarning', description: 'Something about the CAE that the enterprise should check.' });

/** The CAE object in the list of CAEs, with the days its numbers will last and its warnings. */
export const ListedCaeView = CaeView.extend({
  days_left: z
    .int()
    .min(0)
    .nullable()
    .meta({
      description:
        'Whole days for which the numbers last at the rate of the last 28 days of the type; null when no numbers were used in those days.',
      examples: [140],
    }),
  warnings: z.array(CaeWarningView).meta({
    description:
      'What the enterprise should check; the authority is asked after the upload, and once there is a certificate.',
  }),
}).meta({ id: 'ListedCae', description: 'A CAE with how long its numbers last and its warnings.' });
