import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { asObject, type Json, type JsonObject, parseJson } from "../../util/json.ts";
import { fits, jsonObject, list, misfitText, object, oneOf, type Shape, string } from "../../util/shape.ts";
import { firstDifference } from "./sent-request.ts";

/** The first line of a cassette: the version of its form, and the model that was recorded. */
export interface Heading {
  readonly cassette: 1;
  readonly model: string;
  readonly features: JsonObject;
}

/** One request with its reply, as a line of the file. */
export interface Recorded {
  readonly request: JsonObject;
  readonly reply: readonly JsonObject[];
}

/** A whole reply of a model. */
interface Kept {
  readonly model: Heading;
  readonly reply: readonly JsonObject[];
}

/** A request to the model. `add`: it has ended, and this adds its reply to the file. */
interface Asked {
  add?: () => void;
}

const heading: Shape<Heading> = object({ cassette: oneOf(1), model: string, features: jsonObject });
const entry: Shape<Recorded> = object({ request: jsonObject, reply: list(jsonObject) });

/** A file with a line of JSON for the model, and one for each request. It is read once, and then only appended to. */
export class Tape {
  readonly #file: string;
  readonly #entries: { readonly recorded: Recorded; readonly line: number }[] = [];
  /** The replies to each request, in the order of their recording, and the number of those that were played. */
  readonly #byRequest = new Map<string, { readonly replies: Recorded[]; played: number }>();
  /** The requests that the model was asked and that are not kept yet, in order, by their text. */
  readonly #asked = new Map<string, Asked[]>();
  #heading: Heading | undefined;
  /** The number of lines in the file. */
  #lines = 0;
  /** True if the last line has no line break, as some editors leave it. */
  #isOpen = false;

  /** @throws WritError `cassette-invalid` for a file that cannot be read, or that is not a cassette */
  constructor(file: string) {
    this.#file = file;
    if (!existsSync(file)) return;
    const text = this.#read();
    this.#isOpen = text !== "" && !text.endsWith("\n");
    const [first = "", ...lines] = text.split("\n");
    if (first.trim() === "") return;
    this.#heading = this.#line(heading, first, 1);
    this.#lines = lines.length + (this.#isOpen ? 1 : 0);
    for (const [index, line] of lines.entries())
      if (line.trim() !== "" && !this.#isBegunAgain(line))
        this.#index(this.#line(entry, line, index + 2), index + 2);
  }

  get heading(): Heading | undefined {
    return this.#heading;
  }

  /** The next reply to this request: the first one at the first time, and the last one again after all were played. */
  next(request: JsonObject): Recorded | undefined {
    const found = this.#byRequest.get(keyOf(request));
    if (found === undefined) return undefined;
    found.played += 1;
    return found.replies[Math.min(found.played, found.replies.length) - 1];
  }

  /**
   * Begins a request to the model. The returned function ends it, once: with its reply, which then counts as played, or without. Replies to same requests
   * are kept in the order in which they were asked for, whichever comes first: a replay asks in that order.
   *
   * @throws WritError `cassette-invalid` for a file that cannot be written, and for a reply that could not be read back
   */
  begin(request: JsonObject): (kept?: Kept) => void {
    const key = keyOf(request);
    const asked = this.#asked.get(key) ?? [];
    this.#asked.set(key, asked);
    const place: Asked = {};
    asked.push(place);
    return (kept) => {
      place.add ??=
        kept === undefined ? () => undefined : this.#adding(kept.model, { request, reply: kept.reply });
      while (asked[0]?.add !== undefined) asked.shift()?.add?.();
    };
  }

  /** Empties the file. @throws WritError `cassette-invalid` */
  erase(): void {
    this.#heading = undefined;
    this.#entries.length = 0;
    this.#byRequest.clear();
    this.#lines = 0;
    this.#isOpen = false;
    this.#write(() => writeFileSync(this.#file, "", { mode: 0o600 }));
  }

  /** Refuses a model other than the recorded one, because the file has that model's name and features. @throws WritError `cassette-invalid` */
  checkModel(id: string): void {
    const { model = id } = this.#heading ?? {};
    if (model === id) return;
    const [recorded, asked] = [JSON.stringify(model), JSON.stringify(id)];
    const reason = `it was recorded with ${recorded}, and ${asked} would be asked for a request that is not in it: nobody could tell whose replies they are.`;
    const advice = "Record it anew with `WRIT_CASSETTE=record`, or give each model a file of its own.";
    throw this.#invalid(reason, advice);
  }

  /** A sentence with the most similar request on the tape, and the first part in which the two differ. */
  nearestTo(request: JsonObject): string {
    if (this.#entries.length === 0) return "It has none at all.";
    const asked = keyOf(request);
    const likeness = this.#entries.map(({ recorded: { request: each } }) => commonLength(keyOf(each), asked));
    const nearest = this.#entries[likeness.indexOf(Math.max(...likeness))];
    const recordedRequest = nearest === undefined ? undefined : comparable(nearest.recorded.request);
    const difference = firstDifference(recordedRequest, comparable(request));
    const { place = "", recorded, asked: now } = difference ?? {};
    const [one, other] = excerpts(shown(recorded), shown(now));
    return `The nearest of its ${this.#entries.length} is that of line ${nearest?.line}: there \`${place}\` is ${one}, and here it is ${other}.`;
  }

  /** The function that adds a reply to the file. */
  #adding(model: Heading, recorded: Recorded): () => void {
    const read = parseJson(JSON.stringify(recorded));
    if (!read.ok)
      throw this.#invalid(
        `a request or its reply cannot be kept: ${read.reason}.`,
        "Ask for it without a cassette.",
      );
    return () => {
      const lines: readonly (Heading | Recorded)[] =
        this.#heading === undefined ? [model, recorded] : [recorded];
      this.#heading ??= model;
      this.#lines += lines.length;
      this.#index(recorded, this.#lines).played += 1;
      const text = `${this.#isOpen ? "\n" : ""}${lines.map((line) => `${JSON.stringify(line)}\n`).join("")}`;
      this.#write(() => appendFileSync(this.#file, text, { mode: 0o600 }));
      this.#isOpen = false;
    };
  }

  #index(recorded: Recorded, line: number): { readonly replies: Recorded[]; played: number } {
    this.#entries.push({ recorded, line });
    const key = keyOf(recorded.request);
    const found = this.#byRequest.get(key) ?? { replies: [], played: 0 };
    found.replies.push(recorded);
    this.#byRequest.set(key, found);
    return found;
  }

  /** True for a heading in the middle of the file: two processes that began it at once both wrote theirs. */
  #isBegunAgain(text: string): boolean {
    const json = text.startsWith('{"cassette":') ? parseJson(text) : undefined;
    return json?.ok === true && fits(heading, json.value) && json.value.model === this.#heading?.model;
  }

  #line<Value>(shape: Shape<Value>, text: string, number: number): Value {
    const json = parseJson(text);
    if (json.ok && fits(shape, json.value)) return json.value;
    const reason = json.ok ? misfitText(shape, json.value) : json.reason;
    const advice = "Record it anew with `WRIT_CASSETTE=record`, or take it from your version control.";
    throw this.#invalid(`line ${number}: ${reason}`, advice);
  }

  #read(): string {
    try {
      return readFileSync(this.#file, "utf8");
    } catch (error) {
      throw this.#invalid(messageOf(error), "Give the path of a file that this process may read.");
    }
  }

  #write(write: () => void): void {
    try {
      write();
    } catch (error) {
      throw this.#invalid(
        messageOf(error),
        "Give the path of a file in a folder that is there, and that this process may write.",
      );
    }
  }

  #invalid(reason: string, advice: string): WritError {
    return new WritError("cassette-invalid", { file: this.#file, reason, advice });
  }
}

/** A request without the bound of its reply, which follows from what a run has left of its budget: a replayed reply costs nothing, and leaves more. */
function comparable(request: JsonObject): JsonObject {
  const { maxOutputTokens: _, ...settings } = asObject(request["settings"]);
  return { ...request, settings };
}

function keyOf(request: JsonObject): string {
  return canonicalJson(comparable(request));
}

function commonLength(one: string, other: string): number {
  const least = Math.min(one.length, other.length);
  for (let index = 0; index < least; index += 1) if (one[index] !== other[index]) return index;
  return least;
}

function shown(value: Json | undefined): string {
  return value === undefined ? "left out" : JSON.stringify(value);
}

/** The parts of two long texts that show where they differ. */
function excerpts(one: string, other: string): readonly [string, string] {
  const from = Math.max(0, commonLength(one, other) - 30);
  const cut = (text: string): string => {
    const part = text.slice(from, from + 80);
    return `${from > 0 ? "…" : ""}${part}${from + 80 < text.length ? "…" : ""}`;
  };
  return [cut(one), cut(other)];
}
