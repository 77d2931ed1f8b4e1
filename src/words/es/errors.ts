import type { RefusalCode } from '../../errors.ts';

/**
 * Messages of errors in Spanish, by the English ones. `{}` is a value in the English message; `{1}` is the first of them
 * in the Spanish one. A message may begin with the name of its field and a colon, which stay.
 */
export const MESSAGES_IN_SPANISH: Readonly<Record<string, string>> = {
  // Any request.
  'The service is not ready yet.': 'El servicio todavía no está listo.',
  'The service cannot reach its database right now; try again in a few seconds.':
    'El servicio no llega a su base de datos en este momento; intente de nuevo en unos segundos.',
  'Something went wrong on our side. Quote request {} when you report it.':
    'Algo falló de nuestro lado. Al avisarnos, mencione la solicitud {1}.',
  'This path does not exist.': 'Esta ruta no existe.',
  'This path does not exist; the addresses of the API begin with /v1.':
    'Esta ruta no existe; las direcciones de la API empiezan con /v1.',
  'This path does not support {}; see the header Allow.': 'Esta ruta no admite {1}; vea el encabezado Allow.',
  'The account has used its {} requests of this hour; the next hour starts in {} seconds.':
    'La cuenta usó sus {1} solicitudes de esta hora; la próxima hora empieza en {2} segundos.',
  'Too many requests from this address failed to authenticate; try again in {} seconds.':
    'Desde esta dirección falló la autenticación de demasiadas solicitudes; intente de nuevo en {1} segundos.',
  'The request did not arrive in time.': 'La solicitud no llegó a tiempo.',
  'The headers of the request are too large.': 'Los encabezados de la solicitud son demasiado grandes.',
  'The request has faults.': 'La solicitud tiene errores.',
  'There are more than {} faults; the first {} are listed.':
    'Hay más de {1} errores; se dan los primeros {2}.',

  // Keys, tokens, roles.
  'The header X-API-Key is missing.': 'Falta el encabezado X-API-Key.',
  'The API key is invalid.': 'La clave de API no es válida.',
  'The access token is invalid or expired, or belongs to another API key.':
    'El token de acceso no es válido, venció o es de otra clave de API.',
  'This API key is read-only.': 'Esta clave de API solo lee: no emite ni cambia nada.',
  'The header Authorization is missing; send Bearer followed by an access token.':
    'Falta el encabezado Authorization; envíe Bearer seguido de un token de acceso.',
  'The header Authorization must be Bearer followed by an access token.':
    'El encabezado Authorization debe ser Bearer seguido de un token de acceso.',
  'The header Authorization has an API key: get an access token with it from POST /tokens.':
    'El encabezado Authorization tiene una clave de API: obtenga con ella un token de acceso en POST /tokens.',
  '{} true is not supported here: this endpoint is for production only.':
    '{1} true no se admite acá: este punto de acceso es solo de producción.',
  '{} must be true or false.': '{1} debe ser true o false.',
  '{} must be one string of 1 to 255 printable ASCII characters.':
    '{1} debe ser un solo texto de 1 a 255 caracteres ASCII imprimibles.',
  'Only developer accounts may use the sandbox.': 'Solo las cuentas de desarrollo pueden usar el sandbox.',
  'Only developer accounts may read CFEs of the sandbox.':
    'Solo las cuentas de desarrollo pueden leer CFE del sandbox.',
  'The API key is for production; use it without {} true.':
    'La clave de API es de producción; úsela sin {1} true.',
  'The API key is for the sandbox; use it with {} true.':
    'La clave de API es del sandbox; úsela con {1} true.',
  'The API key is for the sandbox; this endpoint is for production only.':
    'La clave de API es del sandbox; este punto de acceso es solo de producción.',
  'No enterprise with RUT {} is registered.': 'No hay ninguna empresa registrada con el RUT {1}.',
  'Your account has no role at the enterprise {}.': 'Su cuenta no tiene ningún rol en la empresa {1}.',
  'You no longer have a role at the enterprise {}.': 'Usted ya no tiene ningún rol en la empresa {1}.',
  'This requires the role {}; yours at the enterprise {} is {}.':
    'Para esto hace falta el rol {1}; el suyo en la empresa {2} es {3}.',

  // Idempotency-Key.
  'A request with this Idempotency-Key is still in progress; try again in a moment.':
    'Una solicitud con esta Idempotency-Key todavía está en curso; intente de nuevo en un momento.',
  'The Idempotency-Key was used for another request: {}.':
    'La Idempotency-Key se usó para otra solicitud: {1}.',
  'This Idempotency-Key was used for another request, which was executed. This request was not: {}. Read the result of the first request.':
    'Esta Idempotency-Key se usó para otra solicitud, que se ejecutó. Esta no se ejecutó: {1}. Lea el resultado de la primera.',
  'This Idempotency-Key created the CFE {} of {}. This request is different and was not executed: {}. Read that CFE before anything else: it may be the sale that you mean.':
    'Esta Idempotency-Key creó el CFE {1} de {2}. Esta solicitud es distinta y no se ejecutó: {3}. Antes que nada, lea ese CFE: puede ser la venta que usted quiere emitir.',

  // The body.
  'The body is incomplete.': 'El cuerpo está incompleto.',
  'The body must be sent without Content-Encoding.': 'El cuerpo se envía sin Content-Encoding.',
  'The body must be JSON in UTF-8: Content-Type: application/json.':
    'El cuerpo debe ser JSON en UTF-8: Content-Type: application/json.',
  'The body must not be larger than {} KiB.': 'El cuerpo no debe superar {1} KiB.',
  'The body must be a JSON object; it is missing.': 'El cuerpo debe ser un objeto JSON; falta.',
  'The body must be a JSON object.': 'El cuerpo debe ser un objeto JSON.',
  'The body must be UTF-8.': 'El cuerpo debe estar en UTF-8.',
  'The body must be JSON{}.': 'El cuerpo debe ser JSON{1}.',
  'The body must not have more than {} values.': 'El cuerpo no debe tener más de {1} valores.',
  'The body must not be nested more than {} levels deep.':
    'El cuerpo no debe tener más de {1} niveles de anidamiento.',
  'must be JSON{}.': 'debe ser JSON{1}.',
  'must not have more than {} values.': 'no debe tener más de {1} valores.',
  'must not be nested more than {} levels deep.': 'no debe tener más de {1} niveles de anidamiento.',
  'must be a JSON object encoded as a string.': 'debe ser un objeto JSON escrito como texto.',
  'unknown keys must take at most {} bytes of JSON together, found {}.':
    'las claves que el servicio no conoce deben sumar como máximo {1} bytes de JSON; suman {2}.',
  'must not be given twice.': 'no debe darse dos veces.',
  'is required and must be {}.': 'es obligatorio y debe ser {1}.',
  'must not be null; omit the field or give {}.': 'no debe ser null; omita el campo o dé {1}.',
  'must be {}, found {}.': 'debe ser {1}; se recibió {2}.',
  'must be {}.': 'debe ser {1}.',
  'must have at least {} item, found none.': 'debe tener al menos {1} elemento; no tiene ninguno.',
  'must have at least {} items, found none.': 'debe tener al menos {1} elementos; no tiene ninguno.',
  'must have at least {} item, found {}.': 'debe tener al menos {1} elemento; tiene {2}.',
  'must have at least {} items, found {}.': 'debe tener al menos {1} elementos; tiene {2}.',
  'must have at most {} items, found {}.': 'debe tener como máximo {1} elementos; tiene {2}.',
  'must have either {} or {}, found {}.': 'debe tener {1} o {2}, uno de los dos; tiene {3}.',
  'unknown field.': 'campo desconocido.',
  'unknown field; {}.': 'campo desconocido; {1}.',
  'unknown field; did you mean {}?': 'campo desconocido; ¿quiso decir {1}?',
  'unknown field; it belongs at {}.': 'campo desconocido; su lugar es {1}.',
  'must be{} as it was read; it is not changed here.': 'debe ser{1} como se leyó; acá no se cambia.',
  'At least one field must be given.': 'Debe darse al menos un campo.',
  'is required; username and password must be given together.':
    'es obligatorio; username y password se dan juntos.',

  // Values.
  'must not be empty or blank.': 'no debe estar vacío ni en blanco.',
  'must have at most {} characters, found {}.': 'debe tener como máximo {1} caracteres; tiene {2}.',
  'must have at most {} characters.': 'debe tener como máximo {1} caracteres.',
  'must not contain control characters, found {} as character {}.':
    'no debe tener caracteres de control; tiene {1} como carácter {2}.',
  'must not contain characters that XML cannot hold, found {} as character {}.':
    'no debe tener caracteres que XML no admite; tiene {1} como carácter {2}.',
  'must have at most {} digits before the decimal point, {}.':
    'debe tener como máximo {1} dígitos antes del punto decimal; {2}.',
  'must have at most {} decimals, {}.': 'debe tener como máximo {1} decimales; {2}.',
  'must not be negative, found {}.': 'no debe ser negativo; se recibió {1}.',
  'must be an integer, found {}.': 'debe ser un entero; se recibió {1}.',
  'must be an integer.': 'debe ser un entero.',
  'must be an integer from {} to {}, found {}.': 'debe ser un entero de {1} a {2}; se recibió {3}.',
  'must be an integer from {} to {}.': 'debe ser un entero de {1} a {2}.',
  'must be above 0, found {}.': 'debe ser mayor que 0; se recibió {1}.',
  'must be a date of the form YYYY-MM-DD, found {}.':
    'debe ser una fecha escrita AAAA-MM-DD; se recibió {1}.',
  'must be a date from {} to {}, found {}.': 'debe ser una fecha del {1} al {2}; se recibió {3}.',
  'must be a date and time of the form YYYY-MM-DDTHH:MM:SS in Montevideo, or with its time zone ({}), found {}.':
    'debe ser una fecha y hora escrita AAAA-MM-DDTHH:MM:SS, de Montevideo, o con su zona ({1}); se recibió {2}.',
  'must be a date (YYYY-MM-DD) or a date and time with its zone ({}), found {}.':
    'debe ser una fecha (AAAA-MM-DD), o una fecha y hora con su zona ({1}); se recibió {2}.',
  'must be a month of the form YYYY-MM.': 'debe ser un mes escrito AAAA-MM.',
  'must be 12 digits without dots or hyphens, found {}.':
    'debe tener 12 dígitos sin puntos ni guiones; se recibió {1}.',
  'must be 7 or 8 digits without dots or hyphens, found {}.':
    'debe tener 7 u 8 dígitos sin puntos ni guiones; se recibió {1}.',
  'must be at most 12 digits without dots or hyphens, found {}.':
    'debe tener como máximo 12 dígitos sin puntos ni guiones; se recibió {1}.',
  '{} ends in {}, but its check digit is {}.': '{1} termina en {2}, pero su dígito verificador es {3}.',
  '{} ends in {}, but no check digit fits its first eleven.':
    '{1} termina en {2}, pero sus primeros once dígitos no tienen dígito verificador posible.',
  'must be a country code of the CFE format (ISO 3166 alpha-2 in capitals, or 99), found {}.':
    'debe ser un código de país del formato del CFE (ISO 3166 de dos letras mayúsculas, o 99); se recibió {1}.',
  'must be a type code, a hyphen and a number, such as {}, found {}.':
    'debe ser un código de tipo, un guion y un número, como {1}; se recibió {2}.',
  'must be one or two capital letters, or a digit and a capital letter, found {}.':
    'debe ser una o dos letras mayúsculas, o un dígito y una letra mayúscula; se recibió {1}.',
  'must be taken from the header Link of a page of this list.':
    'debe tomarse del encabezado Link de una página de esta lista.',
  'must be a file in base64, found an empty string.':
    'debe ser un archivo en base64; se recibió un texto vacío.',
  'must be a file in base64 (RFC 4648, with + and /), without spaces.':
    'debe ser un archivo en base64 (RFC 4648, con + y /), sin espacios.',
  'must be an e-mail address.': 'debe ser una dirección de correo.',
  'must be a web address, such as {}.': 'debe ser una dirección web, como {1}.',
  'must be the number and year of the resolution, such as {}.':
    'debe ser el número y el año de la resolución, como {1}.',
  'must be a picture of at most {} bytes, found {}.':
    'debe ser una imagen de {1} bytes como máximo; tiene {2}.',
  'must be a PNG or JPEG picture.': 'debe ser una imagen PNG o JPEG.',
  'must be a complete {} picture; this one is damaged or truncated.':
    'debe ser una imagen {1} completa; esta está dañada o cortada.',
  'must be at most {} pixels wide and high, found {}.':
    'debe tener como máximo {1} píxeles de ancho y de alto; tiene {2}.',

  // A CFE.
  'must have at most {} lines to be checked, found {}.': 'se leen como máximo {1} líneas; tiene {2}.',
  'must be 1 to 3 digits as text, found {}.': 'debe tener de 1 a 3 dígitos, como texto; se recibió {1}.',
  'must be the code of a branch, 0 to 9999, found {}.':
    'debe ser el código de una sucursal, de 0 a 9999; se recibió {1}.',
  'must be three letters (an Incoterm) or N/A, found {}.':
    'debe tener tres letras (un Incoterm) o ser N/A; se recibió {1}.',
  'is required for lines with VAT: net, or gross if prices include it.':
    'es obligatorio si alguna línea lleva IVA: net, o gross si los precios lo incluyen.',
  'must be {} or later ({} days before today), found {}.':
    'debe ser {1} o posterior ({2} días antes de hoy); se recibió {3}.',
  'must be {} or earlier ({} days after today), found {}.':
    'debe ser {1} o anterior ({2} días después de hoy); se recibió {3}.',
  'must be 1 when the currency is UYU, found {}.': 'debe ser 1 cuando la moneda es UYU; se recibió {1}.',
  'must be above zero (pesos for one {}), found 0.':
    'debe ser mayor que cero (pesos por un {1}); se recibió 0.',
  'must have at most {} lines for {}, found {}.': 'debe tener como máximo {1} líneas en {2}; tiene {3}.',
  'must be {} (lines are numbered 1, 2, 3… in order), found {}.':
    'debe ser {1} (las líneas se numeran 1, 2, 3… en orden); se recibió {2}.',
  'must be {} for {}, found {}.': 'debe ser {1} en {2}; se recibió {3}.',
  'must be 0 in a FREE line, found {}.': 'debe ser 0 en una línea FREE; se recibió {1}.',
  'must be above 0 in a {} line (only FREE lines have 0), found {}.':
    'debe ser mayor que 0 en una línea {1} (solo las líneas FREE tienen 0); se recibió {2}.',
  'must be {} ({}), found {}.': 'debe ser {1} ({2}); se recibió {3}.',
  'must leave 0 or more of the line, found {}.': 'debe dejar 0 o más de la línea; queda {1}.',
  'must be omitted in a FREE line.': 'debe omitirse en una línea FREE.',
  'a {} must have {} digits, the last its check digit, found {}.':
    'un {1} debe tener {2} dígitos, el último su verificador; se recibió {3}.',
  'must be omitted for {}.': 'debe omitirse en {1}.',
  'must be omitted for {}, which is not a note.': 'debe omitirse en {1}, que no es una nota.',
  'must be omitted for {}, which is not an export document.':
    'debe omitirse en {1}, que no es un documento de exportación.',
  'must be omitted for {} without EXPORT lines, found {}.':
    'debe omitirse en {1} sin líneas EXPORT; se recibió {2}.',
  'must be omitted without a receiver.': 'debe omitirse sin receptor.',
  'must be a billed iva_type of {}, found {}.':
    'debe ser una clase de línea de {1} que se factura; se recibió {2}.',
  'must leave 0 or more of the {} lines, found {}.': 'debe dejar 0 o más de las líneas {1}; queda {2}.',
  'must be above 0 with OTHER_RATE lines, found {}.':
    'debe ser mayor que 0 si hay líneas OTHER_RATE; se recibió {1}.',
  'must be 0 without OTHER_RATE lines, found {}.': 'debe ser 0 si no hay líneas OTHER_RATE; se recibió {1}.',
  'must be {} (prices without VAT) or {} (prices with VAT) (the sum of all net amounts and VAT), found {}.':
    'debe ser {1} (precios sin IVA) o {2} (precios con IVA), la suma de todos los netos y el IVA; se recibió {3}.',
  'prices must exclude VAT at both rates or include it at both ({}. The {}), found {}.':
    'los precios deben excluir el IVA en las dos tasas o incluirlo en las dos ({1}; {2}); se recibió {3}.',
  'prices must exclude VAT at both rates or include it at both ({}), found {}.':
    'los precios deben excluir el IVA en las dos tasas o incluirlo en las dos ({1}); se recibió {2}.',
  'lines that are not billed must add up to at most {}, found {}.':
    'las líneas no facturables deben sumar como máximo {1}; suman {2}.',
  'is required for {}.': 'es obligatorio en {1}.',
  'must have a document, a name or an address; otherwise omit the receiver.':
    'debe tener un documento, un nombre o una dirección; si no, omita el receptor.',
  'a {} is required for {}.': 'en {2} es obligatorio un {1}.',
  'is required; receiver_doc_type and receiver_document must be given together.':
    'es obligatorio; receiver_doc_type y receiver_document se dan juntos.',
  'must be {} when the document is a {}, found {}.':
    'debe ser {1} cuando el documento es {2}; se recibió {3}.',
  'must have receiver_doc_type and receiver_document above {} pesos net ({} UI), found {} pesos net.':
    'debe tener receiver_doc_type y receiver_document si pasa de {1} pesos netos ({2} UI); son {3} pesos netos.',
  'is required for {}; give the cfe_id of the CFE that the note corrects, or references.':
    'es obligatoria en {1}; dé el cfe_id del CFE que la nota corrige, o references.',
  'must be omitted beside reference.': 'debe omitirse junto a reference.',
  'must be at most {} days after today, found {}.':
    'debe ser como máximo {1} días después de hoy; se recibió {2}.',
  'must name a different CFE from references[{}].': 'debe nombrar otro CFE que references[{1}].',
  'must name {}, which this service issued, by its cfe_id.':
    'debe nombrar {1}, que emitió este servicio, por su cfe_id.',
  'must be at most {} (what is left of {}), found {}.':
    'debe ser como máximo {1} (lo que queda de {2}); se recibió {3}.',
  'must have amounts of at most {} together, found {}.':
    'deben tener importes que sumen como máximo {1}; suman {2}.',
  'must have exactly one of {}, found {}.': 'debe tener exactamente uno de {1}; tiene {2}.',
  'is required with cfe_type_code.': 'es obligatorio con cfe_type_code.',
  'is required with cfe_type_code {}.': 'es obligatorio con cfe_type_code {1}.',
  'must be omitted with {}.': 'debe omitirse con {1}.',
  'must be a code of the authority for a type of CFE, such as {}, found {}.':
    'debe ser un código de la DGI de un tipo de CFE, como {1}; se recibió {2}.',
  'must be false or omitted for {}.': 'debe ser false u omitirse en {1}.',
  'must be {} in a collection, found {}.': 'debe ser {1} en una cobranza; se recibió {2}.',
  'is required in a collection; name what is collected.':
    'son obligatorias en una cobranza; nombre lo que se cobra.',
  'must be omitted in a collection.': 'debe omitirse en una cobranza.',
  'must be between a fifth of {} and 5 times it, the last known rate of {}, of {}, found {}.':
    'debe estar entre un quinto y 5 veces {1}, el último tipo de cambio conocido de {2}, del {3}; se recibió {4}.',
  'Nothing of the receipt is left to credit.': 'No queda nada del comprobante por acreditar.',
  'must be a receipt or debit note that is not REJECTED, found {}.':
    'debe ser un comprobante o una nota de débito que no esté REJECTED; es {1}.',
  'must have at most one of lines, percent and amount, found {}.':
    'debe tener como máximo uno de lines, percent y amount; tiene {1}.',
  'must come to at most the {} that are left, found {}.':
    'debe sumar como máximo los {1} que quedan; suma {2}.',
  'must come to 0.01 {} or more, found 0.00 {}.': 'debe sumar 0.01 {1} o más; suma 0.00 {2}.',
  'must be a line of the receipt, 1 to {}, found {}.':
    'debe ser una línea del comprobante (1–{1}); se recibió {2}.',
  'must name each line once, found {} again.': 'debe nombrar cada línea una sola vez; {1} está repetida.',
  'must be at most the {} that are left, found {}.':
    'debe ser como máximo lo que queda, {1}; se recibió {2}.',
  'must name a CFE of the same family as {}, found one of type {}.':
    'debe nombrar un CFE de la misma familia que {1}; es de tipo {2}.',
  'must name a CFE of this enterprise and environment; there is no {}.':
    'debe nombrar un CFE de esta empresa y de este ambiente; no hay {1}.',
  'must name a CFE that is not REJECTED; {} is REJECTED.':
    'debe nombrar un CFE que no esté REJECTED; {1} está REJECTED.',
  'must be at most {} ({} of the original less {} already credited), found {}.':
    'debe ser como máximo {1} ({2} del original menos {3} ya acreditados); se recibió {4}.',
  'The enterprise has no CFE {}.': 'La empresa no tiene ningún CFE {1}.',
  'The enterprise has no CFE {} in production; the sandbox has one: read it with ?environment=sandbox.':
    'La empresa no tiene ningún CFE {1} en producción; en el sandbox hay uno: léalo con ?environment=sandbox.',
  'The enterprise has no CFE {} in the sandbox.': 'La empresa no tiene ningún CFE {1} en el sandbox.',
  'The enterprise has no CFE {} in the sandbox; production has one: read it without ?environment=sandbox.':
    'La empresa no tiene ningún CFE {1} en el sandbox; en producción hay uno: léalo sin ?environment=sandbox.',
  'The CFE has not been sent to the tax authority yet; its receipt may not be handed over before that.':
    'El CFE todavía no se envió a la DGI; antes de eso su comprobante no se puede entregar.',
  'The CFE was rejected and never went to the tax authority: it has no receipt.':
    'El CFE fue rechazado y nunca se envió a la DGI: no tiene comprobante.',
  'Too many receipts are being shown; try again in a few seconds.':
    'Se están mostrando demasiados comprobantes; intente de nuevo en unos segundos.',
  'Too many receipts were not found from this address.':
    'Desde esta dirección se buscaron demasiados comprobantes que no existen.',
  'There is no such receipt.': 'No hay ningún comprobante así.',

  // Warnings of a CFE.
  'is not a key of the service; it is stored and has no effect.':
    'no es una clave del servicio; se guarda y no tiene efecto.',
  'none of {} is given, so the receipt declares a service (N/A, 90, 8).':
    'no se dio ninguna de {1}, así que el comprobante declara un servicio (N/A, 90, 8).',

  'differs by more than 10 % from {}, the last known rate of {}, of {}, found {}.':
    'difiere más del 10 % de {1}, el último tipo de cambio conocido de {2}, del {3}; se recibió {4}.',
  'the NIFE is also a valid cédula number; for a cédula, use CI.':
    'el número del NIFE es una cédula válida; si lo es, el tipo es CI.',

  // Warnings of a CAE.
  'The tax authority does not know {} {} {}, the last number before the numbers that this service uses from CAE {}: check which number the earlier system used last.':
    'La DGI no conoce {1} {2} {3}, el último número antes de los que usa este servicio del CAE {4}: verifique cuál fue el último que usó el sistema anterior.',
  'The tax authority already knows {} {} {}, the first number that this service uses from CAE {}: the operator of the service must skip what the earlier system used.':
    'La DGI ya conoce {1} {2} {3}, el primer número que usa este servicio del CAE {4}: el operador del servicio debe saltear los que usó el sistema anterior.',

  // The enterprise.
  'The enterprise issues here from {} on: neither today nor emission_date may be earlier.':
    'La empresa emite acá desde el {1}: ni hoy ni emission_date pueden ser anteriores.',
  'An enterprise with RUT {} is already registered.': 'Ya hay una empresa registrada con el RUT {1}.',
  'The account has {} enterprises without a certificate already, the maximum; upload a certificate for one of them first.':
    'La cuenta ya tiene {1} empresas sin certificado, el máximo; suba antes el certificado de una de ellas.',
  'The account has {} enterprises without a certificate, the maximum; upload a certificate for one of them first.':
    'La cuenta tiene {1} empresas sin certificado, el máximo; suba antes el certificado de una de ellas.',
  'Looking up the registry is not set up on this service.':
    'En este servicio no está configurada la consulta al registro.',
  "The tax authority's registry does not answer; try again in a while.":
    'El registro de la DGI no responde; intente de nuevo dentro de un rato.',
  "The tax authority's registry does not have the RUT {}.": 'El registro de la DGI no tiene el RUT {1}.',
  'The enterprise is not READY yet; it has all it needs and will be READY in a moment.':
    'La empresa todavía no está READY; tiene todo lo necesario y lo estará en un momento.',
  'The enterprise is not READY; it still needs: {}.': 'La empresa no está READY; todavía le falta: {1}.',
  'The enterprise no longer has the permission PROD of the tax authority; have it granted and validate the e-invoicing credentials.':
    'La empresa ya no tiene el permiso PROD de la DGI; obténgalo y valide el acceso a e-Factura.',
  'The enterprise is suspended and cannot issue; its CFEs can still be read.':
    'La empresa está suspendida y no puede emitir; sus CFE se pueden leer.',
  'cannot be removed once it is set; give another date.': 'una vez fijada no se quita; dé otra fecha.',
  '{} is not an open branch of the enterprise; GET …/branches lists them.':
    '{1} no es una sucursal abierta de la empresa; GET …/branches las lista.',
  '{} is another branch of the enterprise.': '{1} es otra sucursal de la empresa.',
  '{} is the enterprise’s first branch, which cannot be deleted; PUT /enterprises/{rut} changes it.':
    '{1} es la primera sucursal de la empresa, que no se borra; PUT /enterprises/{rut} la cambia.',
  'The enterprise has no open branch {}.': 'La empresa no tiene ninguna sucursal abierta {1}.',
  'The enterprise already has a branch {}.': 'La empresa ya tiene una sucursal {1}.',
  'no plan {} with frequency {} is on sale.': 'no hay ningún plan {1} en venta con la frecuencia {2}.',
  'is required with {}: the enterprise has no plan yet.':
    'es obligatorio con {1}: la empresa todavía no tiene plan.',
  '{}; the next check is possible in {} seconds.':
    '{1}; la próxima comprobación se puede pedir en {2} segundos.',
  'Sandbox credentials are unavailable right now; try again.':
    'El acceso del sandbox no está disponible en este momento; intente de nuevo.',
  'The enterprise {} has no test run.': 'La empresa {1} no tiene ninguna prueba de homologación.',
  'must be omitted for SIMULATION, which issues one of each type.':
    'debe omitirse en SIMULATION, que emite uno de cada tipo.',
  '{} corrects receipts of type {}: add {} to the run.':
    '{1} corrige comprobantes de tipo {2}: agregue {3} a la prueba.',
  'the enterprise already has a customer {}.': 'la empresa ya tiene un cliente {1}.',
  'The enterprise has no customer with this {}.': 'La empresa no tiene ningún cliente con este {1}.',
  'The enterprise has {} customers already, the maximum; delete one first.':
    'La empresa ya tiene {1} clientes, el máximo; borre antes uno.',
  'must be {}, as in the path; a customer keeps its document.':
    'debe ser {1}, como en la ruta; un cliente conserva su documento.',

  // Certificate.
  'The enterprise {} has no certificate yet.': 'La empresa {1} todavía no tiene certificado.',
  'The enterprise has no certificate; upload one.': 'La empresa no tiene certificado; suba uno.',
  'The certificate was revoked by its certification authority.':
    'El certificado fue revocado por su prestador de servicios de certificación.',
  'The certificate of the enterprise was revoked by its authority; upload a new one.':
    'El certificado de la empresa fue revocado por su prestador; suba uno nuevo.',
  'The certificate of the enterprise has expired; upload a new one.':
    'El certificado de la empresa está vencido; suba uno nuevo.',
  'The file takes too long to open (too many rounds of key derivation, or more than 4 keys or 16 certificates); export it again.':
    'El archivo tarda demasiado en abrirse (demasiadas rondas de derivación de clave, o más de 4 claves o 16 certificados); expórtelo de nuevo.',
  'The file has no private key.': 'El archivo no tiene clave privada.',
  'The file has no certificate.': 'El archivo no tiene certificado.',
  'The file must be a .p12 with a certificate and its private key.':
    'El archivo debe ser un .p12 con un certificado y su clave privada.',
  'The password does not open the certificate file.': 'La contraseña no abre el archivo del certificado.',
  'The private key in the file must belong to its certificate.':
    'La clave privada del archivo debe ser la de su certificado.',
  'The certificate must hold an RSA key of at most 8192 bits, found another kind.':
    'El certificado debe tener una clave RSA de 8192 bits como máximo; es de otra clase.',
  'The RSA key must have at least {} bits, found {}.':
    'La clave RSA debe tener al menos {1} bits; tiene {2}.',
  'The serialNumber of the subject must be {}, found {}.':
    'El serialNumber del titular debe ser {1}; se recibió {2}.',
  'The key usage of the certificate must allow signatures (digitalSignature or nonRepudiation).':
    'El uso de clave del certificado debe permitir firmar (digitalSignature o nonRepudiation).',
  'The certificate must be issued by an accredited certification authority of Uruguay.':
    'El certificado debe ser de un prestador de servicios de certificación acreditado en Uruguay.',
  'The certificate expired at {}.': 'El certificado venció el {1}.',
  'The certificate is valid only from {}.': 'El certificado rige recién desde el {1}.',
  'Too many files are being opened; try again in a few seconds.':
    'Se están abriendo demasiados archivos; intente de nuevo en unos segundos.',

  // Warnings of requests, CAEs and enterprises.
  'Receipts must print the day of joining the regime or the resolution: give issuer_since or resolution.':
    'Los comprobantes deben imprimir el día de ingreso al régimen o la resolución: indique issuer_since o resolution.',
  'Receipts of an exempt taxpayer must print the norm of the exemption: give exemption_norm.':
    'Los comprobantes de un contribuyente exonerado deben imprimir la norma que lo exonera: indique exemption_norm.',
  'The UI value of {} (limit of e-Tickets) {}; the operator of the service loads it.':
    'El valor de la UI de {1}, para el límite de los e-Tickets, {2}; lo carga el operador del servicio.',
  'The certificate was revoked by its authority and cannot sign: upload a new one.':
    'El certificado fue revocado por su autoridad y ya no firma: suba uno nuevo.',
  'No configured certification authority vouches for the certificate any more.':
    'Ninguna autoridad certificadora configurada en el servicio certifica ya el certificado.',
  'No CAE of type {} is valid and has numbers left; upload one.':
    'Ningún CAE de tipo {1} está vigente y tiene números; suba uno.',
  'must not have VAT, because the CAE belongs to an exempt taxpayer, found {}.':
    'no debe llevar IVA, porque el CAE es de un contribuyente exonerado; se recibió {1}.',
  'must be EXEMPT, FREE, EXPORT or not billable, because the CAE belongs to a small taxpayer, found {}.':
    'debe ser EXEMPT, FREE, EXPORT o no facturable, porque el CAE es de un pequeño contribuyente; se recibió {1}.',
  'The file must be the XML of a CAE.': 'El archivo debe ser el XML de un CAE.',
  'The signature of the CAE is invalid: the file was changed.':
    'La firma del CAE no es válida: el archivo fue modificado.',
  'The CAE must be signed by the tax authority.': 'El CAE debe estar firmado por la DGI.',
  'The certificate of the tax authority was not valid when it signed the CAE.':
    'El certificado de la DGI no estaba vigente cuando firmó el CAE.',
  'The CAE must be for RUT {}, found {}.': 'El CAE debe ser del RUT {1}; es de {2}.',
  'The CAE must be for one of the types {}, found {}.': 'El CAE debe ser de uno de los tipos {1}; es de {2}.',
  'The serie must be one or two capital letters, or a digit and a capital letter, found {}.':
    'La serie debe ser una o dos letras mayúsculas, o un dígito y una letra mayúscula; se recibió {1}.',
  'The authorization number must have up to 11 digits, found {}.':
    'El número de autorización debe tener hasta 11 dígitos; se recibió {1}.',
  'The CAE must be for electronic receipts (E), found {}.':
    'El CAE debe ser de comprobantes electrónicos (E); se recibió {1}.',
  'The special kind of the CAE must be 1 to 4, found {}.':
    'El tipo especial del CAE debe ser de 1 a 4; se recibió {1}.',
  'A CAE of special kind 1 must name its cause in up to 3 digits, found {}.':
    'Un CAE de tipo especial 1 debe nombrar su causal en hasta 3 dígitos; se recibió {1}.',
  'The CAE must expire on or after its issue date, found {} to {}.':
    'El CAE no debe vencer antes de su fecha de emisión; va del {1} al {2}.',
  'The CAE expired on {}; today is {}.': 'El CAE venció el {1}; hoy es {2}.',
  'The CAE is valid only from {}; today is {}.': 'El CAE rige recién desde el {1}; hoy es {2}.',
  'The range must lie between 1 and {} and must not be empty, found {} to {}.':
    'El rango debe estar entre 1 y {1} y no estar vacío; va del {2} al {3}.',
  'cae_start_number must lie within the range of the CAE, {} to {}, found {}.':
    'cae_start_number debe estar dentro del rango del CAE, de {1} a {2}; se recibió {3}.',
  'The enterprise already has the CAE {}.': 'La empresa ya tiene el CAE {1}.',
  'The range {} to {} overlaps {} of the same type and serie.':
    'El rango del {1} al {2} se superpone con el {3} del mismo tipo y serie.',

  // E-mails, reports, events.
  'sandbox receipts are sent only to addresses that the operator has allowed.':
    'los comprobantes del sandbox se envían solo a direcciones que el operador permitió.',
  'this address permanently refused an e-mail of the account; correct it, or ask the operator to try it again.':
    'esta dirección rechazó en forma definitiva un correo de la cuenta; corríjala, o pida al operador que la pruebe otra vez.',
  '{}; try again tomorrow.': '{1}; intente de nuevo mañana.',
  'The CFE was rejected: its receipt has no value and is not sent.':
    'El CFE fue rechazado: su comprobante no tiene valor y no se envía.',
  'There is no e-mail {}.': 'No hay ningún correo {1}.',
  'The CFE of the e-mail {} was rejected; it is not sent.':
    'El CFE del correo {1} fue rechazado; no se envía.',
  'The enterprise has no report of {}.': 'La empresa no tiene ningún reporte del {1}.',
  'The report of {} has not been sent yet.': 'El reporte del {1} todavía no se envió.',
  'must be the id of an event that you have read and that is still kept; omit it to start with the oldest.':
    'debe ser el id de un evento que usted leyó y que todavía se guarda; omítalo para empezar por el más antiguo.',
};

/** The values in those messages that are words. */
export const PARTS_IN_SPANISH: Readonly<Record<string, string>> = {
  none: 'nada',
  'CAE {} ({} to {})': 'CAE {1} (del {2} al {3})',
  both: 'los dos',
  neither: 'ninguno',
  'a string': 'un texto',
  'a longer string': 'un texto más largo',
  'an object': 'un objeto',
  'an array': 'una lista',
  'true or false': 'true o false',
  'a number': 'un número',
  'a value': 'un valor',
  'is an estimate': 'es una estimación',
  'is not known yet; that of another year is used': 'todavía no se conoce; se usa el de otro año',
  'is not known': 'no se conoce',
  'another value': 'otro valor',
  'a code': 'un código',
  'a branch': 'una sucursal',
  'one of {}': 'uno de {1}',
  'one of type {}': 'uno de tipo {1}',
  'a REJECTED one': 'uno REJECTED',
  '{}, {} and {}': '{1}, {2} y {3}',
  'found {}': 'se recibió {1}',
  '{} in {}': '{1} en {2}',
  ' (line {}, column {})': ' (línea {1}, columna {2})',
  'a country, or 99,': 'un país, o 99,',
  'a country other than UY, or 99,': 'un país que no sea UY, o 99,',
  'UY or omitted': 'UY, o se omite',
  '{} or {}': '{1} o {2}',
  '{}; {}': '{1}; {2}',
  'use cfe_type with the name of the type (ETICKET)': 'use cfe_type con el nombre del tipo (ETICKET)',
  'use {}': 'use {1}',
  'it is for another operation or enterprise': 'es de otra operación o empresa',
  'its content is different': 'su contenido es distinto',
  'the first difference is at {}': 'la primera diferencia está en {1}',
  'the number of lines': 'la cantidad de líneas',
  'the sum of the {} lines': 'la suma de las líneas {1}',
  'the sum of all net amounts and VAT': 'la suma de todos los netos y el IVA',
  '{} and {} not billed': '{1} y {2} no facturables',
  '{}, with discounts and surcharges': '{1}, con descuentos y recargos',
  'the {} lines add up to {}; if prices exclude VAT: net {}, VAT {}; if they include it: net {}, VAT {}':
    'las líneas {1} suman {2}; si los precios excluyen el IVA: neto {3}, IVA {4}; si lo incluyen: neto {5}, IVA {6}',
  '{} lines add up to {}; if prices exclude VAT: net {}, VAT {}; if they include it: net {}, VAT {}':
    'las líneas {1} suman {2}; si los precios excluyen el IVA: neto {3}, IVA {4}; si lo incluyen: neto {5}, IVA {6}',
  'net {}, VAT {} and net {}, VAT {}': 'neto {1}, IVA {2} y neto {3}, IVA {4}',
  'The login failed {} times in a row': 'El acceso falló {1} veces seguidas',
  'Until a valid certificate of the enterprise is uploaded, its login is checked {} times a day':
    'Hasta que se suba un certificado válido de la empresa, su acceso se comprueba {1} veces por día',
  "Logins of the account's enterprises failed {} times today, including those still being checked":
    'Los accesos de las empresas de la cuenta fallaron {1} veces hoy, contando los que todavía se comprueban',
  'The account has sent {} e-mails today, the maximum': 'La cuenta envió {1} correos hoy, el máximo',
  'This mailbox has received the maximum number of e-mails for today':
    'Esta casilla recibió hoy el máximo de correos',
  'The CFE was sent by e-mail {} times today on request, the maximum':
    'El CFE se envió por correo a pedido {1} veces hoy, el máximo',
  'The account has sent {} e-mails on request today, the maximum':
    'La cuenta envió {1} correos a pedido hoy, el máximo',
  'the permission PROD of the tax authority (validate the e-invoicing credentials)':
    'el permiso PROD de la DGI (valide el acceso a e-Factura)',
  'a valid certificate': 'un certificado válido',
  'a plan': 'un plan',
  'a CAE with status OK': 'un CAE con status OK',
  'a scheduled_ready_date in the past': 'una scheduled_ready_date pasada',
};

/** Messages by code, for errors without a row above. */
export const CODES_IN_SPANISH: Readonly<Record<RefusalCode, string>> = {
  INVALID_INPUT: 'La solicitud tiene errores.',
  ALREADY_EXISTS: 'Ya existe.',
  INVALID_API_KEY: 'La clave de API no es válida.',
  UNAUTHORIZED: 'Falta una clave o un token válidos.',
  FORBIDDEN: 'No está permitido para esta clave o esta cuenta.',
  NOT_FOUND: 'No existe.',
  METHOD_NOT_ALLOWED: 'Esta ruta no admite ese método.',
  REQUEST_TIMEOUT: 'La solicitud no llegó a tiempo.',
  PAYLOAD_TOO_LARGE: 'El cuerpo es demasiado grande.',
  UNSUPPORTED_MEDIA_TYPE: 'El cuerpo debe ser JSON en UTF-8.',
  HEADERS_TOO_LARGE: 'Los encabezados de la solicitud son demasiado grandes.',
  NOT_SENT_YET: 'Todavía no se envió.',
  IDEMPOTENCY_IN_PROGRESS: 'Una solicitud con esta Idempotency-Key todavía está en curso.',
  IDEMPOTENCY_KEY_REUSED: 'La Idempotency-Key se usó para otra solicitud.',
  RATE_LIMITED: 'Se alcanzó un límite; intente de nuevo más tarde.',
  INTERNAL_ERROR: 'Algo falló de nuestro lado.',
  UNAVAILABLE: 'El servicio no está disponible en este momento; intente de nuevo.',
};
