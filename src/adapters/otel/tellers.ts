import type { AgentEvent } from "../../event/event.ts";

/** An event of one type. */
export type Told<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

/** The functions that take events, by their type. */
export type Tellers<Owner> = {
  readonly [Type in AgentEvent["type"]]?: (owner: Owner, event: Told<Type>) => void;
};
