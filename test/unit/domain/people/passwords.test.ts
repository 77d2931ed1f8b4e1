import { describe, expect, test } from '@jest/globals';
import { createPasswords } from '../../../../src/crypto/passwords.ts';
import { passwordFault } from '../../../../src/domain/people/passwords.ts';

const passwords = createPasswords();
const OWNER = { email: 'ana.gomez@estudiosur.example', accountNames: ['Estudio Sur & Asociados'] };
const faultOf = (password: string) => passwordFault(password, OWNER, (text) => passwords.isCommon(text));

describe('a new password', () => {
  test.each([
    ['common by itself', ['1qaz2wsx3edc', 'unbelievable', 'Administrator']],
    [
      'common with digits and signs',
      ['contraseña1234', 'Qwerty-2026-11', 'P@ssword!!20261122', '2026sunshine2026'],
    ],
    ['two common ones', ['passwordpassword', 'Dragon Football', 'monkey123letmein!']],
    [
      'words of the service',
      ['Montevideo2026', 'e-factura-uruguay', 'Consola CFE 2026', 'clave-DGI-rut-123'],
    ],
    [
      'what is known of the person',
      ['ana.gomez@estudiosur.example', 'AnaGomez2026', 'gomez-estudio-sur', 'Estudio Sur 1234'],
    ],
    [
      'seasons, months and football, with years and signs',
      [
        'Primavera2026!',
        'Invierno2025!',
        'Verano2026Verano',
        'Verano$2026!',
        'Primavera@2026',
        'Setiembre-2026',
        'Peñarol2026!!',
        'Nacional1899!',
        'Danubio/1932/',
        'Celeste#1950#',
      ],
    ],
    ['common in Spanish', ['bienvenido2026', 'Martín Rodríguez 84', 'hola-hermosa-22', 'Siempre$Juntos1']],
    [
      'letters and digits in a row',
      ['abcdefghijkl', 'zyxwvutsrqponm', 'asdfghjklñ2026', 'qwertyuiop-0987654321', 'abc123def456ghi'],
    ],
    ['digits alone', ['219999830019', '2026-11-22 099123456']],
    ['few characters again and again', ['aaaaaaaaaaaaaaaaaa', 'xyxyxyxyxyxyxyxyxy']],
  ])('is refused that is %s', (_, passwords) => {
    for (const password of passwords) expect([password, faultOf(password)]).toEqual([password, 'guessable']);
  });

  test('may be of words that do not belong together, or of no words', () => {
    const good = [
      'cuatro palabras bien largas',
      'una contraseña nueva y larga',
      'montevideo tiene ramblas',
      'tres inviernos sin paraguas',
      'peñarol le gana a un dragón',
      'x7Kq-92mdLw-pT',
      '¿dónde quedó mi paraguas?',
      '!#%&/()=?+*-{}[];:',
    ];
    for (const password of good) expect([password, faultOf(password)]).toEqual([password, undefined]);
  });

  test('has 12 to 200 characters, as a person counts them', () => {
    expect(faultOf('x7Kq-92mdLw')).toBe('length');
    expect(faultOf('🦜x7Kq-92mdLw')).toBeUndefined();
    expect(faultOf(`x7Kq-92mdLw${'ab9'.repeat(64)}`)).toBe('length');
  });
});
