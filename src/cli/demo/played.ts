import { type ModelFunction, modelFromFunction, type PlainReply } from "../../model/function-model.ts";
import type { Model, ModelRequest } from "../../model/model.ts";

/** A script that goes by the conversation, turn by turn: a process that goes on with a run knows where in it that stands. */
export function played(
  turns: readonly (string | PlainReply | ((request: ModelRequest) => string | PlainReply))[],
): Model {
  const answer: ModelFunction = (request) => {
    const turn = turns[request.messages.filter(({ role }) => role === "assistant").length] ?? "";
    return typeof turn === "function" ? turn(request) : turn;
  };
  return modelFromFunction(answer, { id: "script" });
}
