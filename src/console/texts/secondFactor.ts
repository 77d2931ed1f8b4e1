/** The words of one's own second factor. */
const en = {
  title: 'Second factor',
  manage: 'Set up, replace or turn off',
  held: 'In place: after your password, signing in asks for a code of your authenticator app.',
  none: 'None: your password alone signs you in. A second factor is wise.',
  ofProvider: 'You sign in with your organisation: the second factor is its affair.',
  byInvitation:
    'You were made an operator, and lack the second factor that operators need. It is set up by the link of a new invitation: ask an administrator of the service for one.',
  setUp: 'Set it up',
  setUpAbout: 'First your password. Then a key for an authenticator app on your telephone is shown.',
  replace: 'Replace it',
  replaceAbout:
    'For another telephone or another app. The present one stays good until the new one has shown its first code.',
  present: 'Six digits that your app shows now',
  show: 'Show a new key',
  off: 'Turn it off',
  offAbout: 'From then on your password alone signs you in.',
  offGo: 'Turn it off; other sessions end',
  offDone: 'The second factor is off. Other sessions have ended.',
  newTitle: 'A key for your app',
  newAbout:
    'Scan this with an authenticator app, then type the six digits that it shows. Until then nothing changes; the key waits for ten minutes.',
  newGo: 'Put it in place; other sessions end',
  leave: 'Leave it as it was',
  done: 'The second factor is in place. Other sessions have ended.',
  lost: 'Without the telephone, or without the password, none of this can be done: ask the operator of the service for a link that sets up both anew.',
};

const es: typeof en = {
  title: 'Segundo factor',
  manage: 'Configurarlo, cambiarlo o desactivarlo',
  held: 'Configurado: después de la contraseña, al ingresar se pide un código de la aplicación de autenticación.',
  none: 'Sin configurar: alcanza la contraseña para ingresar. Es prudente tener un segundo factor.',
  ofProvider: 'El ingreso es con su organización: el segundo factor depende de ella.',
  byInvitation:
    'Este usuario fue nombrado operador y le falta el segundo factor que los operadores necesitan. Se configura con el enlace de una invitación nueva: pedirla a quien administra el servicio.',
  setUp: 'Configurarlo',
  setUpAbout:
    'Primero la contraseña. Después se muestra una clave para una aplicación de autenticación en el teléfono.',
  replace: 'Cambiarlo',
  replaceAbout:
    'Para otro teléfono u otra aplicación. El actual sigue valiendo hasta el primer código del nuevo.',
  present: 'Seis dígitos que la aplicación muestra ahora',
  show: 'Mostrar una clave nueva',
  off: 'Desactivarlo',
  offAbout: 'Desde ese momento alcanza la contraseña para ingresar.',
  offGo: 'Desactivarlo; las demás sesiones se cierran',
  offDone: 'El segundo factor quedó desactivado. Las demás sesiones se cerraron.',
  newTitle: 'Una clave para la aplicación',
  newAbout:
    'Escanear esto con una aplicación de autenticación y escribir los seis dígitos que muestra. Hasta entonces nada cambia; la clave espera diez minutos.',
  newGo: 'Guardarlo; las demás sesiones se cierran',
  leave: 'Dejarlo como estaba',
  done: 'El segundo factor quedó configurado. Las demás sesiones se cerraron.',
  lost: 'Sin el teléfono, o sin la contraseña, nada de esto se puede hacer: pedir a quien opera el servicio un enlace para configurar ambos de nuevo.',
};

export const secondFactor = { en, es };
