import { pngOf } from '../print/png.ts';

/** A grey PNG of that size. */
export const aPng = (width: number, height: number): Buffer =>
  pngOf({ width, height, grey: new Uint8Array(width * height).fill(0x80) });

/** The smallest JPEG there is: 1 × 1 pixel, baseline, grey. */
export const A_JPEG = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z',
  'base64',
);

/** A logo of 240 × 80 pixels: a ring beside a bar. */
export const A_LOGO = pngOf({
  width: 240,
  height: 80,
  grey: Uint8Array.from({ length: 240 * 80 }, (_, index) => {
    const [x, y] = [(index % 240) - 40, Math.floor(index / 240) - 40];
    const [ring, bar] = [Math.abs(Math.hypot(x, y) - 30) < 8, x > 50 && Math.abs(y) < 12];
    return ring || bar ? 40 : 255;
  }),
});
