import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Question } from "../../src/agent/definition.ts";
import { bestOf, majorityVote, weighted } from "../../src/agent/compose/aggregate.ts";
import { branch } from "../../src/agent/compose/branch.ts";
import type { Composite } from "../../src/agent/compose/composite.ts";
import { type Discussion, forum } from "../../src/agent/compose/forum.ts";
import { parallel } from "../../src/agent/compose/parallel.ts";
import { pipe } from "../../src/agent/compose/pipe.ts";
import { race } from "../../src/agent/compose/race.ts";
import { repeat } from "../../src/agent/compose/repeat.ts";
import { wrap } from "../../src/agent/compose/wrap.ts";
import { agent } from "../../src/index.ts";

const model = (): string => "x";
const text = agent({ name: "text", model });
const city = z.object({ city: z.string() });
const weather = z.object({ city: z.string(), rain: z.boolean().optional() });
const locate = agent({ name: "locate", model, output: city });
const forecast = agent({ name: "forecast", model, input: city, output: weather });
const count = agent({ name: "count", model, input: weather, output: z.number() });
const kind = agent({ name: "kind", model, output: z.enum(["bug", "question"]) });

type Text = Question;

describe("the types of compositions", () => {
  it("pipe: the output of each fits the input of the next", () => {
    expectTypeOf(pipe(text, text)).toEqualTypeOf<Composite<Text, string>>();
    expectTypeOf(pipe(text, locate, forecast, count)).toEqualTypeOf<Composite<Text, number>>();
    expectTypeOf(pipe(forecast, text)).toEqualTypeOf<Composite<{ city: string }, string>>();
    expectTypeOf(pipe(text, text, text, text, text, locate)).returns.resolves.toEqualTypeOf<{
      city: string;
    }>();
    const seven = pipe(text, text, text, text, text, locate, forecast);
    expectTypeOf(seven).toEqualTypeOf<Composite<Text, { city: string; rain?: boolean | undefined }>>();
    const nine = pipe(text, text, text, text, text, text, locate, forecast, count);
    expectTypeOf(nine).toEqualTypeOf<Composite<Text, number>>();
    // @ts-expect-error the seventh of these takes a city
    pipe(text, text, text, text, text, text, forecast);
    // @ts-expect-error the ninth of these takes a weather with its city, and a number has none
    pipe(text, text, text, text, text, text, text, count, forecast);
    const open = pipe(text, branch({ on: () => "text", cases: { text } }));
    expectTypeOf(open).returns.resolves.toEqualTypeOf<string>();
    expectTypeOf(pipe(parallel([text, locate]), text)).returns.resolves.toEqualTypeOf<string>();
    expectTypeOf(
      pipe(parallel([text, text], { aggregate: majorityVote() }), race([text, text])),
    ).toEqualTypeOf<Composite<Text, string>>();
    const untyped = agent({ name: "untyped", model, output: { type: "object" } });
    expectTypeOf(pipe(untyped, forecast)).returns.resolves.toEqualTypeOf<{ city: string; rain?: boolean }>();
    expectTypeOf(pipe(pipe(text, locate), pipe(forecast, count))).toEqualTypeOf<Composite<Text, number>>();
    // @ts-expect-error a text is no city
    pipe(text, forecast);
    // @ts-expect-error a city has no rain... but a number is no city
    pipe(locate, forecast, count, forecast);
    // @ts-expect-error one agent is no pipe
    pipe(text);
    const list = ["a", "b"].map(() => text);
    expectTypeOf(pipe(...list)).toEqualTypeOf<Composite<Text, string>>();
    expectTypeOf(pipe(text, ...list)).toEqualTypeOf<Composite<Text, string>>();
    // @ts-expect-error of a list, each takes the output of every one
    pipe(...["a", "b"].map(() => count));
    // @ts-expect-error the pipe takes a city
    void pipe(forecast, text)("Lima");
  });

  it("parallel: a list, an object, or what the aggregate gives; the input is what all take", () => {
    expectTypeOf(parallel([text, locate])("x")).resolves.toEqualTypeOf<[string, { city: string }]>();
    expectTypeOf(parallel({ a: text, b: locate })("x")).resolves.toEqualTypeOf<{
      a: string;
      b: { city: string };
    }>();
    expectTypeOf(parallel([text, forecast]))
      .parameter(0)
      .toEqualTypeOf<{ city: string } & Text>();
    expectTypeOf(parallel([text, text], { aggregate: majorityVote() })("x")).resolves.toEqualTypeOf<string>();
    expectTypeOf(
      parallel([text, text], { aggregate: weighted({ text: 1 }) })("x"),
    ).resolves.toEqualTypeOf<string>();
    const best = parallel([text, text], { aggregate: bestOf((output) => output.length) });
    expectTypeOf(best("x")).resolves.toEqualTypeOf<string>();
    const votes = parallel([locate, locate], { aggregate: majorityVote({ by: (output) => output.city }) });
    expectTypeOf(votes("x")).resolves.toEqualTypeOf<{ city: string }>();
    const lengths = parallel(
      { a: text, b: text },
      { aggregate: (outputs) => outputs.map(({ length }) => length) },
    );
    expectTypeOf(lengths("x")).resolves.toEqualTypeOf<number[]>();
    expectTypeOf(parallel(["a", "b"].map(() => text))("x")).resolves.toEqualTypeOf<string[]>();
  });

  it("parallel: an aggregate gets the outputs of different agents", () => {
    const told = parallel([text, locate], {
      aggregate: ([said, where]) => {
        expectTypeOf(said).toEqualTypeOf<string>();
        return `${said} ${where.city}`;
      },
    });
    expectTypeOf(told).toEqualTypeOf<Composite<Text, string>>();
    const named = parallel(
      { a: text, b: locate },
      { aggregate: async (outputs) => Promise.resolve(outputs.length) },
    );
    expectTypeOf(named("x")).resolves.toEqualTypeOf<number>();
    const best = parallel([text, locate], {
      aggregate: bestOf((output) => (typeof output === "string" ? 1 : 0)),
    });
    expectTypeOf(best("x")).resolves.toEqualTypeOf<string | { city: string }>();
    expectTypeOf(parallel([text, forecast], { aggregate: () => 1 }))
      .parameter(0)
      .toEqualTypeOf<{ city: string } & Text>();
    // @ts-expect-error a city is no text
    parallel([text, locate], { aggregate: (outputs: readonly string[]) => outputs.length });
  });

  it("race: the output of one of them", () => {
    expectTypeOf(race([text, locate])("x")).resolves.toEqualTypeOf<string | { city: string }>();
    expectTypeOf(race({ a: text, b: locate })("x")).resolves.toEqualTypeOf<string | { city: string }>();
    expectTypeOf(race(["a", "b"].map(() => text))("x")).resolves.toEqualTypeOf<string>();
    // @ts-expect-error nobody is there
    race([]);
  });

  it("branch: a value without a case is an error, and a case without a value", () => {
    expectTypeOf(branch({ on: kind, cases: { bug: text, question: locate } })).toEqualTypeOf<
      Composite<Text, string | { city: string }>
    >();
    branch({ on: kind, cases: { bug: pipe(text, text), question: race([text, text]) } });
    branch({ on: pipe(text, kind), cases: { bug: text, question: pipe(text, text) } });
    // @ts-expect-error question has no case
    branch({ on: kind, cases: { bug: text } });
    // @ts-expect-error praise never comes
    branch({ on: kind, cases: { bug: text, question: text, praise: text } });
    branch({ on: kind, cases: { bug: text }, otherwise: text });
    // @ts-expect-error praise never comes
    branch({ on: kind, cases: { praise: text }, otherwise: text });
    type Review = { readonly verdict: "good" | "bad"; readonly why: string };
    const about = agent({
      name: "about",
      model,
      input: z.object({ verdict: z.enum(["good", "bad"]), why: z.string() }),
    });
    const byVerdict = branch({ on: (review: Review) => review.verdict, cases: { good: about, bad: text } });
    expectTypeOf(byVerdict).returns.resolves.toEqualTypeOf<string>();
    expectTypeOf<Review>().toExtend<Parameters<typeof byVerdict>[0]>();
    // @ts-expect-error bad has no case
    branch({ on: (review: Review) => review.verdict, cases: { good: about } });
    branch({ on: (input: string) => input.length > 3, cases: { true: text, false: text } });
    // @ts-expect-error false has no case
    branch({ on: (input: string) => input.length > 3, cases: { true: text } });
    branch({ on: (input: string): string => input, cases: { anything: text } });
    pipe(text, branch({ on: (said) => said.length > 3, cases: { true: text, false: text } }));
    const words = agent({ name: "words", model, output: z.object({ words: z.array(z.string()) }) });
    const lengths = pipe(words, parallel(text, { each: (said) => said.words, concurrency: 2 }));
    expectTypeOf(lengths).returns.resolves.toEqualTypeOf<readonly string[]>();
    // @ts-expect-error the agent takes no numbers
    parallel(text, { each: (all: number[]) => all });
    const row = z.object({ kind: z.enum(["invoice", "note"]), euro: z.number().optional() });
    const rows = agent({ name: "rows", model, output: row });
    const book = agent({ name: "book", model, input: row });
    const sorted = pipe(rows, branch({ on: ({ kind }) => kind, cases: { invoice: book, note: text } }));
    expectTypeOf(sorted).returns.resolves.toEqualTypeOf<string>();
    // @ts-expect-error a note has no case
    pipe(rows, branch({ on: ({ kind }) => kind, cases: { invoice: book } }));
    // @ts-expect-error a row has no such field, so its value may be anything
    pipe(rows, branch({ on: ({ sort }) => sort, cases: { invoice: book, note: text } }));
  });

  it("repeat: without `next` the output is an input", () => {
    expectTypeOf(repeat(text, { until: (draft) => draft.length > 3 })).toEqualTypeOf<
      Composite<Text, string>
    >();
    const again = repeat(count, {
      until: (value, { round }) => value > round,
      next: (value) => ({ city: String(value) }),
    });
    expectTypeOf(again).returns.resolves.toEqualTypeOf<number>();
    repeat(parallel([text, text], { aggregate: majorityVote() }), { until: (draft) => draft.length > 3 });
    // @ts-expect-error a number is no weather
    repeat(count, { until: () => true });
    // @ts-expect-error the next input is no weather
    repeat(count, { until: () => true, next: (value) => value });
  });

  it("forum and wrap: the captain's output, and the student's", () => {
    const statement = z.object({ round: z.number(), from: z.string(), said: z.string() });
    const input = z.object({ question: z.string(), statements: z.array(statement) });
    const captain = agent({ name: "captain", model, input, output: z.number() });
    expectTypeOf(forum({ participants: [text, text], captain })).toEqualTypeOf<
      Composite<string | Discussion, number>
    >();
    // @ts-expect-error the captain takes texts, and a city is none
    forum({ participants: [text, locate], captain });
    expectTypeOf(
      forum({ participants: [text, locate], captain: text })("x"),
    ).resolves.toEqualTypeOf<string>();
    expectTypeOf(forum({ participants: [text], captain: text })).toEqualTypeOf<
      Composite<string | Discussion, string>
    >();
    // @ts-expect-error a participant is asked a question, no weather
    forum({ participants: [count], captain: text });
    expectTypeOf(wrap(text, locate)).toEqualTypeOf<Composite<Text, { city: string }>>();
    expectTypeOf(wrap(text, count)).returns.resolves.toEqualTypeOf<number>();
    // @ts-expect-error both are given the same
    void wrap(text, count)("Lima");
  });
});
