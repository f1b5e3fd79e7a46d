import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";

/** What the watched thread writes: how many scenes it began, the number of the kind, and that of the scene in it. */
const beats = new Int32Array((workerData as { readonly buffer: SharedArrayBuffer }).buffer);
const { seed, kinds, path } = workerData as {
  readonly seed: number;
  readonly kinds: readonly string[];
  readonly path?: string;
};

/** A scene that holds up its thread for so many seconds will never end. */
const patience = 30;

let last = -1;
let quiet = 0;

setInterval(() => {
  quiet = beats[0] === last ? quiet + 1 : 0;
  last = beats[0] ?? 0;
  if (quiet < patience) return;
  const kind = kinds[beats[1] ?? 0] ?? "";
  const command = `npm run fuzz -- --only ${kind} --seed ${seed} --path "${path ?? beats[2] ?? 0}"`;
  writeSync(1, `\n${kind}: a scene holds up its thread for ever\n  again: ${command}\n`);
  process.kill(process.pid, "SIGKILL"); // nothing that is asked of that thread would be heard
}, 1000);
