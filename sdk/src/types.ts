/** The types of openapi.json, with exact decimals where it says `number`. */
import type { Decimal } from './decimal.ts';
import type { DECIMAL_FIELDS, OPERATIONS } from './operations.ts';
import type { components, operations, webhooks } from './schema.ts';

type DecimalField = (typeof DECIMAL_FIELDS)[number];
type Replaced<T, By> = T extends number ? By : T;

/** A type of the API in its answers. */
export type Answered<T> = T extends readonly (infer Item)[]
  ? Answered<Item>[]
  : T extends object
    ? { [Key in keyof T]: Key extends DecimalField ? Replaced<T[Key], Decimal> : Answered<T[Key]> }
    : T;

/** A type of the API in requests: decimals as `Decimal`, or as a number if its notation is exact. */
export type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { [Key in keyof T]: Key extends DecimalField ? Replaced<T[Key], Decimal | number> : Sent<T[Key]> }
    : T;

type Table = typeof OPERATIONS;
/** Every operation of the API, by its operationId. */
export type OperationName = keyof operations & keyof Table;

export type Environment = 'production' | 'sandbox';
/** The environments that an operation accepts. */
export type EnvironmentOf<Name extends OperationName> = Table[Name] extends readonly [string, string, string]
  ? Environment
  : 'production';

type Parameters<Name extends OperationName, In extends string> = operations[Name] extends {
  parameters: { [Key in In]?: infer Values };
}
  ? NonNullable<Values>
  : never;
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type RequestBody<Name extends OperationName> = operations[Name] extends { requestBody?: infer Body }
  ? Sent<Json<Body>>
  : never;
type Success<Name extends OperationName> = operations[Name]['responses'] extends infer Responses
  ? Responses[Extract<keyof Responses, 200 | 201 | 202>]
  : never;

/** The result of an operation: the `data` of its body, or the bytes of a file. */
export type DataOf<Name extends OperationName> = [Json<Success<Name>>] extends [never]
  ? Uint8Array
  : Json<Success<Name>> extends { data: infer Data }
    ? Answered<Data>
    : never;

type Place<Name extends OperationName> =
  Parameters<Name, 'path'> extends infer Path ? ([Path] extends [never] ? object : { path: Path }) : never;
type Query<Name extends OperationName> = [Parameters<Name, 'query'>] extends [never]
  ? object
  : { query?: Parameters<Name, 'query'> };
type Body<Name extends OperationName> = [RequestBody<Name>] extends [never]
  ? object
  : operations[Name] extends { requestBody: object }
    ? { body: RequestBody<Name> }
    : { body?: RequestBody<Name> };

/** The request of an operation: the values of its path, its query, its body. */
export type RequestOf<Name extends OperationName> = Place<Name> & Query<Name> & Body<Name>;

/** The operations that return pages. */
export type ListName = {
  [Name in OperationName]: [Parameters<Name, 'query'>] extends [never]
    ? never
    : 'limit' extends keyof Parameters<Name, 'query'>
      ? Name
      : never;
}[OperationName];
/** The item of a list. */
export type ItemOf<Name extends ListName> =
  DataOf<Name> extends { items: (infer Item)[] } | (infer Item)[] ? Item : never;

type Schemas = components['schemas'];
export type Cfe = Answered<Schemas['Cfe']>;
/** A CFE as it is read: with its content, support and notes. */
export type CfeDetail = Answered<Schemas['CfeDetail']>;
/** The result of validating a CFE that could be issued. */
export type Validation = Exclude<DataOf<'issueCfe'>, Cfe>;
/** A CFE to be issued: the body of POST …/cfes. */
export type CfeRequest = Sent<Schemas['IssueCfeRequest']>;
/** A receipt whose totals, and amounts of lines, may be left out. */
export type IncompleteRequest = Sent<Schemas['PreviewCfeRequest']>;
/** What a credit note takes: lines, a percentage, an amount; without one, all that is left. */
export type CreditRequest = RequestOf<'creditCfe'>['body'];
/** What is left to credit, and the notes. */
export type Credit = Answered<Schemas['Credit']>;
export type Enterprise = Answered<Schemas['Enterprise']>;
export type Customer = Answered<Schemas['Customer']>;
/** A validation error of a request: its path, its rule, and how to correct it. */
export type Fault = Schemas['Fault'];
/** Every code that an error can have. */
export type ErrorCode = Schemas['Error']['error']['code'];

/** Every event, distinguished by `event`. */
export type WebhookEvent = {
  [Name in keyof webhooks]: webhooks[Name] extends { post: { requestBody: infer Body } }
    ? Answered<Json<Body>>
    : never;
}[keyof webhooks];
