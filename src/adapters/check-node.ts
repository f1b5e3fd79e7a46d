import { WritError } from "../error/writ-error.ts";
import { nodeIsNewEnough, oldestNode } from "./node-version.ts";

// Imported first by the entry: an older Node would fail later, and say what it misses instead of why.
if (!nodeIsNewEnough(process.versions.node))
  throw new WritError("node-outdated", { found: process.versions.node, needed: oldestNode });
