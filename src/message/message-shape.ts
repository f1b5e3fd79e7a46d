import {
  fits,
  list,
  object,
  oneOf,
  optional,
  record,
  type Shape,
  shapeOf,
  shownValue,
  string,
  variants,
} from "../util/shape.ts";
import { isLabel } from "./label.ts";
import { type FilePart, type ReplyMessage, resultStatuses } from "./message.ts";

const replyRole: ReplyMessage["role"] = "assistant";

const text = object({ text: string });
const file = object({ mediaType: string, data: string });
/** The part of a message that is a file. */
export const filePart: Shape<FilePart> = object(
  { type: oneOf("file"), mediaType: string, data: string },
  "a file",
);
const sent = shapeOf("the arguments of a call", (value) => value !== undefined);

/** A whole label. */
export const labelShape: Shape<unknown> = shapeOf("a label, like { integrity, secrecy, sources }", isLabel);
const label = optional(labelShape);
const files = optional(list(filePart, "a list of files"));
const offers = optional(list(string, "a list of names"));
const result = {
  status: oneOf(...resultStatuses),
  text: string,
  note: optional(string),
  files,
  label,
  offers,
};

/** The result of a call, from outside. It may hold more, which is kept as it is. */
export const resultShape: Shape<object> = object(result, "the result of a call");

const providersOwn = object({ providerExecuted: shapeOf("true", (value) => value === true) });

/** Messages from outside whose calls have such names. They may hold more, which is kept as it is. */
function messageWith(callName: Shape<string>): {
  readonly message: Shape<object>;
  readonly reply: Shape<object>;
} {
  const userParts = { text, file };
  const own = object({ id: string, name: callName, arguments: sent });
  const executed = object({ id: string, name: string, arguments: sent });
  const call: Shape<object> = {
    wanted: own.wanted,
    // A call that the provider carried out has the name that the provider gave it: `server:GOOGLE_SEARCH_WEB`.
    misfit: (value) => (fits(providersOwn, value) ? executed : own).misfit(value),
  };
  const replyParts = { ...userParts, reasoning: text, "tool-call": call, provider: object({ data: record }) };
  const reply = object({ parts: list(variants("type", replyParts), "a list of parts"), label });
  const roles = {
    system: text,
    user: object({ parts: list(variants("type", userParts), "a list of parts"), label }),
    [replyRole]: reply,
    tool: object({ callId: string, name: string, ...result }),
  };
  return {
    message: variants("role", roles, "a message"),
    reply: variants("role", { [replyRole]: reply }, "a reply of the model, with role and parts"),
  };
}

/** A message that was stored. */
export const messageShape: Shape<object> = messageWith(string).message;

const storableName = shapeOf<string>(
  "a name of at most 64 letters, digits, and signs of _ - . /",
  (value) => typeof value === "string" && /^[a-zA-Z0-9_./-]{1,64}$/.test(value),
  shownValue,
);
const written = messageWith(storableName);

/** A message that somebody writes for a model: providers take the names of its calls. */
export const writtenMessage: Shape<object> = written.message;

/** A reply that somebody writes in the place of a model's. */
export const writtenReply: Shape<object> = written.reply;
