import { accounts } from './accounts.ts';
import { audit } from './audit.ts';
import { cfe } from './cfe.ts';
import { customers } from './customers.ts';
import type { Texts } from './en.ts';
import { enterprises } from './enterprises.ts';
import { exports } from './exports.ts';
import { lists } from './lists.ts';
import { members } from './members.ts';
import { reports } from './reports.ts';
import { runs } from './runs.ts';
import { search } from './search.ts';
import { secondFactor } from './secondFactor.ts';
import { webhooks } from './webhooks.ts';

/** Las palabras de la consola en español. */
export const es: Texts = {
  name: 'Español',
  console: 'Consola CFE',
  skip: 'Ir al contenido',
  zone: 'Los días y las horas son los de Montevideo (UTC−3).',
  nav: {
    health: 'Estado',
    cfes: 'Comprobantes',
    stuck: 'Detenidos',
    runs: 'Acciones masivas',
    enterprises: 'Empresas',
    exports: 'Descargas',
    reports: 'Reportes',
    webhooks: 'Webhooks',
    deliveries: 'Entregas',
    keys: 'Claves',
    members: 'Personas',
    plan: 'Plan',
    accounts: 'Cuentas',
    audit: 'Auditoría',
  },
  enterprises: enterprises.es,
  exports: exports.es,
  lists: lists.es,
  audit: audit.es,
  accounts: accounts.es,
  members: members.es,
  customers: customers.es,
  webhooks: webhooks.es,
  reports: reports.es,
  search: search.es,
  secondFactor: secondFactor.es,
  cfe: cfe.es,
  ...runs.es,
  signOut: 'Salir',
  account: 'Su cuenta',
  language: 'Idioma',
  never: '–',
  done: 'Listo',
  tooManyForms: (most, minutes) =>
    `Nadie puede enviar más de ${most} formularios, ni bajar más archivos, en una hora. No se hizo nada; intente de nuevo en ${minutes} minutos.`,
  refused: {
    NOT_FOUND: 'Acá no hay nada',
    FORBIDDEN: 'Sin permiso para esto',
    INVALID_INPUT: 'Así no se puede',
    RATE_LIMITED: 'Demasiadas veces',
    UNAVAILABLE: 'No disponible por el momento',
    INTERNAL_ERROR: 'Algo salió mal',
    other: 'Fue rechazado',
    tooLarge: 'Lo enviado es demasiado grande.',
    home: 'Volver al inicio',
    request: 'Solicitud',
    staleForm: 'Este formulario ya no es de esta sesión. Abrir la página de nuevo y repetirlo.',
    noRole:
      'Este usuario no pertenece a ninguna cuenta ni es operador, o le falta un segundo factor. Consultar a quien lo invitó.',
    notForRole: 'Su rol no permite abrir esto.',
  },
  why: {
    NOT_FOUND: 'Ninguna página tiene esta dirección.',
    INVALID_INPUT: 'Algo de lo enviado no se entiende. Volver atrás y revisarlo.',
    UNAVAILABLE:
      'Lo que esto necesita no responde o está demasiado ocupado en este momento. Puede haberse hecho, o hacerse más tarde: mirar antes de intentarlo de nuevo.',
    INTERNAL_ERROR: 'La falla es nuestra. Quien atiende la consola la encuentra con este número.',
    other: 'Fue rechazado y nada cambió.',
  },
  signIn: {
    title: 'Ingresar',
    email: 'Correo electrónico',
    password: 'Contraseña',
    go: 'Ingresar',
    oidc: 'Ingresar con su organización',
    wrong: 'El correo o la contraseña no es correcto.',
    limited: (minutes) => `Demasiados intentos. Probar de nuevo en ${minutes} minutos.`,
    codeTitle: 'Segundo factor',
    code: 'Seis dígitos de la aplicación de autenticación',
    codeGo: 'Continuar',
    wrongCode: 'Este código no es correcto o ya fue usado. Esperar el próximo.',
    oidcRefused: 'Su organización no confirmó quién ingresa, o no le da ningún rol acá.',
    busy: 'Demasiadas personas están ingresando en este momento. Probar de nuevo en unos segundos.',
    ended: 'La sesión había terminado: nada de lo enviado se hizo. Ingresar y enviarlo de nuevo.',
    again: 'Volver a ingresar',
    lost: '¿Se perdió la contraseña, o el teléfono con los códigos? Pedir un enlace nuevo a quien opera el servicio. El titular de la cuenta no puede darlo, pero puede pedirlo.',
  },
  invitation: {
    title: 'Bienvenida',
    about: (email) =>
      `Elegir una contraseña para ${email}. Debe tener al menos 12 caracteres; varias palabras es una buena idea.`,
    password: 'Contraseña nueva',
    factorTitle: 'Segundo factor',
    factorNeeded:
      'Los operadores lo necesitan. Escanear esto con una aplicación de autenticación y escribir los seis dígitos que muestra.',
    factorOptional:
      'Opcional, y prudente. Escanear esto con una aplicación de autenticación y escribir los seis dígitos que muestra; o dejarlos vacíos.',
    byHand: 'O escribir esta clave en la aplicación:',
    go: 'Guardar contraseña',
    accepted: 'La contraseña quedó guardada. Ingresar con ella.',
    qr: 'Código QR de la clave de abajo',
  },
  faults: {
    'run.nothing': 'Ya no coincide nada; no se inició ninguna acción masiva.',
    'run.more': 'Ahora coinciden más que los mostrados. Hay que mirarlos y decidir otra vez.',
    'run.blind': 'Para abandonar varios hay que elegir el motivo por el que están detenidos.',
    'run.webhook': 'Hay que elegir el webhook al que se envía otra vez.',
    'run.under_way': 'Ya hay una acción masiva en curso para este webhook.',
    'report.no_duty':
      'Ese día la empresa no reporta por este servicio, y otro sistema puede haberlo reportado. No se envió nada; si es necesario, se hace por la línea de comandos.',
    'run.reason': 'El motivo es demasiado largo.',
    'password.length': 'Una contraseña tiene de 12 a 200 caracteres.',
    'password.guessable':
      'Esta contraseña es fácil de adivinar: repite pocos caracteres, o no tiene más que contraseñas comunes, su correo o su cuenta, palabras de este servicio y dígitos. Sirven varias palabras que no tengan relación entre sí.',
    'password.wrong_old': 'La contraseña anterior no es correcta.',
    'second_factor.wrong':
      'La contraseña o el código no es correcto, o el código ya fue usado: en ese caso, esperar el próximo.',
    'second_factor.gone': 'Esa clave ya no vale. Empezar de nuevo.',
    'second_factor.needed': 'Los operadores necesitan un segundo factor: se puede cambiar, no desactivar.',
    'second_factor.none': 'No hay un segundo factor para desactivar.',
    'second_factor.by_invitation':
      'El primer segundo factor de un operador se configura con una invitación. Pedirla a quien administra el servicio.',
    'second_factor.of_provider': 'El ingreso es con su organización: el segundo factor depende de ella.',
    'user.operator':
      'Esta persona es operador. Los operadores se dan de alta, se invitan, se desconectan y se inhabilitan solo por la línea de comandos.',
    'user.dismissed':
      'Esta persona ingresaba por su organización y fue inhabilitada. Solo la línea de comandos la habilita de nuevo.',
    'invitation.gone':
      'Esta invitación ya fue usada, fue reemplazada por otra, o tiene más de un día. Pedir otra.',
    'mail.bounced':
      'Esta dirección rechazó en forma definitiva un correo de la cuenta. Corríjala, o pida al operador del servicio que vuelva a probarla.',
    'mail.sandbox':
      'Los comprobantes del sandbox se envían solo a las direcciones que nombró el operador del servicio.',
    'export.nothing': 'La empresa no tiene comprobantes con fecha de ese mes.',
    'export.account_busy':
      'Ya se están preparando dos archivos de esta cuenta. Esperar a que termine uno de ellos.',
    'export.too_many': 'Ya hay diez archivos de esta empresa. Esperar a que se elimine el más antiguo.',
    'once.made_already':
      'Esto ya se hizo, y lo creado se mostró en ese momento. No se vuelve a mostrar: quien no lo vio lo revoca o lo quita, y crea otro.',
    'api_key.too_many': 'La cuenta tiene todas las claves que puede tener. Revocar antes alguna.',
    'webhook.too_many': 'La cuenta tiene todos los webhooks que puede tener. Eliminar antes alguno.',
    'webhook.url.malformed': 'Dirección: debe ser una dirección https completa.',
    'webhook.url.too_long': 'Dirección: tiene demasiados caracteres.',
    'webhook.url.https': 'Dirección: debe empezar con https.',
    'webhook.url.credentials': 'Dirección: no debe contener usuario ni contraseña.',
    'webhook.url.fragment': 'Dirección: no debe contener #.',
    'webhook.url.host': 'Dirección: debe nombrar un servidor en internet, no una IP ni un equipo interno.',
    'webhook.url.port': 'Dirección: el puerto debe ser 443, o uno desde 1024.',
    'webhook.events.none': 'Eventos: marcar al menos uno.',
    'delivery.webhook_removed': 'El webhook fue eliminado: ya no se le envía nada.',
    'member.already': 'Esta persona ya integra la cuenta.',
    'member.last_owner': 'Es la última persona titular de la cuenta. Nombrar antes a otra.',
    'member.too_many_invitations': 'La cuenta invitó demasiadas veces hoy. Probar de nuevo mañana.',
    'invitation.sign_in':
      'Esta invitación es para alguien que ya tiene usuario. Ingresar antes con ese correo.',
    'filter.too_many': 'No se pueden guardar más filtros: 30 por lista, 200 en total. Olvidar antes alguno.',
    'console.busy':
      'Hay demasiadas páginas en curso para usted, su cuenta o su red. No se hizo nada; intente de nuevo en unos segundos.',
    'files.too_many':
      'Ya están bajando tantos archivos, suyos o de su cuenta, como puede haber a la vez. Intente de nuevo cuando llegue alguno.',
    'code.wrong': 'Este no es el código que la aplicación muestra ahora.',
    'database.away':
      'La consola no llega a sus datos. Probar de nuevo en unos segundos; si se envió un formulario, mirar antes si se hizo.',
    'oidc.away':
      'El ingreso de su organización no responde en este momento. Probar de nuevo en unos segundos.',
  },
  me: {
    title: 'Su cuenta',
    operator: {
      VIEWER: 'Operador, consulta',
      SUPPORT: 'Operador, soporte',
      ADMIN: 'Operador, administración',
    },
    member: (account, role) => `${account}: ${role}`,
    sessions: 'Dónde hay sesiones abiertas',
    browser: 'Navegador',
    address: 'Dirección',
    since: 'Desde',
    seen: 'Último uso',
    here: 'esta',
    end: 'Cerrar esa sesión',
    endOthers: 'Cerrar todas las demás',
    act: 'Cerrar',
    ended: 'Esa sesión quedó cerrada.',
    endedOthers: 'Solo queda abierta esta sesión.',
    password: 'Cambiar la contraseña',
    old: 'Contraseña anterior',
    new: 'Contraseña nueva',
    change: 'Cambiarla; las demás sesiones se cierran',
    changed: 'La contraseña fue cambiada.',
  },
  environments: { production: 'producción', sandbox: 'sandbox' },
  health: {
    title: 'Estado',
    authority: 'DGI',
    up: 'responde',
    down: 'sin respuesta',
    since: 'desde',
    service: 'Servicio',
    waiting: 'En espera',
    endpoints: {
      reception: 'recepción',
      consultation: 'consultas',
      registry: 'registro',
      credentials: 'usuarios e‑factura',
      rates: 'Banco Central',
    },
    pending: 'En camino',
    pendingNone: 'Ningún comprobante espera respuesta.',
    oldest: 'El más viejo',
    stuck: 'Esperan a una persona',
    stuckNone: 'Ningún comprobante necesita soporte.',
    reports: 'Reportes diarios',
    reportsNone: 'Ningún reporte está por vencer ni necesita a nadie.',
    due: 'por enviar',
    late: (n) => `${n} con atraso`,
    firstDue: 'Primer vencimiento o día',
    papers: 'Documentos que vencen en 30 días, y números que se acaban',
    papersNone: 'Ninguna CAE y ningún certificado vence pronto, y no se acaban los números.',
    more: 'Hay más.',
    allPapers: 'Todos los documentos',
    allFailed: 'Todas las entregas fallidas',
    enterprise: 'Empresa',
    paper: 'Documento',
    certificate: 'certificado',
    ends: 'Vence',
    left: 'Números',
    webhooks: 'Webhooks que no reciben sus entregas',
    webhooksNone: 'Ninguna entrega falló en las últimas 24 horas, y ninguna espera un reintento.',
    url: 'Dirección',
    failed: 'Fallidas, 24 h',
    retried: 'En espera',
    count: 'Cantidad',
    reason: 'Motivo',
    environment: 'Ambiente',
    status: 'Estado',
  },
  ages: {
    seconds: (n) => `${n} s`,
    minutes: (n) => `${n} min`,
    hours: (n) => `${n} h`,
    days: (n) => `${n} d`,
  },
};
