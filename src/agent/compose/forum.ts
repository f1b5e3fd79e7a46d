import { contentText } from "../../message/message.ts";
import { type Json, jsonOrNull } from "../../util/json.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import { anything, list } from "../../util/shape.ts";
import type { Runnable } from "../runnable.ts";
import { type Composite, composite } from "./composite.ts";
import { runMember } from "./course.ts";
import { checkCount, checkNames, inputOfAll, memberOf, membersOf, type OutputOfOne } from "./members.ts";
import { together } from "./together.ts";

// oxlint-disable-next-line typescript/consistent-type-definitions -- TypeScript takes no interface for a JSON object
/** The words of one participant of a forum in one round, counted from 1. */
export type Statement<Said = Json> = {
  readonly round: number;
  readonly from: string;
  readonly said: Said;
};

// oxlint-disable-next-line typescript/consistent-type-definitions -- TypeScript takes no interface for a JSON object
/** The question of a forum and its statements, round by round, in the order of the participants. */
export type Discussion<Said = Json> = {
  readonly question: string;
  readonly statements: Statement<Said>[];
};

/** Answers a question; from the second round on it gets the discussion so far. */
export type Participant = Runnable<string | Discussion>;

type SaidBy<Speaker> = OutputOfOne<Speaker> extends Json ? OutputOfOne<Speaker> : Json;

/** The members of a forum, and its rounds. */
export interface ForumDefinition<Speakers extends readonly Participant[], Output> {
  /** The agents that answer the question, all at the same time. */
  readonly participants: Speakers;
  /** The agent that gets the whole discussion, as JSON, and makes the forum's output. */
  readonly captain: Runnable<Discussion<SaidBy<Speakers[number]>>, Output>;
  /** The number of times that each participant speaks. Default 1. */
  readonly rounds?: number;
}

/**
 * Lets several agents answer one question, and another one decide from all their answers. They speak at the same time, so that none hears
 * the others in the same round. The captain gets their statements as data with their names: no participant can speak for another. A
 * participant that does not answer ends the forum with its outcome.
 *
 * @throws WritError `name-taken` if two participants have one name, `definition-invalid` for no participants, `rounds` below 1, or a value that is
 * not an agent
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { forum } from "writ/compose";
 *
 * const model = "ollama/qwen2.5:7b";
 * const optimist = agent({ name: "optimist", model, instructions: "Say what speaks for it." });
 * const sceptic = agent({ name: "sceptic", model, instructions: "Say what speaks against it." });
 * const captain = agent({ name: "captain", model, instructions: "Weigh the statements and decide." });
 *
 * const council = forum({ participants: [optimist, sceptic], captain, rounds: 2 });
 * console.log(await council("Shall we rewrite it?"));
 * ```
 */
export function forum<const Speakers extends readonly [Participant, ...Participant[]], Output>(
  definition: ForumDefinition<Speakers, Output>,
): Composite<string | Discussion, Output> {
  checkShape("forum()", definition, shape);
  const { participants, captain, rounds = 1 } = definition;
  const members = membersOf(participants, "forum()");
  checkNames(members, "forum()");
  checkCount(rounds, "`rounds`", "forum()");
  const decider = memberOf(captain, "forum()");
  return composite({
    name: `forum(${[...members, decider].map(({ name }) => name).join(", ")})`,
    members: [...members, decider],
    input: inputOfAll(members),
    outputs: decider.about.outputs,
    async course(question, run) {
      const statements: Statement[] = [];
      const discussion = (): Discussion => ({
        question: contentText(jsonOrNull(question)),
        statements: [...statements],
      });
      for (let round = 1; round <= rounds; round += 1) {
        const input = round === 1 ? question : discussion();
        const group = { members, input, until: "failure", concurrency: Infinity, round } as const;
        const said = await together(group, run);
        for (const [index, { name: from }] of members.entries())
          statements.push({ round, from, said: jsonOrNull(said[index]) });
      }
      return runMember({ member: decider, place: String(members.length), input: discussion() }, run);
    },
  });
}

const shape = closed({
  participants: list(anything, "a list of agents"),
  captain: anything,
  rounds: anything,
});
