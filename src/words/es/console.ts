import { SPANISH } from '../../domain/values/figures.ts';
import type { Texts } from '../en/console.ts';
import { accountsEs } from './accounts.ts';
import { auditEs } from './audit.ts';
import { cfeEs } from './cfePage.ts';
import { creditEs } from './credit.ts';
import { customersEs } from './customers.ts';
import { enterprisesEs } from './enterprises.ts';
import { exportsEs } from './exports.ts';
import { homologationEs } from './homologation.ts';
import { listsEs } from './lists.ts';
import { membersEs } from './members.ts';
import { reportsEs } from './reports.ts';
import { runsEs } from './runs.ts';
import { searchEs } from './search.ts';
import { secondFactorEs } from './secondFactor.ts';
import { webhooksEs } from './webhooks.ts';

/** Las palabras de la consola en español. */
export const consoleEs: Texts = {
  name: 'Español',
  numerals: SPANISH,
  console: 'Consola CFE',
  skip: 'Ir al contenido',
  zone: 'Los días y las horas son los de Montevideo (UTC−3).',
  nav: {
    health: 'Inicio',
    cfes: 'Comprobantes',
    stuck: 'Detenidos',
    runs: 'Acciones masivas',
    enterprises: 'Empresas',
    exports: 'Descargas',
    reports: 'Reportes',
    webhooks: 'Webhooks',
    deliveries: 'Entregas de webhooks',
    keys: 'Claves de API',
    members: 'Personas',
    plan: 'Plan',
    accounts: 'Cuentas',
    audit: 'Auditoría',
  },
  enterprises: enterprisesEs,
  exports: exportsEs,
  homologation: homologationEs,
  lists: listsEs,
  audit: auditEs,
  accounts: accountsEs,
  members: membersEs,
  customers: customersEs,
  webhooks: webhooksEs,
  reports: reportsEs,
  search: searchEs,
  secondFactor: secondFactorEs,
  cfe: cfeEs,
  credit: creditEs,
  ...runsEs,
  signOut: 'Salir',
  account: 'Su perfil',
  language: 'Idioma',
  never: '–',
  done: 'Listo',
  tooManyForms: (most, minutes) =>
    `Se pueden enviar hasta ${most} formularios, o descargar archivos, por hora. No se hizo nada; intente de nuevo dentro de ${minutes} min.`,
  refused: {
    NOT_FOUND: 'Página no encontrada',
    FORBIDDEN: 'Sin acceso',
    INVALID_INPUT: 'Revise los datos',
    RATE_LIMITED: 'Demasiados intentos',
    UNAVAILABLE: 'No disponible por el momento',
    INTERNAL_ERROR: 'Algo salió mal',
    other: 'No se pudo hacer',
    tooLarge: 'Lo que envió es demasiado grande.',
    home: 'Volver al inicio',
    request: 'Número de solicitud',
    staleForm: 'Este formulario es de una sesión anterior. Abra la página de nuevo y vuelva a completarlo.',
    noRole:
      'Su usuario no pertenece a ninguna cuenta, o le falta la verificación en dos pasos. Consulte a quien lo invitó.',
    notForRole: 'Su rol no incluye esta página o acción. Puede pedírsela al titular de la cuenta.',
  },
  why: {
    NOT_FOUND: 'No hay ninguna página en esta dirección, o usted no tiene acceso a ella.',
    INVALID_INPUT: 'Uno de los datos enviados no es válido. Vuelva atrás y revíselo.',
    UNAVAILABLE:
      'Un servicio necesario no responde o está sobrecargado. Es posible que la acción se haya hecho, o que se haga más tarde: verifíquelo antes de intentar de nuevo.',
    INTERNAL_ERROR: 'El error es nuestro. Si se repite, informe este número a soporte.',
    other: 'No se aceptó, y no cambió nada.',
  },
  signIn: {
    title: 'Ingresar',
    email: 'Correo electrónico',
    password: 'Contraseña',
    submit: 'Ingresar',
    oidc: 'Ingresar con su organización',
    wrong: 'El correo o la contraseña no son correctos.',
    limited: (minutes) => `Demasiados intentos. Intente de nuevo dentro de ${minutes} min.`,
    codeTitle: 'Verificación en dos pasos',
    code: 'Código de seis dígitos de la aplicación de autenticación',
    codeSubmit: 'Continuar',
    wrongCode: 'El código no es correcto o ya se usó. Espere el próximo.',
    oidcRefused: 'Su organización no confirmó su identidad, o no le dio ningún rol en esta consola.',
    busy: 'Demasiadas personas están ingresando en este momento. Intente de nuevo en unos segundos.',
    ended: 'Su sesión había terminado y no se hizo nada de lo enviado. Ingrese y envíelo de nuevo.',
    again: 'Volver a ingresar',
    lost: '¿Perdió la contraseña, o el teléfono con los códigos? Pida un enlace nuevo a soporte. El titular de su cuenta puede pedirlo por usted.',
  },
  invitation: {
    title: 'Le damos la bienvenida',
    about: (email) =>
      `Elija una contraseña para ${email}. Debe tener al menos 12 caracteres; una frase de varias palabras es fácil de recordar y segura.`,
    password: 'Contraseña nueva',
    factorTitle: 'Verificación en dos pasos',
    factorNeeded:
      'Es obligatoria para los operadores. Escanee el código QR con una aplicación de autenticación y escriba los seis dígitos que le muestra.',
    factorOptional:
      'Opcional, recomendado. Escanee el código QR con una aplicación de autenticación y escriba los seis dígitos que le muestra, o déjelos vacíos.',
    byHand: 'O escriba esta clave en la aplicación:',
    submit: 'Guardar contraseña',
    accepted: 'La contraseña quedó guardada. Ingrese con ella.',
    qr: 'Código QR de la clave de abajo',
  },
  faults: {
    'credit.nothing_left': 'No queda nada del comprobante por acreditar.',
    'credit.too_much': 'Es más de lo que queda por acreditar.',
    'credit.too_little': 'Escriba más que cero.',
    'credit.line': 'Escriba lo que se acredita de al menos una línea.',
    'credit.original': 'No se puede emitir una nota de crédito de este comprobante.',
    'credit.ambiguous': 'Sin punto de miles y con dos decimales como máximo: 1500,00.',
    'credit.changed':
      'Lo que queda cambió desde que usted vio la nota. No se emitió nada; revísela y decida de nuevo.',
    'idempotency_key.reused':
      'Este formulario ya emitió otra nota. Abra el comprobante y mire sus notas de crédito.',
    'enterprise.suspended': 'La empresa está suspendida.',
    'enterprise.not_ready': 'La empresa no está lista para emitir. En su página figura lo que falta.',
    'enterprise.not_authorized': 'La DGI no autoriza a la empresa a emitir.',
    'enterprise.not_yet': 'La empresa todavía no emite aquí.',
    'enterprise.certificate_missing': 'La empresa no tiene certificado. Cargue uno.',
    'enterprise.certificate_expired': 'El certificado de la empresa venció. Cargue uno nuevo.',
    'enterprise.certificate_revoked': 'El certificado de la empresa fue revocado. Cargue uno nuevo.',
    'cae.none_left': 'La empresa no tiene números para notas de crédito de este tipo. Cargue un CAE.',
    'run.nothing': 'Ya no hay nada que coincida. No se inició ninguna acción masiva.',
    'run.more': 'Ahora coinciden más de los que se mostraron. Revíselos y decida de nuevo.',
    'run.blind': 'Para abandonar varios, elija el motivo por el que están detenidos.',
    'run.webhook': 'Elija el webhook al que se reenvían las entregas.',
    'run.under_way': 'Ya hay una acción masiva en curso para este webhook.',
    'report.no_obligation':
      'Ese día la empresa no reporta por este servicio, y puede haberlo reportado otro sistema. No se envió nada. Si de todos modos hace falta, se envía por la línea de comandos.',
    'run.reason': 'El motivo es demasiado largo.',
    'password.length': 'Una contraseña tiene de 12 a 200 caracteres.',
    'password.guessable':
      'Esta contraseña es fácil de adivinar: repite pocos caracteres, o solo combina contraseñas comunes, su correo o su cuenta, palabras de este servicio y dígitos. Use varias palabras sin relación entre sí.',
    'password.wrong_old': 'La contraseña anterior no es correcta.',
    'second_factor.wrong':
      'La contraseña o el código no son correctos, o el código ya se usó: en ese caso, espere el próximo.',
    'second_factor.gone': 'Esa clave venció. Empiece de nuevo.',
    'second_factor.needed':
      'La verificación en dos pasos es obligatoria para los operadores: se puede cambiar, pero no desactivar.',
    'second_factor.none': 'La verificación en dos pasos ya está desactivada.',
    'second_factor.by_invitation':
      'Un operador configura por primera vez su verificación en dos pasos con una invitación. Pídala a quien administra el servicio.',
    'second_factor.of_provider':
      'Usted ingresa con su organización, que administra la verificación en dos pasos.',
    'user.operator':
      'Esta persona es operador. A los operadores se los agrega, invita, desconecta e inhabilita solo por la línea de comandos.',
    'user.dismissed':
      'Esta persona ingresaba con su organización y fue inhabilitada. Solo se la puede habilitar por la línea de comandos.',
    'invitation.gone':
      'Esta invitación ya se usó, se reemplazó por otra o venció (vale 24 horas). Pida otra.',
    'mail.bounced':
      'Esta dirección rechazó en forma definitiva un correo de la cuenta. Corríjala, o pida a soporte que la pruebe de nuevo.',
    'mail.sandbox':
      'Los comprobantes del sandbox se envían solo a las direcciones que habilitó el operador del servicio.',
    'export.nothing': 'La empresa no tiene comprobantes con fecha de ese mes.',
    'export.account_busy': 'Ya se están preparando dos archivos de esta cuenta. Espere a que termine uno.',
    'export.too_many': 'Ya hay diez archivos de esta empresa. Espere a que se elimine el más antiguo.',
    'once.made_already':
      'Esto ya se creó, y su secreto se mostró una sola vez. Si no lo copió, revóquelo o elimínelo y cree otro.',
    'api_key.too_many': 'La cuenta ya tiene el máximo de claves. Revoque antes alguna.',
    'webhook.too_many': 'La cuenta ya tiene el máximo de webhooks. Elimine antes alguno.',
    'webhook.url.malformed': 'Dirección: debe ser una dirección https completa.',
    'webhook.url.too_long': 'Dirección: tiene demasiados caracteres.',
    'webhook.url.https': 'Dirección: debe empezar con https.',
    'webhook.url.credentials': 'Dirección: no debe contener usuario ni contraseña.',
    'webhook.url.fragment': 'Dirección: no debe contener #.',
    'webhook.url.host':
      'Dirección: debe ser el nombre de un servidor en internet, no una dirección IP ni un equipo interno.',
    'webhook.url.port': 'Dirección: el puerto debe ser 443, o uno a partir de 1024.',
    'webhook.events.none': 'Eventos: marque al menos uno.',
    'delivery.webhook_removed': 'El webhook fue eliminado: ya no se le envía nada.',
    'member.already': 'Esta persona ya pertenece a la cuenta.',
    'member.last_owner': 'Es la única persona titular de la cuenta. Nombre antes a otra.',
    'member.too_many_invitations':
      'La cuenta llegó al máximo de invitaciones de hoy. Intente de nuevo mañana.',
    'invitation.sign_in':
      'Esta invitación es para una persona que ya tiene usuario. Ingrese antes con ese correo.',
    'filter.too_many': 'No se pueden guardar más filtros (30 por lista, 200 en total). Elimine antes alguno.',
    'console.busy':
      'Hay demasiadas páginas en curso para usted, su cuenta o su red. No se hizo nada; intente de nuevo en unos segundos.',
    'files.too_many':
      'Ya hay demasiadas descargas en curso, suyas o de su cuenta. Intente de nuevo cuando termine alguna.',
    'code.wrong': 'El código no es el que la aplicación muestra ahora.',
    'database.away':
      'La consola no puede acceder a sus datos. Intente de nuevo en unos segundos; si envió un formulario, verifique antes si se hizo.',
    'oidc.away':
      'El ingreso de su organización no responde en este momento. Intente de nuevo en unos segundos.',
  },
  me: {
    title: 'Su perfil',
    operator: {
      VIEWER: 'Operador, solo lectura',
      SUPPORT: 'Operador, soporte',
      ADMIN: 'Operador, administración',
    },
    member: (account, role) => `${account}: ${role}`,
    sessions: 'Sesiones abiertas',
    browser: 'Navegador',
    address: 'Dirección IP',
    since: 'Desde',
    seen: 'Último uso',
    here: 'esta sesión',
    end: 'Cerrar esa sesión',
    endOthers: 'Cerrar todas las demás sesiones',
    act: 'Cerrar',
    ended: 'La sesión quedó cerrada.',
    endedOthers: 'Las demás sesiones quedaron cerradas.',
    password: 'Cambiar la contraseña',
    old: 'Contraseña anterior',
    new: 'Contraseña nueva',
    change: 'Cambiar contraseña',
    changed: 'La contraseña quedó cambiada. Las demás sesiones se cerraron.',
  },
  environments: { production: 'producción', sandbox: 'sandbox' },
  health: {
    title: 'Inicio',
    authority: 'DGI',
    up: 'responde',
    down: 'sin respuesta',
    since: 'desde',
    service: 'Servicio',
    waiting: 'Comprobantes en espera',
    endpoints: {
      reception: 'recepción',
      consultation: 'consultas',
      registry: 'consulta de RUT',
      credentials: 'acceso de e‑factura',
      rates: 'tipos de cambio (Banco Central)',
    },
    pending: 'Pendientes de respuesta de la DGI',
    pendingNone: 'Sin comprobantes pendientes de respuesta.',
    oldest: 'El más antiguo',
    stuck: 'Detenidos',
    stuckNone: 'Sin comprobantes detenidos.',
    reports: 'Reportes diarios',
    reportsNone: 'Reportes al día.',
    due: 'por enviar',
    late: (n) => (n === 1 ? '1 atrasado' : `${n} atrasados`),
    firstDue: 'Día más antiguo, o primer vencimiento',
    warnings: 'Vencimientos y numeración',
    warningsNone: 'Sin vencimientos en 30 días y con numeración suficiente.',
    more: 'Hay más.',
    allWarnings: 'Todos los vencimientos',
    allFailed: 'Todas las entregas fallidas',
    enterprise: 'Empresa',
    document: 'Documento',
    certificate: 'certificado',
    ends: 'Vence',
    left: 'Números disponibles',
    webhooks: 'Webhooks con entregas fallidas',
    webhooksNone: 'Sin entregas fallidas en las últimas 24 horas ni en reintento.',
    url: 'Dirección',
    failed: 'Fallidas (24 h)',
    retried: 'En reintento',
    count: 'Cantidad',
    reason: 'Motivo',
    environment: 'Ambiente',
    status: 'Estado',
    withSupport: 'En manos de soporte',
    withSupportNone: 'Ningún comprobante está en manos de soporte.',
  },
  ages: {
    seconds: (n) => `${n} s`,
    minutes: (n) => `${n} min`,
    hours: (n) => `${n} h`,
    days: (n) => `${n} d`,
  },
};
