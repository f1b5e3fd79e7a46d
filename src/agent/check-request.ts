import { asSentence } from "../util/as-sentence.ts";
import { WritError } from "../error/writ-error.ts";
import {
  anything,
  either,
  fits,
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
import { atOnce, closed } from "../error/check-shape.ts";
import type { ChatRequest } from "../model/chat.ts";
import { toolChoiceShape } from "../model/setting-shapes.ts";
import type { Patience } from "../model/patience.ts";
import type { DecideRequest } from "../turn/decide.ts";
import type { StepRequest } from "../turn/llm-step.ts";
import type { SafeLoopOptions } from "../turn/safe-loop.ts";
import { checkSettings } from "./check-definition.ts";
import { renamedText } from "./renamed.ts";

/** The shape of a model, as each door takes it. */
interface Asked {
  readonly model?: unknown;
}

type ChatDoor = ChatRequest & Patience & Asked;

/** A door that takes one object: the text of its call, and the required fields. */
interface Door {
  readonly write: string;
  readonly takes: Shape<object>;
}

const model = shapeOf("what stands for a model", (value) => value !== undefined);
const messages = shapeOf(
  "a text, a message or a list of messages",
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
);
const format = either(
  object({ type: oneOf("schema"), schema: record }, '{ type: "schema", schema }'),
  object({ type: oneOf("grammar"), grammar: string }, '{ type: "grammar", grammar }'),
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
const about = { model: anything, retry: anything, timeout: anything, signal: anything };
const chat: { readonly [Field in keyof Required<ChatDoor>]: Shape<unknown> } = {
  ...about,
  model,
  messages,
  tools: optional(tools),
  toolChoice: optional(toolChoiceShape),
  format: optional(format),
  settings: optional(record),
};
const execute = {
  calls,
  tools,
  endOn,
  executor,
  policy: anything,
  approve: anything,
  grants: anything,
  intent: anything,
  hooks: anything,
  recover: anything,
  budget: anything,
  concurrency: optional(atOnce),
  journal: anything,
  onEvent: anything,
  signal: anything,
};
const llmStep: { readonly [Field in keyof Required<StepRequest & Asked>]: Shape<unknown> } = {
  ...about,
  prompt: string,
  catalog,
  context: anything,
  intent: anything,
  grants: anything,
};
const safeLoop: { readonly [Field in keyof Required<SafeLoopOptions & Asked>]: Shape<unknown> } = {
  ...about,
  question: string,
  tools: record,
  catalog: anything,
  maxSteps: anything,
  budget: anything,
  intent: anything,
  grants: anything,
  onStep: anything,
};
const decide: { readonly [Field in keyof Required<DecideRequest & Asked>]: Shape<unknown> } = {
  ...about,
  question: string,
  options,
  context: anything,
};

type DoorName = "chat" | "chatStream" | "execute" | "loop" | "llmStep" | "safeLoop" | "decide";

const doors: Readonly<Record<DoorName, Door>> = {
  chat: { write: "chat({ model, messages })", takes: closed(chat) },
  chatStream: { write: "chatStream({ model, messages })", takes: closed(chat) },
  execute: { write: "execute({ calls, tools })", takes: closed(execute) },
  loop: { write: "loop({ model, transcript })", takes: object({ transcript }) },
  llmStep: { write: "llmStep({ prompt, catalog })", takes: closed(llmStep) },
  safeLoop: {
    write: "safeLoop({ question, tools, maxSteps, budget })",
    takes: closed(safeLoop),
  },
  decide: { write: "decide({ question, options })", takes: closed(decide) },
};

/**
 * Checks that a door was given one object with its required fields, and no field of an older name.
 *
 * @throws WritError `definition-invalid`, which says what to write
 */
export function checkRequest(door: DoorName, given: object): void {
  const { write, takes } = doors[door];
  const where = `${door}()`;
  const meant = fits(record, given) ? renamedText({ ...given }) : undefined;
  const fault = meant === undefined ? misfitText(takes, given) : undefined;
  const reason = meant ?? (fault === undefined ? undefined : told(fault, write));
  if (reason !== undefined) throw new WritError("definition-invalid", { where, reason });
  if ("settings" in given && fits(record, given.settings)) checkSettings(given.settings, where);
}

/** The fault, with the text to write: the right name if it is known, otherwise the whole call. */
function told(fault: string, write: string): string {
  return /\?$|(?:in its place|is there)$/.test(fault) ? asSentence(fault) : `${fault}; write ${write}.`;
}
