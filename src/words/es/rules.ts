/** What each rule checks, in Spanish; the tables in src/domain have the English. */
export const RULES_IN_SPANISH: Readonly<Record<string, string>> = {
  'body.malformed': 'El cuerpo, y el texto de extra, es JSON.',
  'body.too_many_values': 'El cuerpo, y el texto de extra, tiene como máximo 20.000 valores.',
  'body.duplicate_key': 'Ningún objeto tiene dos veces el mismo campo.',
  'body.missing': 'Están los campos obligatorios.',
  'body.null': 'Un campo es null solo donde openapi.json lo dice: un campo sin valor se omite.',
  'body.wrong_type': 'Cada campo tiene su tipo de JSON.',
  'body.not_one_of': 'Un campo con valores fijos tiene uno de ellos.',
  'body.unknown_field': 'No hay campos desconocidos.',
  'body.read_only':
    'Un campo que una modificación no cambia, devuelto con el resto de un objeto leído, está como se leyó.',
  'body.more_faults': 'Nada: cierra una lista de errores demasiado larga para darla entera.',
  'list.too_short': 'Una lista que necesita elementos los tiene.',
  'list.too_long': 'Una lista no tiene más elementos que los permitidos.',
  'text.empty': 'Un texto no está vacío ni en blanco.',
  'text.too_long': 'Un texto no tiene más caracteres que los que admite el formato del CFE.',
  'text.control_character':
    'Un texto no tiene caracteres de control, tampoco tabulaciones ni fines de línea (estos sí en extra.adenda).',
  'text.invalid_character': 'Un texto no tiene caracteres que XML no admite.',
  'number.too_many_decimals':
    'Un número no tiene más decimales que los del formato del CFE; nunca se redondea.',
  'number.too_large': 'Un número no tiene más dígitos antes de la coma que los del formato del CFE.',
  'number.negative': 'Precios y montos no son negativos, tampoco en notas; solo pay_amount puede serlo.',
  'number.not_whole': 'Una cantidad de cosas o un ordinal es entero.',
  'number.out_of_range': 'Un entero está dentro de sus límites.',
  'date.malformed': 'Una fecha es un día del calendario, escrito AAAA-MM-DD.',
  'date.out_of_range': 'Una fecha está en los años que admite el formato del CFE.',
  'date_time.malformed':
    'Una fecha y hora se escribe AAAA-MM-DDTHH:MM:SS, que es de Montevideo, o con su zona, como se responde.',
  'rut.malformed': 'Un RUT tiene 12 dígitos, sin puntos ni guiones.',
  'rut.check_digit': 'El último dígito de un RUT es su dígito verificador.',
  'country.unknown':
    'Un país se da con su código del formato del CFE: ISO 3166 de dos letras mayúsculas, o 99.',
  'cfe_id.malformed':
    'Un cfe_id es uno de los nueve códigos de tipo, un guion y un número sin ceros adelante.',
  'extra.not_object': 'extra es un objeto JSON escrito como texto.',
  'extra.too_deep':
    'Las claves de extra que el servicio no conoce no están anidadas a demasiada profundidad.',
  'extra.too_large': 'Las claves de extra que el servicio no conoce suman como máximo 16 KiB.',
  'base64.malformed':
    'Un archivo se da en base64 (RFC 4648 §4), con relleno o sin él; sus líneas tienen un múltiplo de cuatro caracteres.',
  'update.empty': 'Una modificación tiene al menos un campo.',
  'credentials.incomplete':
    'El usuario y la contraseña del acceso a e-Factura se dan juntos, o no se da ninguno.',
  'website.malformed': 'Un sitio web es un nombre de servidor, con o sin http(s):// y ruta.',
  'resolution.malformed': 'Una resolución se da con su número y su año.',
  'logo.unusable': 'Un logo es un PNG o JPEG completo, de 64 KiB y 1.000 píxeles por lado como máximo.',
  'email.malformed': 'Una dirección de correo tiene un nombre, una arroba y un dominio.',
  'emission_date.too_early': 'La fecha de emisión es de hasta 60 días antes de hoy en Montevideo.',
  'emission_date.too_late': 'La fecha de emisión es de hasta 60 días después de hoy en Montevideo.',
  'exchange_rate.not_one': 'En UYU el tipo de cambio es 1.',
  'exchange_rate.zero': 'En otra moneda el tipo de cambio es mayor que cero.',
  'totals.exchange_rate_implausible':
    'El tipo de cambio está entre la quinta parte y cinco veces el último conocido antes de la fecha de emisión; si no se conoce ninguno, no se compara.',
  'receiver.required': 'Las e-Facturas, los documentos de exportación y sus notas tienen receptor.',
  'receiver.empty':
    'Un receptor dice quién es con un documento, un nombre o una dirección; {} o solo country_code no alcanza.',
  'receiver.document_required': 'El receptor de una e-Factura o de sus notas tiene RUC.',
  'receiver.document_incomplete': 'receiver_doc_type y receiver_document se dan juntos.',
  'receiver.document_type':
    'Una e-Factura tiene RUC; los e-Tickets y los documentos de exportación pueden tener cualquier tipo de documento.',
  'receiver.ruc': 'Un RUC tiene 12 dígitos; el último es su dígito verificador.',
  'receiver.ci': 'Una CI (cédula) tiene 7 u 8 dígitos; el último es el verificador.',
  'receiver.nie': 'Un NIE tiene como máximo 12 dígitos.',
  'body.one_of':
    'Un descuento, recargo o ajuste tiene percent o amount, uno de los dos; una nota de crédito toma lines, percent o amount, y de una línea count o amount.',
  'payment.code': 'El código de un medio de pago tiene de 1 a 3 dígitos, como texto.',
  'document.ci': 'Una CI tiene 7 u 8 dígitos, sin puntos ni guiones; el último es el verificador.',
  'document.nie': 'Un NIE tiene como máximo 12 dígitos, sin puntos ni guiones.',
  'receiver.country_code':
    'Con RUC, CI o NIE el país es UY o se omite; con DNI es AR, BR, CL o PY; con NIFE, otro que UY; con PASSPORT u OTHER, cualquiera de la lista, o 99.',
  'receiver.legal_name':
    'Las e-Facturas, los documentos de exportación y sus notas tienen el legal_name del receptor.',
  'receiver.fiscal_address':
    'Las e-Facturas, los documentos de exportación y sus notas tienen la fiscal_address del receptor.',
  'receiver.city': 'Las e-Facturas, los documentos de exportación y sus notas tienen la city del receptor.',
  'receiver.department': 'Los documentos de exportación y sus notas tienen el department del receptor.',
  'receiver.country': 'Los documentos de exportación y sus notas tienen el country del receptor.',
  'receiver.identification_required':
    'Un e-Ticket de más de 5.000 UI, sin IVA y sin montos no facturables, identifica a su receptor con un documento.',
  'lines.too_many': 'No hay más líneas que las que admite el tipo: 700 en e-Tickets, 200 en los demás.',
  'line.line_number': 'Las líneas se numeran 1, 2, 3… en orden.',
  'line.iva_type':
    'El tipo admite esa clase de línea: los documentos de exportación no tienen líneas con IVA local.',
  'line.count': 'La cantidad es mayor que cero.',
  'line.unit_price': 'El precio unitario es 0 en las líneas FREE y mayor que 0 en las demás.',
  'line.item_amount':
    'El monto es exactamente cantidad × precio, redondeado a centésimos, menos los descuentos y más los recargos de la línea.',
  'line.below_zero': 'Los descuentos de una línea no superan lo que cuesta.',
  'line.free_adjusted': 'Las líneas FREE no llevan descuentos ni recargos.',
  'line.gtin': 'Un GTIN tiene los dígitos de su tipo; el último es el verificador.',
  'line.ncm': 'Solo las líneas de documentos de exportación llevan código NCM.',
  'totals.line_count': 'line_count es la cantidad de líneas.',
  'totals.tax_free_amount': 'tax_free_amount es la suma de las líneas EXEMPT, ajustada; si se omite vale 0.',
  'totals.perceived_amount':
    'perceived_amount es la suma de las líneas PERCEIVED, ajustada; si se omite vale 0.',
  'totals.suspended_amount':
    'suspended_amount es la suma de las líneas SUSPENDED, ajustada; si se omite vale 0.',
  'totals.tax_other_net_amount':
    'tax_other_net_amount es la suma de las líneas OTHER_RATE, ajustada; si se omite vale 0.',
  'totals.tax_other_amount': 'El IVA de las líneas OTHER_RATE es mayor que 0 si las hay, y 0 si no.',
  'adjustment.iva_type':
    'Un ajuste es sobre un tipo de línea que el comprobante admite, y nunca sobre líneas FREE.',
  'adjustment.below_zero':
    'Los descuentos sobre un tipo de línea no superan la suma de sus líneas y recargos.',
  'totals.tax_minimum_net_amount':
    'El neto es exactamente la suma de las líneas MINIMUM_RATE o, si los precios incluyen IVA, esa suma sin IVA, redondeada.',
  'totals.tax_minimum_amount':
    'El IVA está a 0,01 como máximo de neto × tasa o, si los precios incluyen IVA, es exactamente la suma de las líneas MINIMUM_RATE menos el neto; 0 donde el neto es 0.',
  'totals.tax_basic_net_amount':
    'El neto es exactamente la suma de las líneas BASIC_RATE o, si los precios incluyen IVA, esa suma sin IVA, redondeada.',
  'totals.tax_basic_amount':
    'El IVA está a 0,01 como máximo de neto × tasa o, si los precios incluyen IVA, es exactamente la suma de las líneas BASIC_RATE menos el neto; 0 donde el neto es 0.',
  'totals.prices_mixed': 'Los precios de un documento excluyen todos el IVA o lo incluyen todos.',
  'totals.total_amount': 'total_amount es exactamente la suma de todos los netos y el IVA.',
  'totals.pay_amount':
    'pay_amount es exactamente total_amount más las líneas NON_BILLABLE y menos las NON_BILLABLE_NEGATIVE; puede ser negativo.',
  'totals.non_billable': 'La suma de las líneas no facturables no tiene más dígitos que los del formato.',
  'own_collection.type': 'Solo un ETICKET o un EFACTURA es recibo de una cobranza.',
  'own_collection.lines': 'Las líneas de una cobranza son NON_BILLABLE o NON_BILLABLE_NEGATIVE.',
  'own_collection.references': 'Una cobranza tiene referencias a lo que se cobra.',
  'own_collection.adjustments': 'Una cobranza no tiene ajustes.',
  'reference.required': 'Las notas de crédito y de débito nombran el CFE que corrigen, o tienen referencias.',
  'reference.forbidden': 'Solo las notas tienen reference; los demás tipos tienen references.',
  'references.twice': 'Un pedido tiene reference o references, no los dos.',
  'references.shape':
    'Una referencia tiene cfe_id con amount y reason, o cfe_type_code con serie, numero, emission_date, amount, currency, exchange_rate y reason, o solo description.',
  'references.amount_required':
    'Un CFE de otro sistema tiene amount y currency, salvo los tipos 181, 182 y 124.',
  'references.amount_forbidden':
    'Un CFE de tipo 181, 182 o 124 no tiene amount, ni currency, ni exchange_rate.',
  'references.exchange_rate':
    'Un CFE de otro sistema tiene exchange_rate mayor que 0 si su moneda no es UYU; si no, ninguno.',
  'references.type_code': 'El tipo de un CFE de otro sistema es un código de la DGI, como texto.',
  'references.emission_date':
    'La fecha de emisión de un CFE de otro sistema es como máximo 60 días posterior a hoy en Montevideo.',
  'references.repeated': 'Dos referencias no nombran el mismo CFE.',
  'references.issued_here': 'Un CFE de este servicio se nombra por su cfe_id.',
  'reference.family': 'Una nota corrige un CFE de su familia: e-Tickets, e-Facturas o exportación.',
  'reference.unknown': 'Un CFE nombrado por su cfe_id es de la misma empresa y del mismo ambiente.',
  'reference.rejected': 'Un CFE nombrado por su cfe_id no está REJECTED.',
  'references.amount':
    'El monto de una referencia a un CFE de este servicio es como máximo lo que queda por acreditar; si no es una nota de crédito, su pay_amount.',
  'references.amount_sum':
    'Los montos indicados para CFE de este servicio en una nota de crédito suman como máximo lo que acredita.',
  'reference.amount_exceeded':
    'Las notas de crédito de un CFE suman, en su moneda, como máximo su total_amount o su pay_amount, el mayor.',
  'extra.purchase_order': 'Una orden de compra necesita un receptor.',
  'extra.reference_reason':
    'Solo las notas tienen reference_reason, junto a reference; cada una de references tiene su reason.',
  'extra.sale_condition': 'Solo los documentos de exportación y sus notas tienen sale_condition.',
  'extra.transport': 'Solo los documentos de exportación y sus notas tienen transport.',
  'extra.sale_mode':
    'Solo los documentos de exportación, sus notas y los CFE con líneas EXPORT tienen sale_mode, uno que el tipo admita.',
  'cae.malformed': 'El archivo es el XML de un CAE, con todos sus campos.',
  'cae.signature': 'La firma del CAE verifica.',
  'cae.untrusted_signer':
    'El CAE está firmado con uno de los certificados de la DGI configurados para su ambiente.',
  'cae.signer_not_valid': 'El certificado que firmó el CAE estaba vigente al firmar (TmstFrma).',
  'cae.other_rut': 'El CAE es de la empresa (RucE).',
  'cae.type': 'El CAE es de uno de los nueve tipos (TCFE).',
  'cae.series': 'La serie es una o dos letras mayúsculas, o un dígito y una letra mayúscula.',
  'cae.authorization_number': 'El número de autorización (NA) tiene hasta 11 dígitos.',
  'cae.not_electronic': 'El CAE es de comprobantes electrónicos (TA = E), donde lo dice.',
  'cae.special': 'Un CAE especial es de tipo 1 a 4.',
  'cae.special_cause': 'Un CAE especial de tipo 1 nombra su causal (CausalCAEEsp).',
  'cae.dates': 'Las fechas de emisión y de vencimiento son fechas, en ese orden.',
  'cae.expired': 'El CAE no está vencido hoy en Montevideo.',
  'cae.not_yet_valid': 'El CAE se emitió hoy en Montevideo o antes (si no, la DGI rechaza el CFE con E07).',
  'cae.range': 'El rango está entre 1 y 9999999 y no está vacío.',
  'cae.start_out_of_range': 'cae_start_number está dentro del rango del CAE.',
  'cae.known': 'La empresa todavía no tiene ese CAE.',
  'cae.overlap': 'El rango no se superpone con el de otro CAE del mismo tipo y serie.',
  'cae.none_left': 'Hay un CAE vigente del tipo, con algún número disponible.',
  'line.small_taxpayer':
    'Con una CAE de tipo especial 2, 3 o 4 (IVA mínimo, Monotributo) las líneas son EXEMPT, FREE, EXPORT o no facturables.',
  'line.exempt_taxpayer': 'Con un CAE especial de tipo 1 (contribuyente exonerado) ninguna línea lleva IVA.',
  'certificate.not_pkcs12': 'El archivo es un PKCS#12 (.p12) con un certificado y su clave privada.',
  'certificate.wrong_password': 'La contraseña abre el archivo.',
  'certificate.key_mismatch': 'La clave privada es la del certificado.',
  'certificate.not_rsa': 'La clave es RSA, de 8192 bits como máximo.',
  'certificate.rsa_too_short': 'La clave RSA tiene 2048 bits como mínimo.',
  'certificate.other_rut': 'El serialNumber del titular es «RUC» y el RUT de la empresa.',
  'certificate.key_usage':
    'El uso de clave del certificado, si lo tiene, permite firmar (digitalSignature o nonRepudiation).',
  'certificate.unknown_issuer':
    'Emitió el certificado uno de los prestadores de servicios de certificación con que está configurado el servicio.',
  'certificate.revoked': 'El certificado no está revocado, hasta donde responde su prestador.',
  'certificate.expired': 'El certificado no está vencido.',
  'certificate.not_yet_valid': 'El certificado ya está vigente.',
  'customer.exists': 'No hay dos clientes de una empresa con el mismo doc_type y doc_number.',
  'customer.too_many':
    'Una empresa no tiene más clientes que los que permite el operador; 20.000 si no dijo otra cosa.',
  'customer.other_document': 'El documento en el cuerpo de una modificación es el de la dirección.',
  'enterprise.not_ready': 'En producción la empresa está READY; el mensaje nombra lo que le falta.',
  'enterprise.not_authorized':
    'En producción una empresa READY tiene el permiso PROD, que la DGI puede retirar.',
  'enterprise.not_yet':
    'En producción una empresa que viene de otro sistema emite desde su primer día aquí, con fechas de emisión desde ese día.',
  'enterprise.suspended': 'La empresa no está suspendida.',
  'enterprise.start_date_stays': 'Una fecha de inicio fijada se cambia, no se quita.',
  'enterprise.certificate_missing': 'La empresa tiene un certificado con que firmar.',
  'enterprise.certificate_revoked': 'El certificado de la empresa no está revocado.',
  'enterprise.certificate_expired': 'El certificado de la empresa no está vencido.',
  'enterprise.too_many_unproven':
    'Una cuenta no tiene más empresas sin certificado que las que permite el operador; 20 si no dijo otra cosa.',
  'branch.unknown': 'extra.branch nombra la sucursal propia de la empresa u otra que esté abierta.',
  'branch.taken': 'No hay dos sucursales de una empresa con el mismo código.',
  'branch.first': 'La primera sucursal es parte de la empresa, y queda.',
  'homologation.each': 'Solo una prueba del conjunto TESTING dice cuántos comprobantes de cada tipo emite.',
  'homologation.original_missing': 'Una prueba con notas incluye también el tipo que esas notas corrigen.',
  'plan.unknown': 'plan_id y frequency_id nombran un plan en venta.',
  'plan.incomplete': 'El primer plan de una empresa se da con su frecuencia.',
  'cursor.malformed': 'Un cursor es el que dio la página anterior, tal cual.',
  'moment.malformed': 'Un momento es un día AAAA-MM-DD, o una fecha y hora con su zona.',
  'serie.malformed': 'Una serie es una o dos letras mayúsculas, o un dígito y una letra mayúscula.',
  'preview.prices': 'Una vista previa dice si los precios tienen IVA, donde alguna línea lo lleva.',
  'credit.original': 'Se acredita un comprobante o una nota de débito que no está REJECTED.',
  'credit.nothing_left': 'Queda algo del comprobante por acreditar.',
  'credit.too_much': 'Una nota de crédito toma como máximo lo que queda del comprobante y de cada línea.',
  'credit.too_little': 'Una nota de crédito toma algo de cada línea que nombra, y al menos un centésimo.',
  'credit.line': 'Una nota de crédito nombra líneas del comprobante, cada una una vez.',
  'sandbox.malformed': 'X-Sandbox-Mode es true o false, donde se envía.',
  'sandbox.unsupported': 'X-Sandbox-Mode true se envía solo donde se atiende el sandbox.',
  'idempotency_key.malformed':
    'Idempotency-Key es un solo texto de 1 a 255 caracteres ASCII imprimibles, donde se envía.',
  'idempotency_key.reused':
    'Una solicitud con una Idempotency-Key ya usada pide lo mismo que la primera: path dice dónde difiere, details.cfe_id es el CFE que hizo la clave.',
  'events.after_unknown': 'after es el id de un evento que la cuenta leyó y que todavía se guarda.',
  'mail.cfe_rejected': 'El comprobante que se quiere enviar por correo no es el de un CFE REJECTED.',
  'mail.bounced':
    'Un comprobante no se envía a una dirección que rechazó en forma definitiva un correo anterior de la cuenta.',
  'mail.sandbox': 'Un comprobante del sandbox va a una dirección que el operador nombró para eso.',
};
