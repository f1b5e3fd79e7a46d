import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { WaitingQuestion } from "../../durable/run-store.ts";
import type { Acts } from "./acts.ts";
import { Answering } from "./answering.tsx";
import type { Api } from "./api.ts";
import { agoText, chosenText } from "./words.ts";

interface QueueProps {
  readonly api: Api;
  readonly actsOf: (agent: string) => Acts;
  /** Changes when runs have changed. */
  readonly change: number;
  readonly onOpen: (run: string) => void;
}

/** All questions that runs wait for, the oldest first. */
export function QueuePage({ api, actsOf, change, onOpen }: QueueProps): JSX.Element {
  const [questions, setQuestions] = useState<readonly WaitingQuestion[] | undefined>();
  useEffect(() => void api.questions().then(setQuestions, () => undefined), [change]);
  return (
    <section class="queue" aria-label="Approvals">
      <h1 tabIndex={-1}>Approvals</h1>
      {questions?.length === 0 && <p class="empty">Nothing waits for an answer.</p>}
      {(questions ?? []).map((question) => (
        <Card key={`${question.runId} ${question.key}`} {...{ question, actsOf, onOpen }} />
      ))}
    </section>
  );
}

interface CardProps extends Pick<QueueProps, "actsOf" | "onOpen"> {
  readonly question: WaitingQuestion;
}

function Card({ question, actsOf, onOpen }: CardProps): JSX.Element {
  const { runId, request, since, until, by } = question;
  const unbound = request.values.filter(({ bound }) => !bound);
  return (
    <article class="card" tabIndex={-1} aria-label={`${request.tool} in ${runId}`}>
      <header>
        <h2>
          <code>{request.tool}</code>
        </h2>
        <span class="tag">{request.effect}</span>
        <span class="grow" />
        <span class="quiet">
          {agoText(since, Date.now())} ago
          {until === undefined
            ? ""
            : `, ${request.waitsFor === undefined ? "refused" : "over"} in ${agoText(Date.now(), until)}`}
        </span>
      </header>
      <p class="reason">
        {request.reason} <span class="quiet">(rule {request.rule})</span>
      </p>
      {unbound.length > 0 && <p>Not chosen by the user: {unbound.map(chosenText).join(", ")}</p>}
      {request.label.sources.length > 0 && (
        <p class="quiet">
          The model had read {request.label.sources.join(", ")} ({request.label.integrity}).
        </p>
      )}
      {by !== undefined && <p class="quiet">Only {by.join(", ")} may answer.</p>}
      <Answering question={question} acts={actsOf(request.path[0] ?? request.agent)} />
      <button type="button" class="plain" onClick={() => onOpen(runId)}>
        Open {runId}
      </button>
    </article>
  );
}
