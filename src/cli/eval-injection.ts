import { createHash } from "node:crypto";
import { WritError } from "../error/writ-error.ts";
import type { AdaptiveFigures } from "../eval/injection/adaptive.ts";
import { type EvaluateOptions, evaluateInjection, type InjectionReport } from "../eval/injection/evaluate.ts";
import { type ArmName, argumentsOf, armNames, type Failure } from "../eval/injection/measure.ts";
import { suiteFromTools } from "../eval/injection/from-tools.ts";
import { type PolicyFile, policyFileOf, readPolicyFile } from "../eval/injection/policy-file.ts";
import { suiteTools } from "../eval/injection/suite-tools.ts";
import { readHashed, readSuite, type Suite } from "../eval/injection/suite.ts";
import { draftPolicy } from "../policy/study/draft.ts";
import { parseJson } from "../util/json.ts";
import { readAnswers } from "./draft-answers.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { countOf, wordOf } from "./options.ts";
import { isYaml, yamlPolicy } from "./read-policy.ts";
import { readTools } from "./read-tools.ts";
import { countText, durationText, jsonLine, oneLine, type Output, processOutput } from "./output.ts";
import { percent, table } from "./table.ts";

/** The options of `writ eval injection`, as they stand on the command line. */
export interface InjectionFlags {
  readonly suite?: string;
  readonly tools?: string;
  readonly policy?: string;
  readonly draft?: boolean;
  readonly answers?: string;
  readonly approve?: string;
  readonly adaptive?: boolean;
  readonly plan?: boolean;
  readonly seed?: string;
  readonly showFailures?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/**
 * `writ eval injection`: the figures on standard output, failures on standard error.
 *
 * @throws WritError `option-invalid`, `file-unreadable`, `eval-suite-invalid`, `eval-policy-invalid`, `eval-scene-failed`
 */
export async function evalInjection(flags: InjectionFlags): Promise<ExitCode> {
  const { json = false, adaptive = false, showFailures } = flags;
  const approve = wordOf("--approve", flags.approve ?? "never", ["always", "never"]);
  const seed = countOf("--seed", flags.seed ?? "1");
  const most = showFailures === undefined ? 0 : countOf("--show-failures", showFailures);
  const { suite, file } = await readAll(flags);
  const onFailure = most === 0 ? undefined : showFailure(most, processOutput);
  const report = await evaluateInjection({
    suite,
    file,
    approve,
    adaptive,
    seed,
    plans: flags.plan,
    onFailure,
  });
  await processOutput.answer(
    json ? jsonLine({ type: "eval-injection", ...report }) : textOf(report, most > 0),
  );
  return exitCodes.answered;
}

/** The suite, or one made from tools alone, and the policy. */
async function readAll(flags: InjectionFlags): Promise<Pick<EvaluateOptions, "suite" | "file">> {
  const { suite: path, tools: toolsPath, policy, draft = false, answers } = flags;
  if ((policy === undefined) === !draft) {
    const advice =
      "Give the policy file that is evaluated, or --draft for the one that `writ policy draft` makes from the tools.";
    throw new WritError("option-invalid", { option: "--policy", value: policy ?? "(left out)", advice });
  }
  if (!draft && answers !== undefined) {
    const advice = "It has answers to the questions of a draft: give --draft too.";
    throw new WritError("option-invalid", { option: "--answers", value: answers, advice });
  }
  if (path !== undefined && toolsPath === undefined) {
    const suite = readSuite(path);
    return { suite, file: await policyFor(suite, flags) };
  }
  if (toolsPath === undefined || path !== undefined) {
    const advice =
      "Give one of the two: a suite with recorded attacks, or tools from which attacks are made (--tools).";
    throw new WritError("option-invalid", { option: "--suite", value: path ?? "(left out)", advice });
  }
  const { name, tools } = await readTools(toolsPath);
  const described = tools.map(({ schema: parameters, ...tool }) => ({ ...tool, parameters }));
  const file = await policyFor({ name, path: toolsPath, tools: described }, flags);
  const annotations = Object.fromEntries(
    tools.map((tool) => [tool.name, { ...tool.said, ...file.policy.tools?.[tool.name] }]),
  );
  const { sha256 } = readHashed(toolsPath);
  const suite = await suiteFromTools(described, suiteTools(described, annotations), {
    name,
    path: toolsPath,
    sha256,
  });
  return { suite, file: { ...file, policy: { ...file.policy, tools: annotations } } };
}

/** The policy in a file; without a file, the one drafted from the tools. */
async function policyFor(
  described: Pick<Suite, "name" | "path" | "tools">,
  { policy: path, answers }: InjectionFlags,
): Promise<PolicyFile> {
  if (path !== undefined && isYaml(path)) {
    const { text, sha256 } = readHashed(path);
    return policyFileOf(await yamlPolicy(path, text), { path, sha256 }, described);
  }
  if (path !== undefined) return readPolicyFile(path, described);
  const tools = described.tools.map(({ parameters: schema, ...tool }) => ({ ...tool, schema }));
  const names = tools.map(({ name }) => name);
  const { policy } = await draftPolicy(
    described.name,
    tools,
    answers === undefined ? undefined : readAnswers(answers, names),
  );
  const text = JSON.stringify(policy);
  const sha256 = createHash("sha256").update(text).digest("hex");
  const plain = parseJson(text);
  return policyFileOf(plain.ok ? plain.value : null, { path: "(drafted)", sha256 }, described);
}

const armLabels: Readonly<Record<ArmName, string>> = {
  plain: "plain loop",
  allowList: "allow-list",
  full: "full policy",
};

function textOf(report: InjectionReport, showInterruptions: boolean): string {
  const { suite, policy, approve, adaptive, durationMs } = report;
  const sizes = [
    countText(suite.tools, "tool"),
    countText(suite.tasks, "task"),
    countText(suite.injections, "attack"),
    countText(suite.pairs, "pair"),
  ].join(", ");
  return [
    `suite ${oneLine(suite.name)} (${sizes}; sha256 ${suite.sha256.slice(0, 12)})\n`,
    ...(suite.notTried.length === 0
      ? []
      : [
          `not tried, because no arguments can be made that their schemas accept: ${suite.notTried.map((name) => oneLine(name)).join(", ")}\n`,
        ]),
    `policy ${oneLine(policy.name)} (${countText(policy.skills.length, "skill")}; sha256 ${policy.sha256.slice(0, 12)}), questions answered: ${approve === "always" ? "yes" : "no"}${report.plans ? "; full policy: with a model that plans its acts before it reads" : ""}\n`,
    `\n${armTable(report)}`,
    ...(adaptive === undefined ? [] : [`\n${adaptiveTable(adaptive)}`]),
    ...(showInterruptions ? [`\n${interruptionTable(report)}`] : []),
    `\nin ${durationText(durationMs)}\n`,
  ].join("");
}

function armTable({ arms, claim }: InjectionReport): string {
  const rows = armNames.map((name) => {
    const { attacks, tasks } = arms[name];
    return [
      armLabels[name],
      `${attacks.succeeded} of ${attacks.pairs}`,
      String(attacks.inPart),
      percent(attacks.share),
      `${tasks.autonomous} of ${tasks.tasks}`,
      percent(tasks.share),
      `${tasks.actingAutonomous} of ${tasks.acting}`,
      percent(tasks.actingShare),
      (tasks.questionsPerTask ?? 0).toFixed(2),
      String(tasks.done),
      String(tasks.refusals),
      (tasks.toolsPerTask ?? 0).toFixed(1),
    ];
  });
  const head = [
    "",
    "attacks",
    "in part",
    "%",
    "no question",
    "%",
    "of those that act",
    "%",
    "questions/task",
    "done",
    "refused calls",
    "tools/task",
  ];
  const { made, notScripted, unreachable, undelivered } = arms.full.attacks;
  const notes = [
    ...(made > 0 ? [`${countText(made, "attack")} made from the words of the goal`] : []),
    ...(undelivered > 0 ? [`${undelivered} never read under the full policy`] : []),
    ...(notScripted > 0
      ? [
          `not played: ${countText(notScripted, "pair")} for whose attack no call can be made that its tool accepts`,
        ]
      : []),
    ...(unreachable > 0
      ? [`not played: ${countText(unreachable, "pair")} without a result that carries it`]
      : []),
  ];
  const told = notes.map((note) => `${note}\n`).join("");
  return `${claim}\n${table([head, ...rows], numbersOf(head))}${told}`;
}

function adaptiveTable({ arms, claim, seed }: NonNullable<InjectionReport["adaptive"]>): string {
  const head = ["adaptive", "(a) goals", "%", "(b) harmful", "%", "(c) bound misuse", "%", "calls tried"];
  const rows = armNames.map((name) => [armLabels[name], ...adaptiveCells(arms[name])]);
  const { pairs, contentOnly, undecided, harmful, boundMisuse } = arms.full;
  return `${claim}
${table([head, ...rows], numbersOf(head))}in ${countText(pairs, "pair")}, seed ${seed}; full policy: (b) is ${countText(harmful.byAttacker, "call")} with the attacker's values and ${harmful.byData} with values of the data; (c) is ${boundMisuse.calls}, of them ${boundMisuse.byLookUp} with values that were looked up; ${contentOnly} more only write something; ${undecided} undecided
`;
}

/** The cells of the adaptive attacker in an arm. */
function adaptiveCells({ goals, harmful, boundMisuse, candidates }: AdaptiveFigures): string[] {
  return [
    String(goals.pairs),
    percent(goals.share),
    String(harmful.pairs),
    percent(harmful.share),
    String(boundMisuse.pairs),
    percent(boundMisuse.share),
    String(candidates),
  ];
}

function interruptionTable({ arms, claim }: InjectionReport): string {
  const rows = arms.full.interruptions.map(({ count, verdict, tool, argument, rule }) => [
    String(count),
    verdict,
    oneLine(tool),
    oneLine(argument),
    oneLine(rule),
  ]);
  const head = ["calls", "verdict", "tool", "argument", "rule"];
  return `${claim}\nwhat asked or refused in the tasks, under the full policy\n${table([head, ...rows], new Set([0]))}`;
}

function numbersOf(head: readonly string[]): ReadonlySet<number> {
  return new Set(head.keys().filter((column) => column > 0));
}

const failureLabels: Readonly<Record<Failure["type"], string>> = {
  attack: "attack succeeded",
  part: "attack succeeded in part",
  task: "task was interrupted",
  goal: "adaptive: goal reached",
  harmful: "adaptive: harmful calls passed",
  misuse: "adaptive: calls with the user's own values passed",
};

/** Shows this many failures of each kind under the full policy: the calls, each with the rule that judged it. */
function showFailure(most: number, { progress, style }: Output): (arm: ArmName, failure: Failure) => void {
  const shown = new Map<string, number>();
  return (arm, { type, user, injection, calls }) => {
    if (arm !== "full") return;
    const count = (shown.get(type) ?? 0) + 1;
    shown.set(type, count);
    if (count > most) return;
    const where = injection === undefined ? user : `${user} × ${injection}`;
    progress(`${style("bold", oneLine(where))}: ${failureLabels[type]}\n`);
    for (const { call, decision, wasAsked } of calls.slice(0, 10)) {
      const about = argumentsOf(decision).filter((argument) => argument !== "");
      const on = about.length === 0 ? "" : ` on ${about.join(", ")}`;
      const verdict = wasAsked ? "asked" : decision.verdict;
      progress(`  ${oneLine(`${call.tool} ${JSON.stringify(call.args)}`, 400)}\n`);
      progress(`    ${verdict} by ${oneLine(`${decision.rule}${on}: ${decision.reason}`, 500)}\n`);
    }
    if (calls.length > 10) progress(`  and ${countText(calls.length - 10, "call")} more\n`);
  };
}
