import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder and its missing parents. Node's own function for this never ends in a place like `/proc`, a folder in
 * which none can be made.
 *
 * @throws Error of the file system
 */
export function makeFolder(path: string): void {
  const whole = resolve(path);
  if (existsSync(whole)) return;
  if (dirname(whole) !== whole) makeFolder(dirname(whole));
  try {
    mkdirSync(whole);
  } catch (error) {
    if (!existsSync(whole)) throw error; // otherwise another process made it
  }
}
