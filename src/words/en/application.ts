/** Texts of the sheet for the Postulación. The authority's own names of its fields stay in Spanish. */
import type { ApplicationField, StatementItem } from '../../domain/enterprises/application.ts';

export interface ApplicationWords {
  readonly title: string;
  readonly about: string;
  readonly form: string;
  readonly field: string;
  readonly value: string;
  readonly note: string;
  readonly fillIn: string;
  readonly statement: string;
  readonly statementAbout: string;
  readonly item: string;
  readonly backed: string;
  readonly download: string;
  readonly notes: Readonly<Partial<Record<ApplicationField, string>>>;
  readonly items: Readonly<Record<StatementItem, { readonly what: string; readonly backed: string }>>;
}

/** The fields as DGI's form names them. */
export const FIELD_NAMES: Readonly<Record<ApplicationField, string>> = {
  registry: 'Datos registrales (precargados)',
  phone: 'Teléfono de contacto para CFE',
  software: 'Software',
  software_name: 'Nombre del Software',
  software_version: 'Versión',
  provider: 'RUC del proveedor local',
  solution: 'Soluciones de Software',
  website: 'Dirección del sitio Web – URL',
  authority_mail: 'Mail de contacto DGI para CFE',
  exchange_mail: 'Mail de contacto con otros emisores electrónicos',
  web_service: 'URL para Webservice',
  technical_mail: 'Mail de contacto técnico',
  types: 'CFE a certificar',
  test_date: 'Fecha de la Prueba de Testing',
  confirmation_code: 'Código de confirmación',
};

export const applicationEn: ApplicationWords = {
  title: 'Postulación',
  about: 'Every field of DGI’s form, to copy from here. What the service does not know is left to you.',
  form: 'The form',
  field: 'Field',
  value: 'Value',
  note: 'Note',
  fillIn: 'to be filled in',
  statement: 'The sworn statement',
  statementAbout:
    'The company declares that its software fulfils ten critical functions, which DGI may audit. This is what backs each one.',
  item: 'Function',
  backed: 'Backed by',
  download: 'Download as PDF',
  notes: {
    registry: 'Check it against the RUT; correct the RUT first if it differs.',
    authority_mail: 'A mailbox that people read: DGI sends the confirmation code and its decisions there.',
    exchange_mail: 'The mailbox to which other issuers send their receipts, used for nothing else.',
    web_service: 'Only with a registered provider (proveedor habilitado).',
    technical_mail: 'Only with a registered provider; the operator of the service knows it.',
    website: 'Printed on every e-Ticket.',
    types: 'Certify only what will be issued: from the first day on each such operation needs its CFE.',
    test_date: 'Asked for with the user of Homologación.',
    confirmation_code: 'DGI mails it to the contact above while you fill in the form.',
  },
  items: {
    cae: {
      what: 'CAE file: storage and access control',
      backed:
        'Stored in the database with DGI’s signature verified; only people with a role at the company reach it, and each upload is in the audit.',
    },
    numbering: {
      what: 'Controlled numbering: each authorised number once',
      backed:
        'Number and receipt are stored in one statement; `numbers reconcile` proves that issued, annulled and waiting numbers add up.',
    },
    backup: {
      what: 'Backup of CFEs and data, and publication of e-Tickets',
      backed:
        'Base backups and continuous archiving of the database with a practised restore; a page for each receipt, to which the link in its e-mail leads.',
    },
    sending: {
      what: 'Sending of CFEs and daily reports',
      backed:
        'Durable runs send each sobre until every CFE has its answer; one report for each day, corrected automatically.',
    },
    exchange: {
      what: 'Exchange with other issuers',
      backed:
        'Each CFE is sent to its electronic receiver by e-mail after its verdict. The service does not receive or answer receipts of suppliers.',
    },
    closing: {
      what: 'Closing control: every shipment ends received or rejected',
      backed:
        'No receipt leaves PENDING without an answer of DGI; what waits for a person is listed and counted.',
    },
    contingency: {
      what: 'Contingencies',
      backed:
        'Receipts wait safely while DGI is away and are sent afterwards. Pre-printed contingency paper is kept by the company.',
    },
    formats: {
      what: 'Formats of DGI, kept up to date',
      backed: 'Every XML is valid against DGI’s schemas; each rule names its document and version.',
    },
    print: {
      what: 'Printed form of DGI, kept up to date',
      backed: 'PDF with the boxes, letter sizes and QR code of the rule, measured in tests.',
    },
    standard: {
      what: 'No receipt against the standard of emission, signature and sending',
      backed: 'Every rule is checked before a number is taken; a receipt that breaks one is refused.',
    },
  },
};
