/**
 * Lets the processes that this one starts share stripped and compiled code: each reads 300 files of TypeScript, and starts in a third of the
 * time when the cache has them. Imported for its effect by every program that starts many processes.
 */
import { join } from "node:path";
import { root } from "./source-files.ts";

process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/compiled");
