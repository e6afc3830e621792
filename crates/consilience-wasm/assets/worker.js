'use strict';
// In the worker: the module, its imports, and one job.
let memory;
const bytesAt = (at, length) => new Uint8Array(memory.buffer, at >>> 0, length >>> 0);
const textAt = (at, length) => new TextDecoder().decode(bytesAt(at, length).slice());
let told = 0;
const imports = {
  env: {
    hear(name, nameLength, at, length) {
      const bytes = bytesAt(at, length).slice();
      postMessage({ name: textAt(name, nameLength), bytes }, [bytes.buffer]);
    },
    progress(stage, length, done, total) {
      // The page needs a few steps a second, not all of them.
      const now = performance.now();
      if (now - told < 100) return;
      told = now;
      postMessage({ stage: textAt(stage, length), done, total });
    },
  },
};
onmessage = async ({ data: { module, settings, file } }) => {
  try {
    const { exports } = await WebAssembly.instantiate(module, imports);
    memory = exports.memory;
    const put = (bytes) => {
      const at = exports.room(bytes.length);
      bytesAt(at, bytes.length).set(bytes);
      return [at, bytes.length];
    };
    if (settings) exports.compute(...put(new TextEncoder().encode(JSON.stringify(settings))), ...put(file));
    else exports.offer();
    postMessage({ finished: true });
  } catch (error) {
    postMessage({ broken: String(error) });
  }
};
