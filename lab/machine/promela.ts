/** The table as a text of Promela, which spin goes through. */
import { invariantsOf, movesOf, sizeOf } from "./expand.ts";
import { type Bounds, type Transition, transitions, variables } from "./table.ts";

/** One process in which any possible move may happen next. It ends when the run has; a state without a possible move before that is an error. */
export function promelaOf(bounds: Bounds, table: readonly Transition[] = transitions): string {
  const declared = Object.entries(variables).map(([name, { first, says }]) => {
    const size = sizeOf(name, bounds);
    return `byte ${name}${size === 1 && variables[name]?.of === "one" ? "" : `[${size}]`} = ${first}; /* ${says} */`;
  });
  const checks = invariantsOf(bounds).map(({ name, holds }) =>
    [`  if`, `  :: !(${holds}) -> printf("BROKEN ${name}\\n"); assert(false)`, `  :: else`, `  fi;`].join(
      "\n",
    ),
  );
  const moves = movesOf(bounds, table).map(
    ({ name, when, does }) =>
      `  :: atomic { (${when.map((text) => `(${text})`).join(" && ")}) -> ${does.join("; ")}; printf("MOVE ${name}\\n"); check() }`,
  );
  return `/* Written by lab/machine/promela.ts from lab/machine/table.ts. */
${declared.join("\n")}

inline check() {
${checks.join("\n")}
}

active proctype machine() {
  do
${moves.join("\n")}
  :: ended == 1 -> break
  od
}
`;
}
