import { types } from "node:util";
import type { ModelSource } from "../../agent/definition.ts";
import { checkArguments, closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import type { Delta, Model, ModelFeatures } from "../../model/model.ts";
import { asObject, type JsonObject } from "../../util/json.ts";
import { anything, filled, list, optional, type Shape, shapeOf } from "../../util/shape.ts";
import { resolveModel } from "../model/resolve.ts";
import { redaction } from "./redaction.ts";
import { argumentsAs, plain, sentRequest, withTexts } from "./sent-request.ts";
import { type Heading, Tape } from "./tape.ts";

/** The use of a cassette: `record` always asks the model and overwrites the file; `replay` never asks; `auto` asks only for missing replies. */
export type CassetteMode = (typeof modes)[number];

const modes = ["record", "replay", "auto"] as const;

/** Options of {@link cassette}. */
export interface CassetteOptions {
  /** The use. Default: `$WRIT_CASSETTE`, or without it `replay` if `$CI` is set, otherwise `auto`. */
  readonly mode?: CassetteMode;
  /** Texts that must not get into the file, beside the secrets that are found automatically. `[redacted]` replaces them. */
  readonly redact?: readonly (string | RegExp)[];
}

/**
 * A model whose replies are kept in a file, so that tests run without a key, without a network and always alike. A request equals a
 * recorded one if a provider would get the same: messages, tools, format and settings (but for `maxOutputTokens`), in any order of fields. The first such request
 * gets the first reply that was recorded for it, and so on; after the last reply, the last one again. Replies keep their pieces, but not their times.
 * A failed request is not recorded. A replayed reply costs nothing (`price` is 0 until the model is asked). A file has replies of one model: they are replayed
 * whatever `model` is, but another model is not asked for more.
 *
 * The file has a line of JSON for the model and one for each request, and belongs in version control. Three things are replaced before they are written:
 * values of secrets that tools took, values (from 8 characters on) of environment variables whose names contain key, token, secret, passw or credential, and
 * the texts of `redact`. A number with one of these in the arguments of a call becomes 0. Other spellings, and secrets without such a name, are not found: read
 * the file before you commit it.
 *
 * @throws WritError `cassette-invalid` for a file that is not a cassette, or that is missing in the mode `replay`, and from a request that would ask another
 * model; `option-invalid` for an unknown mode; `definition-invalid` for an unknown option and for a `redact` that is not a list; from a request
 * `cassette-miss`, with the nearest request and the first difference
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { cassette } from "writ/testing";
 *
 * const model = cassette("test/greeter.cassette.jsonl", "openai/gpt-5-mini"); // asked once, on the machine of the author
 * export const greeter = agent({ name: "greeter", model });
 * ```
 */
export function cassette(file: string, model: ModelSource, options: CassetteOptions = {}): Model {
  checkArguments("cassette()", { file, options }, { file: filled, options: optionsShape });
  const mode = modeOf(options);
  const tape = new Tape(file);
  if (mode === "record") tape.erase();
  const { heading } = tape;
  if (mode === "replay" && heading === undefined) {
    const advice = `Record it first: run once with \`WRIT_CASSETTE=auto\` where the model can be asked.`;
    throw new WritError("cassette-invalid", { file, reason: "it is not there, or is empty.", advice });
  }
  let live: Model | undefined;
  const asked = (): Model => (live ??= resolveModel(model, "cassette"));
  return {
    id: heading?.model ?? asked().id,
    get features() {
      return heading === undefined ? asked().features : featuresOf(heading);
    },
    price: (usage) => live?.price?.(usage) ?? 0,
    stream(request, streaming) {
      const written = redaction(options.redact ?? []); // with the current variables
      const sent = sentRequest(request, written);
      const recorded = mode === "record" ? undefined : tape.next(sent);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a cassette recorded them from a model
      if (recorded !== undefined) return replayed(recorded.reply as unknown as readonly Delta[]);
      if (mode === "replay") throw new WritError("cassette-miss", { file, nearest: tape.nearestTo(sent) });
      const asking = asked();
      tape.checkModel(asking.id);
      return recording({
        ask: () => asking.stream(request, streaming),
        begin: () => tape.begin(sent),
        kept: (reply) => ({ model: headingOf(asking), reply: keptReply(reply, written) }),
      });
    },
  };
}

const hiddenPart = shapeOf(
  "a text that is not empty, or a regular expression",
  (value) => types.isRegExp(value) || (typeof value === "string" && value !== ""),
);
const fields: { readonly [Field in keyof Required<CassetteOptions>]: Shape<unknown> } = {
  mode: anything,
  redact: optional(list(hiddenPart, "a list of texts and regular expressions")),
};
const optionsShape = closed(fields);

/** @throws WritError `option-invalid` */
function modeOf(options: CassetteOptions): CassetteMode {
  const mode: string = options.mode ?? process.env["WRIT_CASSETTE"] ?? "";
  if (mode === "") return process.env["CI"] === undefined ? "auto" : "replay";
  const known = modes.find((each) => each === mode);
  if (known !== undefined) return known;
  throw new WritError("option-invalid", {
    option: "cassette mode",
    value: mode,
    advice: `Give one of ${modes.join(", ")}, as \`mode\` or in $WRIT_CASSETTE.`,
  });
}

async function* replayed(reply: readonly Delta[]): AsyncGenerator<Delta> {
  yield* reply;
}

interface LiveRequest {
  readonly ask: () => AsyncIterable<Delta>;
  readonly begin: () => ReturnType<Tape["begin"]>;
  readonly kept: (reply: readonly Delta[]) => Parameters<ReturnType<Tape["begin"]>>[0];
}

/** Yields the reply of the model, and keeps it once it is whole. */
async function* recording({ ask, begin, kept }: LiveRequest): AsyncGenerator<Delta> {
  const reply: Delta[] = [];
  const end = begin();
  try {
    for await (const delta of ask()) {
      reply.push(delta);
      if (delta.type === "end") end(kept(reply)); // before the caller gets it: the caller need not ask for more
      yield delta;
    }
  } finally {
    end();
  }
}

function headingOf({ id, features }: Model): Heading {
  const { toolNames, ...plainly } = features;
  const names: JsonObject = toolNames === undefined ? {} : { toolNames: toolNames.source };
  return { cassette: 1, model: id, features: { ...asObject(plain(plainly)), ...names } };
}

function featuresOf({ features }: Heading): ModelFeatures {
  const { toolNames, ...plainly } = features;
  return typeof toolNames === "string" ? { ...plainly, toolNames: new RegExp(toolNames) } : plainly;
}

/** A piece of a text, with its place among the deltas of the reply. */
interface Piece {
  readonly place: number;
  readonly text: string;
}

/**
 * The deltas of a reply as they are kept, with each text changed by `written`. A secret may come in several pieces: if `written` changes the
 * text of the joined pieces, the first of them gets all of it.
 */
function keptReply(reply: readonly Delta[], written: (text: string) => string): readonly JsonObject[] {
  const kept = reply.map((delta) => asObject(withTexts(plain(delta), written)));
  for (const { isCall, pieces } of textsIn(reply)) {
    const text = pieces.map((each) => each.text).join("");
    const whole = isCall ? argumentsAs(text, written) : written(text);
    if (pieces.map((each) => written(each.text)).join("") === whole) continue;
    for (const [index, { place }] of pieces.entries())
      kept[place] = { ...kept[place], text: index === 0 ? whole : "" };
  }
  return kept;
}

/** A text with its pieces. */
interface Pieces {
  readonly pieces: Piece[];
  /** True for the arguments of a call. */
  readonly isCall: boolean;
}

/** The texts of a reply with their pieces: those of a call or a block by its name, others while nothing else comes between. */
function textsIn(reply: readonly Delta[]): Iterable<Pieces> {
  const texts = new Map<string, Pieces>();
  let begun = 0;
  for (const [place, delta] of reply.entries()) {
    if (delta.type !== reply[place - 1]?.type) begun = place;
    if (!("text" in delta)) continue;
    const name = delta.type === "call-delta" ? delta.id : (delta.block ?? `from ${begun}`);
    const key = `${delta.type} ${name}`;
    const found = texts.get(key) ?? { pieces: [], isCall: delta.type === "call-delta" };
    texts.set(key, found);
    found.pieces.push({ place, text: delta.text });
  }
  return texts.values();
}
