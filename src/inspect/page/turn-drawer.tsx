import type { JSX } from "preact";
import type { InspectedInside, InspectedRun, InspectedTurn } from "../view.ts";
import { Fact, Part } from "./parts.tsx";
import { countText, durationText, shownValue } from "./words.ts";

/** Everything known of one turn, except its calls. */
export function TurnDrawer({
  view,
  turn,
  onClose,
}: {
  readonly view: InspectedRun;
  readonly turn: InspectedTurn;
  readonly onClose: () => void;
}): JSX.Element {
  const { key, number, model, calls, promptLength } = turn;
  const isOwn = key === `turn/${number}`;
  return (
    <aside class="drawer" aria-label={`Turn ${number}`} tabIndex={0}>
      <header>
        <h2>Turn {number}</h2>
        <span class="quiet">{countText(calls.length, "call")}</span>
        <span class="grow" />
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {model === undefined ? (
        <p class="notice">No reply of the model is recorded.</p>
      ) : (
        <>
          <Part title="The model">
            <dl>
              <Fact name="took">{durationText(model.to - model.askedAt)}</Fact>
              {model.firstAt !== undefined && (
                <Fact name="first word after">{durationText(model.firstAt - model.askedAt)}</Fact>
              )}
              {model.tries.length > 0 && (
                <Fact name="before it">
                  {countText(model.tries.length, "failed request")},{" "}
                  {durationText(model.askedAt - model.from)} with the pauses
                </Fact>
              )}
              <Fact name="tokens">
                {model.usage.inputTokens.toLocaleString("en")} in,{" "}
                {model.usage.outputTokens.toLocaleString("en")} out
                {model.usage.estimated === true && " (estimated)"}
                {(model.usage.cachedInputTokens ?? 0) > 0 &&
                  `, ${model.usage.cachedInputTokens} from the cache`}
              </Fact>
              {model.costUsd !== undefined && <Fact name="cost">${model.costUsd.toFixed(4)}</Fact>}
              <Fact name="driver">{model.driver}</Fact>
              <Fact name="ended with">{model.finishReason}</Fact>
              {isOwn && <Fact name="was shown">{countText(promptLength, "message")}</Fact>}
            </dl>
            {model.retries.map((reason, index) => (
              <p key={index} class="trouble">
                asked again: {reason}
              </p>
            ))}
            {model.repairs.map((repair, index) => (
              <p key={index} class="quiet">
                mended: {repair}
              </p>
            ))}
          </Part>
          {model.reasoning !== undefined && (
            <Part title="Reasoning">
              <pre tabIndex={0}>{shownValue(model.reasoning)}</pre>
            </Part>
          )}
          {model.text !== "" && (
            <Part title="Text">
              <pre tabIndex={0}>{shownValue(model.text)}</pre>
            </Part>
          )}
          {model.raw !== undefined && (
            <Part title="As the model wrote it">
              <pre tabIndex={0}>{shownValue(model.raw)}</pre>
            </Part>
          )}
        </>
      )}
      {view.remarks
        .filter((remark) => isOwn && remark.turn === number)
        .map(({ text }) => (
          <p key={text} class="notice">
            {text}
          </p>
        ))}
    </aside>
  );
}

/** Everything known of a run inside a call, except its turns. */
export function InsideDrawer({
  run: { key, agent, outcome, usage, from, to, turns },
  onClose,
}: {
  readonly run: InspectedInside;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <aside class="drawer" aria-label={`The run of ${agent}`} tabIndex={0}>
      <header>
        <h2>{agent}</h2>
        <span class="quiet">{outcome ?? "no end is recorded"}</span>
        <span class="grow" />
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <Part title="A run inside">
        <dl>
          <Fact name="turns">{turns.length}</Fact>
          {to > from && <Fact name="took">{durationText(to - from)}</Fact>}
          {usage !== undefined && (
            <Fact name="tokens">
              {usage.inputTokens.toLocaleString("en")} in, {usage.outputTokens.toLocaleString("en")} out
            </Fact>
          )}
          <Fact name="key">
            <code>{key}</code>
          </Fact>
        </dl>
      </Part>
    </aside>
  );
}
