import { visibleJson } from "../util/json.ts";
import { isCut } from "./bounded.ts";
import type { InspectedCall, InspectedRun, InspectedTurn } from "./view.ts";

/** The test of a run, or the reason why there is none. */
export type RunAsTest = { readonly text: string } | { readonly cannot: string };

/**
 * A run, or one call of it, as a test for vitest: a script gives the model's replies, calls return the recorded results, people give the recorded answers, and
 * the agent's own allow-list, arguments, hooks and policy must decide as before.
 */
export function runAsTest(run: InspectedRun, call?: InspectedCall): RunAsTest {
  const turns = run.turns.filter(({ number }) => call === undefined || number <= call.turn);
  const calls = turns.flatMap((turn) => turn.calls);
  if (calls.some(({ decision, state }) => decision === undefined && state === "refused"))
    return { cannot: "Why a call of it did not run is not known: a test could not say what is expected." };
  const decided = (call === undefined ? calls : [call]).flatMap(decisionLine);
  const results = calls.filter(({ spans }) => spans.some(({ phase }) => phase === "executed")).map(resultOf);
  const answers = calls.flatMap(({ question }) =>
    question === undefined ? [] : [question.answer?.approved === true],
  );
  const parts = { input: run.input, replies: turns.map(replyOf), results, answers, decided };
  if (isCut(JSON.stringify(parts)))
    return { cannot: "Its texts are too long for this page, which has them in part." };
  return { text: visibleJson(textOf(nameOf(run, call), parts, call !== undefined)) }; // people read it as code
}

interface Parts {
  readonly input: InspectedRun["input"];
  readonly replies: readonly unknown[];
  readonly results: readonly unknown[];
  readonly answers: readonly boolean[];
  readonly decided: readonly string[];
}

const nameOf = ({ run }: InspectedRun, call: InspectedCall | undefined): string =>
  call === undefined
    ? `${run.agent} decides as in the run ${run.id}`
    : `${run.agent} decides about ${call.tool} as in the run ${run.id}`;

const decisionLine = ({ tool, decision }: InspectedCall): readonly string[] =>
  decision === undefined ? [] : [`${tool} ${decision.verdict} ${decision.rule}`];

function replyOf({ model, calls }: InspectedTurn): unknown {
  const text = model?.text ?? "";
  if (calls.length === 0) return text;
  const made = calls.map(({ tool, proposed }) => ({ name: tool, arguments: proposed }));
  return text === "" ? { calls: made } : { text, calls: made };
}

function resultOf({ tool, status, result }: InspectedCall): unknown {
  if (status !== "ok") return { tool, error: result?.text ?? "it has no result" };
  return { tool, value: result?.value ?? result?.text ?? "" };
}

/** The import of the agent's file, joined here so that no tool reads it as an import of this file. */
const agentFile = JSON.stringify(["./agent", "ts"].join("."));

const shown = (value: unknown): string => JSON.stringify(value, undefined, 2).replaceAll("\n", "\n  ");

const textOf = (
  name: string,
  { input, replies, results, answers, decided }: Parts,
  isOne: boolean,
): string => `import { expect, it } from "vitest";
import { scripted } from "writ/testing";
import agent from ${agentFile}; // the file of your agent

it(${JSON.stringify(name)}, async () => {
  const replies = ${shown([...replies, "That is all."])};
  // The results of tools, in the order of their calls: none of them runs.
  const results: { tool: string; value?: unknown; error?: string }[] = ${shown(results)};
  const resultOf = (tool: string) => {
    const place = results.findIndex((result) => result.tool === tool);
    return place < 0 ? { value: null } : (results.splice(place, 1)[0] ?? { value: null });
  };
  const answers = ${JSON.stringify(answers)};
  const decided = new Map<string, string>();
  const played = agent.with({
    model: scripted(replies),
    executor: {
      execute: (calls) =>
        calls.map(({ id, name }) => {
          const { value, error } = resultOf(name);
          return error === undefined ? { callId: id, value } : { callId: id, error: new Error(error) };
        }),
    },
  });
  await played.run(${shown(input)}, {
    approve: () => answers.shift() ?? false,
    onEvent: (event) => {
      if (event.type !== "call-decided" || decided.has(\`\${event.turn} \${event.callId}\`)) return;
      const { verdict, rule } = event.decision;
      decided.set(\`\${event.turn} \${event.callId}\`, \`\${event.name} \${verdict} \${rule}\`);
    },
  });
  expect([...decided.values()]).${isOne ? `toContain(${JSON.stringify(decided[0] ?? "")})` : `toEqual(${shown(decided)})`};
});
`;
