import { WritError } from "../error/writ-error.ts";
import { nodeIsNewEnough, oldestNode } from "./node-version.ts";

// The entry imports this first: an older Node would fail later, with an error about a missing feature.
if (!nodeIsNewEnough(process.versions.node))
  throw new WritError("node-outdated", { found: process.versions.node, needed: oldestNode });
