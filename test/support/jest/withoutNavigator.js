// node-forge takes whoever has a navigator for a browser and computes with Math.floor, which costs 2 s a signature in
// Jest's sandbox. Without one it computes with integers: 0.1 s.
delete globalThis.navigator;
