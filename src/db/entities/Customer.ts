import { defineEntity, p } from '@mikro-orm/core';
import type { Customer as CustomerBody } from '../../domain/customer.ts';
import type { DocumentType } from '../../domain/receiverDocument.ts';

const CustomerSchema = defineEntity({
  name: 'Customer',
  properties: {
    rut: p.text().primary(),
    docNumber: p.text().primary(),
    docType: p.text().$type<DocumentType>().primary(),
    /** Its id in the audit, which must not hold the document of a person. */
    id: p.uuid(),
    legalName: p.text(),
    /** `legalName` as searchText makes it: what `?legal_name=` looks into. */
    legalNameSearch: p.text(),
    fiscalAddress: p.text().strictNullable(),
    city: p.text().strictNullable(),
    department: p.text().strictNullable(),
    country: p.text().strictNullable(),
    countryCode: p.text().strictNullable(),
    notifications: p.json().$type<NonNullable<CustomerBody['notifications']>>(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

/** Someone to whom an enterprise issues CFEs, by document (docs/contract.md#customers). */
export class Customer extends CustomerSchema.class {}
CustomerSchema.setClass(Customer);
