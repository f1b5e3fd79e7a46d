import { checkArguments } from "../error/check-shape.ts";
import { callable, having, object, record, string } from "../util/shape.ts";
import { textOf } from "../message/message.ts";
import type { AskModel, Driver, DriverDecision, TurnInput } from "./driver.ts";
import { withMarks } from "./mark-results.ts";
import { matchTool } from "./match-tool.ts";

/** A driver that decides by itself, from which {@link decidingDriver} makes a {@link Driver}. */
export interface Deciding extends Pick<Driver, "name" | "maxViolations" | "plainResults"> {
  /** Decides about the turn; see `decide` of {@link Driver}. */
  decide(turn: TurnInput, ask: AskModel): DriverDecision | Promise<DriverDecision>;
}

/**
 * Makes a driver from a function that decides about a turn: without a model, with several questions to it, or by another driver
 * ({@link decideBy}). An agent with such a driver needs no `model`, as long as the function does not ask one.
 *
 * Its `request` makes a plain request from a turn (the conversation as it is, without tools), and its `read` takes the text of a reply as
 * the answer: for functions that ask for words.
 *
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import { decidingDriver } from "writ/drivers";
 * import { z } from "zod";
 *
 * const now = tool({ name: "now", description: "The time", inputSchema: z.object({}), effect: "read", execute: () => new Date().toISOString() });
 * const rules = decidingDriver({
 *   name: "rules",
 *   decide({ transcript }) {
 *     const last = transcript.messages.at(-1);
 *     if (last?.role === "tool") return { type: "final", content: `It is ${last.text}.` };
 *     return { type: "calls", calls: [{ name: "now", arguments: {} }] };
 *   },
 * });
 *
 * export const clock = agent({ name: "clock", driver: rules, tools: [now] });
 * ```
 */
export function decidingDriver(deciding: Deciding): Driver {
  checkArguments("decidingDriver()", { deciding }, { deciding: object({ name: string, decide: callable }) });
  const { name, maxViolations, plainResults } = deciding;
  const driver: Driver = {
    name,
    passthrough: false,
    ...(maxViolations === undefined ? {} : { maxViolations }),
    ...(plainResults === undefined ? {} : { plainResults }),
    toolName: matchTool,
    request(turn) {
      const { transcript, settings } = withMarks(turn, driver);
      return { messages: transcript.messages, tools: [], toolChoice: "none", settings };
    },
    read: ({ message }) => ({ type: "final", message, content: textOf(message) }),
    decide: (turn, ask) => deciding.decide(turn, ask),
  };
  return driver;
}

const drives = having("a driver", "request", "read");

/**
 * Has one driver decide a turn for another: by its own `decide`, or with one question to the model in its form.
 *
 * @example
 * ```ts
 * import { decideBy, decidingDriver, nativeDriver } from "writ/drivers";
 *
 * export const logged = decidingDriver({
 *   name: "logged",
 *   async decide(turn, ask) {
 *     const decision = await decideBy(nativeDriver, turn, ask);
 *     console.log(decision.type);
 *     return decision;
 *   },
 * });
 * ```
 */
export async function decideBy(driver: Driver, turn: TurnInput, ask: AskModel): Promise<DriverDecision> {
  checkArguments("decideBy()", { driver, turn, ask }, { driver: drives, turn: record, ask: callable });
  if (driver.decide !== undefined) return driver.decide(turn, ask);
  return driver.read(await ask(driver.request(withMarks(turn, driver))), turn);
}
