import { anything, either, list, named, record } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import type { Schema } from "../../schema/schema.ts";
import { sameJson } from "../../util/same-json.ts";
import { type About, aboutOf, type Runnable } from "../runnable.ts";

/** The input that all of these agents take. */
export type InputOfAll<Agent extends Runnable> = (
  Agent extends Runnable<infer Input> ? (input: Input) => void : never
) extends (input: infer All) => void
  ? All
  : never;

/** The output of an agent. */
export type OutputOfOne<Agent> = Agent extends Runnable<never, infer Output> ? Output : never;

/** An agent in a composition, under the name that it has there. */
export interface Member {
  readonly name: string;
  readonly agent: Runnable;
  readonly about: About;
}

/** An agent given to a composition. @throws WritError `definition-invalid` if the value is not one */
export function memberOf(agent: Runnable, where: string, name?: string): Member {
  const about = aboutOf(agent);
  if (about !== undefined) return { name: name ?? agent.name, agent, about };
  const found = typeof agent === "function" ? "a function" : String(agent);
  const reason = `${found} is not an agent. Pass the result of \`agent()\` or of another composition, from this copy of the package.`;
  throw new WritError("definition-invalid", { where, reason });
}

/**
 * The agents given to a composition: a list, or by name.
 *
 * @throws WritError `definition-invalid` if there are none, or a value is not an agent
 */
export function membersOf(
  agents: readonly Runnable[] | Readonly<Record<string, Runnable>>,
  where: string,
): readonly [Member, ...Member[]] {
  checkArguments(
    where,
    { agents },
    { agents: named("a list of agents, or agents by their names", either(record, list(anything))) },
  );
  const [first, ...others] = Array.isArray(agents)
    ? (agents as readonly Runnable[]).map((agent) => memberOf(agent, where))
    : Object.entries(agents).map(([name, agent]) => memberOf(agent, where, name));
  if (first === undefined) throw new WritError("definition-invalid", { where, reason: "it has no agents." });
  return [first, ...others];
}

/** @throws WritError `name-taken` if two members have one name */
export function checkNames(members: readonly Member[], where: string): void {
  const names = new Set<string>();
  for (const { name } of members) {
    if (names.has(name)) throw new WritError("name-taken", { kind: "agent", name, where });
    names.add(name);
  }
}

/** @throws WritError `definition-invalid` unless the count is a whole number of at least 1 */
export function checkCount(count: number, what: string, where: string): void {
  if (Number.isInteger(count) && count >= 1) return;
  const reason = `${what} must be a whole number of at least 1, and is ${String(count)}.`;
  throw new WritError("definition-invalid", { where, reason });
}

/** The input schema of members that get the same input: `various` if their schemas differ. */
export function inputOfAll(members: readonly Member[]): Schema | "various" | undefined {
  const [first, ...others] = members.map(({ about }) => about.input);
  if (first === "various") return first;
  return others.every((other) => takesTheSame(first, other)) ? first : "various";
}

function takesTheSame(one: Schema | undefined, other: About["input"]): boolean {
  if (other === "various") return false;
  if (one === undefined || other === undefined) return one === other;
  return sameJson(one.jsonSchema, other.jsonSchema);
}
