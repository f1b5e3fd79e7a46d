import type { Problem } from "../../adapters/files/located.ts";
import { modelNamed, resolveModel } from "../../adapters/model/resolve.ts";
import type { ModelSource } from "../../agent/definition.ts";
import { messageOf } from "../../error/writ-error.ts";
import type { Model } from "../../model/model.ts";
import { pathText } from "../../schema/schema.ts";
import { toSchema } from "../../schema/to-schema.ts";
import { isJsonObject, type JsonObject, toJson } from "../../util/json.ts";
import { didYouMean } from "../../util/nearest.ts";
import { answerChecks } from "./answer-checks.ts";
import { callChecks, callMatcher, neverChecks, orderCheck } from "./call-checks.ts";
import { caseFields } from "./case-fields.ts";
import type { Check } from "./check.ts";
import type { CostBounds, ExpectedJudgement, RecordedRun } from "./eval-case.ts";
import type { EvaluatedRun } from "./eval-report.ts";
import type { Evaluable } from "./evaluable.ts";
import { expanded, type FullCase, type FullExpectations } from "./expanded.ts";
import { casesInvalid, type LocatedCase } from "./read-cases.ts";

/** A case after its checks, with everything that stays the same in all its runs. */
export interface PreparedCase {
  readonly fields: FullCase;
  readonly checks: readonly Check[];
  readonly judge?: ExpectedJudgement & { readonly by: Model | undefined };
}

/** Everything that cases are checked against, beside their own fields. */
export interface PrepareOptions {
  readonly agent: Evaluable;
  /** The model that judges if a case names none. */
  readonly judge: ModelSource | undefined;
  /** The model that replaces the agent's own. */
  readonly model: Model | undefined;
  /** True if every case must be playable without a model. */
  readonly offline: boolean;
  /** True if the replies of the models are kept. */
  readonly record: boolean;
  /** The number of runs of a case that does not set it. */
  readonly runs: number;
}

type Path = readonly (string | number)[];
type Tell = (path: Path, reason: string) => void;

/**
 * Checks the cases of an evaluation before any of them runs: fields, patterns and schemas, names of cases and
 * of tools, and that each judge has a model.
 *
 * @throws WritError `eval-cases-invalid` with everything that is wrong
 */
export async function prepareCases(
  cases: readonly LocatedCase[],
  options: PrepareOptions,
): Promise<readonly PreparedCase[]> {
  const problems: Problem[] = [];
  const prepared: PreparedCase[] = [];
  const names = new Set<string>();
  if (cases.length === 0) problems.push({ file: "cases", reason: "there are none" });
  for (const located of cases) {
    const { where, lineOf } = located;
    const tell: Tell = (path, reason) =>
      void problems.push({ file: where, line: lineOf(path), field: pathText(path), reason });
    const fields = await checkedFields(located, tell);
    if (fields === undefined) continue;
    if (names.has(fields.name)) tell(["name"], `another case is called ${JSON.stringify(fields.name)} too`);
    names.add(fields.name);
    prepared.push(prepare(fields, options, tell));
  }
  if (problems.length > 0) throw casesInvalid(problems);
  return prepared;
}

/** The fields of a case in full; those of a file were checked when it was read. */
async function checkedFields({ fields }: LocatedCase, tell: Tell): Promise<FullCase | undefined> {
  const { file, recorded, ...own } = fields;
  const json = toJson(own);
  if (!json.ok || !isJsonObject(json.value)) {
    tell([], json.ok ? "a case is an object" : json.reason);
    return undefined;
  }
  const full: JsonObject = expanded(json.value);
  const parsed = await toSchema(caseFields, { name: "case", role: "input", coerce: "none" }).parse(full);
  if (!parsed.ok) {
    for (const { path, message } of parsed.issues) tell(path, message);
    return undefined;
  }
  const more = { ...(file === undefined ? {} : { file }), ...(recorded === undefined ? {} : { recorded }) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema took it
  return { ...(full as unknown as FullCase), ...more };
}

function prepare(fields: FullCase, options: PrepareOptions, tell: Tell): PreparedCase {
  checkConversation(fields, tell);
  checkResults(fields, tell);
  checkTools(fields, options.agent, tell);
  checkModels(fields, options, tell);
  if (options.offline) checkInside(fields, options.agent, tell);
  const checks = checksOf(fields.expect, tell);
  const { judge, outcome = "answered" } = fields.expect;
  if (judge === undefined) return { fields, checks };
  if (outcome !== "answered")
    tell(["expect", "judge"], `only an answer is judged, and the run is to be ${outcome}`);
  const source = judge.model ?? options.judge;
  if (source === undefined && fields.recorded === undefined)
    tell(["expect", "judge"], "no model judges: name one here as `model`, or for all cases with --judge");
  const by =
    source === undefined
      ? undefined
      : attempt(["expect", "judge", "model"], tell, () =>
          typeof source === "string" ? modelNamed(source) : resolveModel(source, "judge"),
        );
  return { fields, checks, judge: { ...judge, by } };
}

function checkConversation({ input }: FullCase, tell: Tell): void {
  if (!Array.isArray(input)) return;
  if (input.at(-1)?.role !== "user") tell(["input"], "the last message of a conversation is the user's");
}

function checkResults({ results }: FullCase, tell: Tell): void {
  for (const [index, { result, error, with: wanted }] of results.entries()) {
    const path = ["results", index];
    if ((result === undefined) === (error === undefined)) tell(path, "give either `result` or `error`");
    if (wanted !== undefined) attempt([...path, "with"], tell, () => callMatcher({ tool: "", with: wanted }));
  }
}

/**
 * Checks that the names of tools are the agent's, if these are known: a misspelt name in `never` would always
 * pass.
 */
function checkTools(
  { expect, results, approve }: FullCase,
  { tools, hasAgentsInside = false }: Evaluable,
  tell: Tell,
): void {
  if (tools === undefined) return;
  const near = (name: string): string => didYouMean(name, tools) || `: ${tools.join(", ") || "none"}`;
  const check = (name: string, path: Path): void => {
    if (!hasAgentsInside && !tools.includes(name)) tell(path, `the agent has no tool "${name}"${near(name)}`);
  };
  for (const list of ["calls", "order", "never"] as const)
    for (const [index, { tool }] of (expect[list] ?? []).entries()) check(tool, ["expect", list, index]);
  for (const [index, { tool }] of results.entries()) {
    check(tool, ["results", index]);
    if (hasAgentsInside && !tools.includes(tool))
      tell(
        ["results", index],
        `the agent has no tool "${tool}" of its own${near(tool)}. Those of agents inside run as they are.`,
      );
  }
  if (typeof approve === "object")
    for (const [index, tool] of approve.entries()) check(tool, ["approve", index]);
}

/** Checks that each case has a model that can be asked, and that the parts it replaces can be replaced. */
function checkModels(fields: FullCase, options: PrepareOptions, tell: Tell): void {
  const { replies, recorded, results } = fields;
  const { agent, model, offline, record } = options;
  const hasScript = replies !== undefined || recorded !== undefined || record;
  if (agent.own === undefined && (hasScript || results.length > 0 || model !== undefined))
    tell(["name"], `${agent.name} is made of several agents, whose models and tools stay as they are`);
  const { runs = options.runs } = fields;
  if (recorded !== undefined && recorded.length < runs)
    tell(["name"], `${recorded.length} of ${runs} runs were recorded: record it again with --record`);
  const { judge, snapshot = false } = fields.expect;
  const needsRecording = replies === undefined || judge !== undefined || snapshot;
  if (offline && recorded === undefined && needsRecording)
    tell(["name"], "nothing was recorded of it: run it once with --record");
}

/** Checks that no agent inside would ask its model in a replay. */
function checkInside(
  { recorded = [], results }: FullCase,
  { asking = new Set() }: Evaluable,
  tell: Tell,
): void {
  const stoodIn = new Set(results.map(({ tool }) => tool));
  for (const tool of asking)
    if (!stoodIn.has(tool) && recorded.some((run) => lacksInside(run, tool)))
      tell(
        ["name"],
        `no replies of the agents behind ${tool} were recorded: record it again with --record, or give \`results\` for it`,
      );
}

/** True if the run called this tool, and has no replies of agents behind it. */
function lacksInside({ inside = {}, snapshot }: RecordedRun, tool: string): boolean {
  const isCalled = snapshot?.calls.some((call) => call.tool === tool) === true;
  return isCalled && !Object.keys(inside).some((path) => path === tool || path.startsWith(`${tool}/`));
}

function checksOf(expect: FullExpectations, tell: Tell): Check[] {
  const { outcome = "answered", answer = {}, calls = [], order = [], never = [], atMost = {} } = expect;
  const each = (field: string, make: () => Check["fault"]): Check[] => {
    const path = ["answer", field];
    const fault = attempt(["expect", ...path], tell, make);
    return fault === undefined ? [] : [{ path, fault }];
  };
  const matchers = (name: "calls" | "order" | "never", list: typeof calls) =>
    list.flatMap(
      (wanted, index) => attempt(["expect", name, index, "with"], tell, () => callMatcher(wanted)) ?? [],
    );
  return [
    {
      path: ["outcome"],
      fault: (run) =>
        run.outcome === outcome
          ? undefined
          : `the run ${run.outcome === "answered" ? "answered" : `is ${run.outcome}`}, not ${outcome}${run.error === undefined ? "" : `: ${run.error.message}`}`,
    },
    ...answerChecks(answer, each),
    ...callChecks(matchers("calls", calls)),
    ...(order.length === 0 ? [] : [orderCheck(matchers("order", order))]),
    ...neverChecks(matchers("never", never)),
    ...costChecks(atMost),
  ];
}

/** The made value; undefined if `make` throws, which is reported. */
function attempt<Made>(path: Path, tell: Tell, make: () => Made): Made | undefined {
  try {
    return make();
  } catch (error) {
    tell(path, messageOf(error));
    return undefined;
  }
}

const spent: { readonly [Field in keyof CostBounds]-?: (run: EvaluatedRun) => number | undefined } = {
  turns: ({ turns }) => turns,
  toolCalls: ({ calls }) => calls.length,
  tokens: ({ usage }) => usage.inputTokens + usage.outputTokens,
  costUsd: ({ costUsd }) => costUsd,
  durationMs: ({ durationMs }) => durationMs,
};

/** Checks of the use of a run. */
function costChecks(bounds: CostBounds): Check[] {
  return Object.entries({ ...bounds }).map(([field, bound]) => ({
    path: ["atMost", field],
    fault(run) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a field of the bounds
      const took = spent[field as keyof CostBounds](run);
      if (took === undefined) return "the model has no price: give the agent `budget.price`";
      return took <= bound ? undefined : `${field} were ${took}, and ${bound} are allowed`;
    },
  }));
}
