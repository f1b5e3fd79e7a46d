import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { InspectedCall, InspectedRun, ListedRun } from "../view.ts";
import type { Acts } from "./acts.ts";
import { Answering } from "./answering.tsx";
import { type Api, troubleText } from "./api.ts";
import { Trouble } from "./parts.tsx";
import { SignOf } from "./signs.tsx";
import { useRun } from "./known-runs.ts";
import { lineText, stateWords } from "./words.ts";

interface Exchange {
  readonly asked: string;
  readonly run: string;
  /** Set when the run has ended. */
  readonly answer?: string;
}

interface ChatProps {
  readonly api: Api;
  readonly agent: string;
  readonly runs: readonly ListedRun[];
  readonly acts: Acts;
  readonly onOpen: (run: string) => void;
}

/** A conversation with an agent. Each question is a run of its own in the store, which can be opened. */
export function PlayChat({ api, agent, runs, acts, onOpen }: ChatProps): JSX.Element {
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const [text, setText] = useState("");
  const [trouble, setTrouble] = useState("");
  const last = exchanges.at(-1);
  const isBusy = last !== undefined && last.answer === undefined;
  async function say(event: Event): Promise<void> {
    event.preventDefault();
    if (text.trim() === "" || isBusy) return;
    setTrouble("");
    try {
      const before = exchanges.flatMap(({ asked, answer = "" }) => [
        { by: "user", text: asked },
        { by: "agent", text: answer },
      ]);
      const run = await api.chat(agent, [...before, { by: "user", text }]);
      setExchanges([...exchanges, { asked: text, run }]);
      setText("");
    } catch (error) {
      setTrouble(troubleText(error));
    }
  }
  const take = (run: string, answer: string): void =>
    setExchanges((now) => now.map((each) => (each.run === run ? { ...each, answer } : each)));
  return (
    <section class="chat" aria-label={`Chat with ${agent}`}>
      <ol class="said" aria-live="polite">
        {exchanges.map((exchange) => (
          <Shown
            key={exchange.run}
            {...{ api, exchange, acts, onOpen, take }}
            listed={runs.find(({ id }) => id === exchange.run)}
          />
        ))}
      </ol>
      <form class="say" onSubmit={(event) => void say(event)}>
        <label>
          <span>{isBusy ? "The agent is at work" : `Say something to ${agent}`}</span>
          <textarea
            name="say"
            rows={2}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey) void say(event);
            }}
          />
        </label>
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy}>
            Send
          </button>
          <button type="button" onClick={() => setExchanges([])}>
            Begin anew
          </button>
          <span class="quiet">Its tools run, and each question is kept as a run.</span>
        </p>
      </form>
      <Trouble text={trouble} />
    </section>
  );
}

interface ShownProps extends Pick<ChatProps, "api" | "acts" | "onOpen"> {
  readonly exchange: Exchange;
  readonly listed: ListedRun | undefined;
  readonly take: (run: string, answer: string) => void;
}

function Shown({ api, exchange, listed, acts, onOpen, take }: ShownProps): JSX.Element {
  const { view } = useRun(api, exchange.run, listed);
  const { outcome } = view ?? {};
  useEffect(() => {
    if (outcome !== undefined) take(exchange.run, outcome.text);
  }, [outcome?.text]);
  const calls = view?.turns.flatMap((turn) => turn.calls) ?? [];
  return (
    <>
      <li class="by-user">{exchange.asked}</li>
      {calls.map((call) => (
        <CallLine key={call.key} {...{ call, acts }} run={view?.run.id ?? ""} />
      ))}
      <li class={`by-agent${outcome === undefined || outcome.type === "answered" ? "" : " trouble"}`}>
        {textOf(view)}{" "}
        <button type="button" class="plain" onClick={() => onOpen(exchange.run)}>
          look at the run
        </button>
      </li>
    </>
  );
}

const textOf = (view: InspectedRun | undefined): string => {
  if (view?.outcome !== undefined) return view.outcome.text;
  return view?.run.status === "waiting" ? "It waits for your answer." : "…";
};

interface CallLineProps {
  readonly call: InspectedCall;
  readonly run: string;
  readonly acts: Acts;
}

function CallLine({ call, run, acts }: CallLineProps): JSX.Element {
  const { tool, state, proposed, question, decision } = call;
  return (
    <li class="call-line">
      <SignOf sign={state} /> <code>{tool}</code> <span class="quiet">{lineText(proposed)}</span>{" "}
      <span class={`word word-${state}`}>{stateWords[state]}</span>
      {state === "refused" && <p class="reason">{decision?.reason}</p>}
      {state === "waiting" && question?.request !== undefined && (
        <Answering question={{ runId: run, ...question, request: question.request }} acts={acts} />
      )}
    </li>
  );
}
