/** Texts of the second factor. */
const en = {
  title: 'Second factor',
  manage: 'Set up, replace or turn off',
  held: 'On: after your password, you enter a code from your authenticator app.',
  none: 'Off: your password alone is enough to sign in. A second factor is recommended.',
  ofProvider: 'You sign in with your organisation: your organisation manages the second factor.',
  byInvitation:
    'You became an operator, and operators must have a second factor. Set it up with the link of a new invitation: ask an administrator of the service for one.',
  setUp: 'Set up',
  setUpAbout: 'Enter your password first. Then you get a key for an authenticator app on your phone.',
  replace: 'Replace',
  replaceAbout:
    'For another phone or another app. The current one works until you enter the first code of the new one.',
  present: 'Six-digit code from your current app',
  show: 'Show a new key',
  off: 'Turn off',
  offAbout: 'From then on your password alone is enough to sign in.',
  offGo: 'Turn off (other sessions end)',
  offDone: 'The second factor is off. Your other sessions have ended.',
  newTitle: 'New key for your app',
  newAbout:
    'Scan the QR code with an authenticator app and type the six digits that it shows. Nothing changes until then; the key expires in ten minutes.',
  newGo: 'Turn on (other sessions end)',
  leave: 'Cancel',
  done: 'The second factor is on. Your other sessions have ended.',
  lost: 'Without your phone or your password you cannot do any of this. Ask support for a link to set up both again.',
};

const es: typeof en = {
  title: 'Verificación en dos pasos',
  manage: 'Configurar, cambiar o desactivar',
  held: 'Activada: después de la contraseña se le pide un código de la aplicación de autenticación.',
  none: 'Desactivada: para ingresar alcanza la contraseña. Se recomienda activarla.',
  ofProvider: 'Usted ingresa con su organización, que administra la verificación en dos pasos.',
  byInvitation:
    'Usted es operador, y para los operadores la verificación en dos pasos es obligatoria. Se configura con el enlace de una invitación nueva: pídala a quien administra el servicio.',
  setUp: 'Configurar',
  setUpAbout:
    'Escriba primero su contraseña. Después se le muestra una clave para una aplicación de autenticación en su teléfono.',
  replace: 'Cambiar',
  replaceAbout:
    'Para otro teléfono u otra aplicación. La actual sigue valiendo hasta que escriba el primer código de la nueva.',
  present: 'Código de seis dígitos de la aplicación actual',
  show: 'Mostrar una clave nueva',
  off: 'Desactivar',
  offAbout: 'Desde ese momento alcanza la contraseña para ingresar.',
  offGo: 'Desactivar (se cierran las demás sesiones)',
  offDone: 'La verificación en dos pasos quedó desactivada. Las demás sesiones se cerraron.',
  newTitle: 'Clave nueva para la aplicación',
  newAbout:
    'Escanee el código QR con una aplicación de autenticación y escriba los seis dígitos que le muestra. Hasta entonces nada cambia; la clave vence en diez minutos.',
  newGo: 'Activar (se cierran las demás sesiones)',
  leave: 'Cancelar',
  done: 'La verificación en dos pasos quedó activada. Las demás sesiones se cerraron.',
  lost: 'Sin el teléfono o sin la contraseña no puede hacer nada de esto. Pida a soporte un enlace para configurar ambos de nuevo.',
};

export const secondFactor = { en, es };
