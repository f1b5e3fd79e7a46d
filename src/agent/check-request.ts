import { WritError } from "../error/writ-error.ts";
import {
  anything,
  having,
  list,
  misfitText,
  named,
  object,
  oneOf,
  optional,
  record,
  type Shape,
  shapeOf,
  string,
} from "../util/shape.ts";
import { renamedText } from "./renamed.ts";

/** A door that takes one object: how its call is written, and the fields that it cannot do without. */
interface Door {
  readonly write: string;
  readonly takes: Shape<object>;
}

const model = shapeOf("what stands for a model", (value) => value !== undefined);
const messages = shapeOf(
  "a text, a message or a list of messages",
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
);
const executor = optional(having("an executor", "execute"));
const calls = list(named("a call", record), "a list of calls");
const tools = list(anything, "a list of tools");
const endOn = optional(
  list(oneOf("unknown-tool", "tool-failure", "blocked-call"), "a list of what skips calls"),
);
const catalog = list(record, "a list of tools as plain data");
const options = list(string, "a list of texts");
const transcript = object({ state: string, messages: list(record) }, "a transcript");
const chat = object({ model, messages });

type DoorName = "chat" | "chatStream" | "execute" | "loop" | "llmStep" | "safeLoop" | "decide";

const doors: Readonly<Record<DoorName, Door>> = {
  chat: { write: "chat({ model, messages })", takes: chat },
  chatStream: { write: "chatStream({ model, messages })", takes: chat },
  execute: { write: "execute({ calls, tools })", takes: object({ calls, tools, endOn, executor }) },
  loop: { write: "loop({ model, transcript })", takes: object({ transcript }) },
  llmStep: { write: "llmStep({ prompt, catalog })", takes: object({ prompt: string, catalog }) },
  safeLoop: {
    write: "safeLoop({ question, tools, maxSteps, budget })",
    takes: object({ question: string, tools: record }),
  },
  decide: { write: "decide({ question, options })", takes: object({ question: string, options }) },
};

/**
 * Checks that a door is given one object with the fields that it needs, and none of an older name.
 *
 * @throws WritError `definition-invalid`, which says what to write
 */
export function checkRequest(door: DoorName, given: object): void {
  const { write, takes } = doors[door];
  const fault = misfitText(takes, given);
  const reason = fault === undefined ? renamedText({ ...given }) : `${fault}; write ${write}.`;
  if (reason !== undefined) throw new WritError("definition-invalid", { where: `${door}()`, reason });
}
