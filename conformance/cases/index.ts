/** All cases, in the order of the page. */
import type { Case } from "../suite/case.ts";
import { approvalCases } from "./approvals.ts";
import { argumentCases } from "./arguments.ts";
import { boundCases } from "./bounds.ts";
import { callCases } from "./calls.ts";
import { crashCases } from "./crashes.ts";
import { errorCases } from "./errors.ts";
import { hiddenCases } from "./hidden.ts";
import { injectionCases } from "./injection.ts";
import { moreCases } from "./more.ts";
import { parallelCases } from "./parallel.ts";
import { streamCases } from "./streams.ts";
import { timeCases } from "./time.ts";

export const allCases: readonly Case[] = [
  ...callCases,
  ...hiddenCases,
  ...argumentCases,
  ...timeCases,
  ...parallelCases,
  ...approvalCases,
  ...boundCases,
  ...streamCases,
  ...errorCases,
  ...crashCases,
  ...injectionCases,
  ...moreCases,
];

/** The cases of these ids; an area has all of its cases. */
export function casesOf(wanted: readonly string[]): readonly Case[] {
  if (wanted.length === 0) return allCases;
  return allCases.filter(({ id }) => wanted.some((one) => id === one || id.startsWith(`${one}/`)));
}
