/**
 * Calls that a model of random weights writes under the grammars of 50 public schemas, each read by the strict JSON protocol and judged by the
 * schema of its tool: npx node tools/grammar-samples.ts [--samples n] [--tokens n] [--verbose]
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { llamaCpp, type LlamaCppModel } from "../src/adapters/model/llama-cpp.ts";
import { bundleSchemas } from "../src/driver/bundle-schemas.ts";
import type { TurnInput } from "../src/driver/driver.ts";
import { compileGrammar, type Relaxed } from "../src/driver/grammar/grammar.ts";
import { jsonDriver } from "../src/driver/json.ts";
import { callsOf, userMessage } from "../src/message/message.ts";
import { addUser, emptyTranscript } from "../src/message/transcript.ts";
import { assemble, type Reply } from "../src/model/assemble.ts";
import { allowList } from "../src/policy/allow-list.ts";
import { toSchema } from "../src/schema/to-schema.ts";
import { type Tool, tool } from "../src/tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../src/util/json.ts";
import { writeRandomModel } from "./random-model.ts";
import { root } from "./source-files.ts";

const dataFolder = join(root, "../shared/data");
const suiteFolder = join(dataFolder, "json-schema-test-suite/tests/draft2020-12");
const bfclFolder = join(dataFolder, "bfcl");

/** Whether the public data is there. */
export const hasSchemas: boolean = existsSync(suiteFolder) && existsSync(bfclFolder);

/** A schema of arguments, and where it comes from. */
export interface NamedSchema {
  readonly source: string;
  readonly schema: JsonObject;
}

/** `count` schemas, half of them from each source, evenly picked; the same each time. */
export async function publicSchemas(count: number): Promise<readonly NamedSchema[]> {
  const suite = await suiteSchemas();
  const half = Math.ceil(count / 2);
  return [...evenly(suite, half), ...evenly(bfclSchemas(), count - half)];
}

interface SuiteGroup {
  readonly description: string;
  readonly schema: Json;
  readonly tests: readonly { readonly data: Json; readonly valid: boolean }[];
}

/** The schemas of the suite as that of one argument, where a value of its tests fits. */
async function suiteSchemas(): Promise<readonly NamedSchema[]> {
  const found: NamedSchema[] = [];
  for (const file of readdirSync(suiteFolder).filter((name) => name.endsWith(".json"))) {
    const groups = JSON.parse(readFileSync(join(suiteFolder, file), "utf8")) as readonly SuiteGroup[];
    for (const { description, schema, tests } of groups) {
      if (!isJsonObject(schema)) continue;
      const bundle = bundleSchemas({ value: schema });
      const properties = { value: bundle.at("value") };
      const whole = { type: "object", properties, required: ["value"], ...bundle.root };
      if (await hasValue(whole, tests)) found.push({ source: `${file}: ${description}`, schema: whole });
    }
  }
  return found;
}

async function hasValue(schema: JsonObject, tests: SuiteGroup["tests"]): Promise<boolean> {
  try {
    const reader = toSchema(schema, { name: "suite", role: "input", coerce: "none" });
    for (const { data } of tests) if ((await reader.parse({ value: data })).ok) return true;
    return false;
  } catch {
    return false; // refused by design, like references to other documents
  }
}

const bfclFiles = ["simple_python", "multiple", "live_simple", "live_multiple"];

function bfclSchemas(): readonly NamedSchema[] {
  return bfclFiles.flatMap((name) => {
    const lines = readFileSync(join(bfclFolder, `BFCL_v4_${name}.json`), "utf8")
      .trim()
      .split("\n");
    return lines.flatMap((line) => {
      const { id, function: functions } = JSON.parse(line) as {
        id: string;
        function: readonly { name: string; parameters: Json }[];
      };
      return functions.map((one) => ({
        source: `${id} ${one.name}`,
        schema: jsonSchemaOf(one.parameters) as JsonObject,
      }));
    });
  });
}

const typeNames: Readonly<Record<string, string | undefined>> = {
  dict: "object",
  float: "number",
  tuple: "array",
};

/**
 * BFCL names the types of Python, and gives defaults that their own schemas refuse (`"false"` for a boolean), which are notes there. Both go.
 */
function jsonSchemaOf(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([name, value]): [string, Json][] => {
    if (name === "default" || name === "optional" || (name === "type" && value === "any")) return [];
    if (name === "type" && typeof value === "string") return [[name, typeNames[value] ?? value]];
    if (name === "properties" && isJsonObject(value))
      return [
        [name, Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonSchemaOf(part)]))],
      ];
    return [[name, name === "items" || name === "additionalProperties" ? jsonSchemaOf(value) : value]];
  });
  return Object.fromEntries(entries);
}

function evenly<Item>(items: readonly Item[], count: number): readonly Item[] {
  return Array.from(
    { length: count },
    (_, index) => items[Math.floor((index * items.length) / count)],
  ).filter((item) => item !== undefined);
}

/** The verdict on a sample. `relaxed` breaks the schema only where its grammar says that it does not keep to it. */
export type Verdict = "valid" | "cut" | "relaxed" | "invalid";

export interface Sample {
  readonly source: string;
  readonly text: string;
  readonly verdict: Verdict;
  readonly issues: string;
}

export interface SampleOptions {
  readonly perSchema: number;
  /** The number of tokens after which a sample is cut. */
  readonly maxTokens: number;
}

/** Lets random weights write calls under the grammar of the JSON protocol, at temperature 1, with another seed each time. */
export async function sampleCalls(
  schemas: readonly NamedSchema[],
  { perSchema, maxTokens }: SampleOptions,
): Promise<readonly Sample[]> {
  const folder = mkdtempSync(join(tmpdir(), "writ-random-"));
  const path = join(folder, "random.gguf");
  writeRandomModel(path);
  const samples: Sample[] = [];
  const model = llamaCpp(path, { threads: 1 });
  try {
    for (const { source, schema } of schemas) {
      const target = tool({ name: "target", description: "", inputSchema: schema, execute: () => null });
      const { relaxed } = compileGrammar(target.input.jsonSchema);
      for (let seed = 1; seed <= perSchema; seed += 1) {
        const settings = { temperature: 1, seed, maxOutputTokens: maxTokens };
        const turn = turnOf({ target, model, settings });
        samples.push({ source, ...(await judge(await replyTo(turn), turn, { target, relaxed })) });
      }
    }
  } finally {
    await model.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
  return samples;
}

const driver = jsonDriver();

interface Asked {
  readonly target: Tool;
  readonly model: LlamaCppModel;
  readonly settings: TurnInput["settings"];
}

function turnOf({ target, model, settings }: Asked): TurnInput {
  return {
    transcript: addUser(emptyTranscript({ role: "system", text: "" }), userMessage("Go.")),
    allowed: allowList("samples", [target]),
    model,
    settings,
    examples: [],
    toolChoice: "required",
  };
}

/** The prompt is short: random weights read nothing. */
async function replyTo(turn: TurnInput): Promise<Reply> {
  const request = { ...driver.request(turn), messages: [userMessage("Go.")] };
  const reply = assemble(turn.model.id, ({ id, name }) => ({ id, name }));
  const { signal } = new AbortController();
  for await (const delta of turn.model.stream(request, { signal })) reply.push(delta);
  return reply.reply();
}

interface Judged {
  readonly target: Tool;
  readonly relaxed: readonly Relaxed[];
}

async function judge(
  reply: Reply,
  turn: TurnInput,
  { target, relaxed }: Judged,
): Promise<Omit<Sample, "source">> {
  const text = reply.message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (reply.finishReason === "length") return { text, verdict: "cut", issues: "" };
  const reading = driver.read(reply, turn);
  const [call] = reading.type === "calls" ? callsOf(reading.message) : [];
  if (call === undefined) return { text, verdict: "invalid", issues: `no call: ${reading.type}` };
  const reader = toSchema(target.input.jsonSchema, { name: "target", role: "input", coerce: "none" });
  const result = await reader.parse(call.arguments);
  if (result.ok) return { text, verdict: "valid", issues: "" };
  return { text, verdict: relaxed.length > 0 ? "relaxed" : "invalid", issues: JSON.stringify(result.issues) };
}

/** How many samples there are of each verdict. */
export function countVerdicts(samples: readonly Sample[]): Readonly<Record<Verdict, number>> {
  const count = (verdict: Verdict): number => samples.filter((sample) => sample.verdict === verdict).length;
  return { valid: count("valid"), cut: count("cut"), relaxed: count("relaxed"), invalid: count("invalid") };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      samples: { type: "string", default: "10" },
      tokens: { type: "string", default: "1000" },
      verbose: { type: "boolean", default: false },
    },
  });
  if (!hasSchemas) {
    console.log(`Nothing to do: the public schemas are not in ${dataFolder}.`);
    return;
  }
  const schemas = await publicSchemas(50);
  const began = performance.now();
  const samples = await sampleCalls(schemas, {
    perSchema: Number(values.samples),
    maxTokens: Number(values.tokens),
  });
  for (const { source, text, verdict, issues } of samples)
    if (verdict === "invalid" || (values.verbose && verdict === "relaxed"))
      console.log(verdict, source, text, issues);
  const { valid, cut, relaxed, invalid } = countVerdicts(samples);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(
    `${samples.length} samples of ${schemas.length} schemas in ${seconds} s: ${valid} valid, ${invalid} invalid,`,
  );
  console.log(
    `${relaxed} break only what their grammar leaves to validation, ${cut} cut at the token limit.`,
  );
  if (invalid > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
