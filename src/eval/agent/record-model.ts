import { redaction } from "../../adapters/cassette/redaction.ts";
import { assemble, type Reply } from "../../model/assemble.ts";
import type { PlainReply } from "../../model/function-model.ts";
import type { Model, ModelRequest } from "../../model/model.ts";
import { scripted } from "../../model/scripted.ts";
import { textOf } from "../../message/message.ts";
import { fingerprint } from "../../util/hash.ts";
import { asObject, toJson } from "../../util/json.ts";
import type { RecordedModel, RecordedReply } from "./eval-case.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** A model that keeps its replies. */
export interface RecordingModel {
  readonly model: Model;
  /** The replies so far. `broken`: the last request got no answer, so the replies cannot be played to an end. */
  readonly recorded: () => RecordedModel | "broken";
}

/** The same model, with each complete reply kept. */
export function recordingModel(model: Model): RecordingModel {
  const asked: { reply?: RecordedReply }[] = []; // in the order of the requests: agents inside are asked side by side
  const { id, price, endpoint, retries } = model;
  return {
    model: {
      id,
      ...(price === undefined ? {} : { price }),
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(retries === undefined ? {} : { retries }),
      get features() {
        return model.features;
      },
      async *stream(request, options) {
        const assembler = assemble(id, ({ id, name }) => ({ id, name }));
        const place: (typeof asked)[number] = {};
        asked.push(place);
        for await (const delta of model.stream(request, options)) {
          assembler.push(delta);
          yield delta;
        }
        place.reply = withoutSecrets(recordedReply(assembler.reply(), request));
      },
    },
    recorded() {
      const last = asked.at(-1);
      if (last !== undefined && last.reply === undefined) return "broken";
      const replies = asked.flatMap(({ reply }) => reply ?? []);
      const features = toJson({ ...model.features, toolNames: undefined });
      return { features: asObject(features.ok ? features.value : undefined), replies };
    },
  };
}

/**
 * A model that gives recorded replies again, and fails if it is asked for more. A request gets the reply to the same request; `onOther` is called for one
 * that was not recorded, which gets the next reply.
 */
export function replayingModel({ features, replies }: RecordedModel, onOther: () => void): Model {
  const left = [...replies];
  const step = (request: ModelRequest): PlainReply => {
    const now = askedBy(request);
    const place = left.findIndex(({ asked }) => asked === now);
    if (place === -1) onOther();
    const [{ asked: _asked, ...reply } = { asked: now }] = left.splice(Math.max(place, 0), 1);
    return reply;
  };
  return scripted(
    replies.map(() => step),
    { whenDone: "throw", id: "recorded", features },
  );
}

function recordedReply({ message, finishReason, usage }: Reply, request: ModelRequest): RecordedReply {
  const text = textOf(message);
  const calls = message.parts.flatMap((part) =>
    part.type === "tool-call" && part.providerExecuted !== true
      ? [{ id: part.id, name: part.name, arguments: part.arguments }]
      : [],
  );
  return {
    asked: askedBy(request),
    ...(text === "" ? {} : { text }),
    ...(calls.length === 0 ? {} : { calls }),
    finishReason,
    ...(usage === undefined
      ? {}
      : { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } }),
  };
}

/** A fingerprint of a request to a model: its text and its tools, with secrets removed, without settings. */
function askedBy({ messages, prompt, tools }: ModelRequest): string {
  return fingerprint(redaction()(JSON.stringify([messages, prompt, tools])));
}
