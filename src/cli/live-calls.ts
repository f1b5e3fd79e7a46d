import type { AgentEvent } from "../event/event.ts";
import { liveBlock, type LiveBlock } from "./live-block.ts";
import { durationText, type Output } from "./output.ts";
import type { Screen } from "./screen.ts";
import { cut, widthOf } from "./text-width.ts";

/** The calls of a run that have not ended for good, each on a line of its own with its state. */
export interface LiveCalls {
  /** Updates a call from an event. `text` is the call, and `indent` comes before its line. */
  readonly take: (event: AgentEvent, text: string, indent: string) => void;
  readonly block: LiveBlock;
}

/** Shows calls on a screen. */
export function liveCalls(screen: Screen, { style }: Pick<Output, "style">): LiveCalls {
  const block = liveBlock(screen);
  const texts = new Map<string, string>();
  // The last `call-state`: for a call that begins while the model still writes, it comes before the fact of the call.
  const states = new Map<string, State>();
  function end(key: string): void {
    texts.delete(key);
    states.delete(key);
    block.delete(key);
  }
  function change(key: string, state: State, indent: string): void {
    const { sign, tail } = looks(state, style);
    const before = `${indent}${sign} `;
    block.set(key, (columns) =>
      lineOf(before, texts.get(key) ?? "", { columns, tail: style("dim", tail()) }),
    );
  }
  return {
    block,
    take(event, text, indent) {
      const { runId, at } = event;
      if (event.type === "run-end")
        for (const key of [...texts.keys(), ...states.keys()]) if (key.startsWith(`${runId} `)) end(key);
      if (!("callId" in event) || event.callId === undefined) return;
      const key = `${runId} ${event.callId}`;
      if (event.type === "call-state") {
        const state = stateOf(event);
        states.set(key, state);
        if (texts.has(key)) change(key, state, indent);
      } else if (event.type === "tool-start" || isAllowed(event)) {
        texts.set(key, text);
        change(key, states.get(key) ?? { type: event.type === "tool-start" ? "runs" : "waits", at }, indent);
      } else if (endings.has(event.type)) end(key);
    },
  };
}

const endings: ReadonlySet<AgentEvent["type"]> = new Set(["approval-request", "tool-end", "knowledge-used"]);

function isAllowed(event: AgentEvent): boolean {
  return event.type === "call-decided" && event.decision.verdict === "allow";
}

type State =
  | { readonly type: "waits" | "runs"; readonly at: number }
  | { readonly type: "ended"; readonly isOk: boolean; readonly durationMs: number };

function stateOf(event: Extract<AgentEvent, { readonly type: "call-state" }>): State {
  const { state, status, durationMs = 0, at } = event;
  return state === "ended" ? { type: state, isOk: status === "ok", durationMs } : { type: state, at };
}

interface Looks {
  readonly sign: string;
  /** Its state, in a word or in seconds. */
  readonly tail: () => string;
}

function looks(state: State, style: Output["style"]): Looks {
  if (state.type === "ended") {
    const sign = state.isOk ? style("green", "✓") : style("red", "✗");
    return { sign, tail: () => durationText(state.durationMs) };
  }
  if (state.type === "waits") return { sign: style("dim", "·"), tail: () => "waiting" };
  const seconds = (): number => Math.max(0, Math.floor((Date.now() - state.at) / 1000));
  return { sign: style("cyan", "→"), tail: () => `${seconds()} s` };
}

function lineOf(
  before: string,
  text: string,
  { columns, tail }: { readonly columns: number; readonly tail: string },
): string {
  const room = columns - widthOf(before) - widthOf(tail) - 2;
  return `${before}${cut(text, Math.max(1, room))}  ${tail}`;
}
