import type { LintedTool } from "../policy/study/lint.ts";
import { widenings } from "../policy/study/narrow.ts";
import { toSchema } from "../schema/to-schema.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import type { OutputFlags } from "./options.ts";
import { countText, jsonLine, oneLine, processOutput } from "./output.ts";
import { readPolicy } from "./read-policy.ts";
import { readTools, type ToolsFile } from "./read-tools.ts";
import { table } from "./table.ts";

/** The options of `writ policy lint`. */
export interface LintFlags extends OutputFlags {
  readonly tools?: string;
}

/** `writ policy lint <policy>`. @throws WritError `file-unreadable`, `policy-invalid`, and the errors of reading tools */
export async function lintPolicy(path: string, { tools, json = false }: LintFlags): Promise<ExitCode> {
  const policy = await readPolicy(path);
  const findings = policy.lint(tools === undefined ? undefined : lintedTools(await readTools(tools)));
  const ok = findings.length === 0;
  if (json) await processOutput.answer(jsonLine({ type: "policy-lint", ok, findings }));
  else {
    const rows = findings.map(({ type, rule, text }) => [type, oneLine(rule), oneLine(text, 500)]);
    await processOutput.answer(ok ? "nothing was found\n" : table(rows));
  }
  return ok ? exitCodes.answered : exitCodes.failed;
}

function lintedTools({ tools }: ToolsFile): readonly LintedTool[] {
  return tools.map(({ name, schema, said }) => ({
    name,
    input: toSchema(schema, { name, role: "input" }),
    ...(said?.effect === undefined ? {} : { effect: said.effect }),
  }));
}

/** `writ policy diff <before> <after>`: prints what the second may allow more. @throws WritError `file-unreadable`, `policy-invalid` */
export async function diffPolicies(
  before: string,
  after: string,
  { json = false }: OutputFlags,
): Promise<ExitCode> {
  const [was, is] = [(await readPolicy(before)).toJSON(), (await readPolicy(after)).toJSON()];
  const [wider, narrower] = [widenings(was, is), widenings(is, was)];
  const isWider = wider.length > 0;
  if (json) await processOutput.answer(jsonLine({ type: "policy-diff", wider, narrower }));
  else {
    const lines = [
      ...wider.map((text) => `it may allow more: it ${oneLine(text, 500)}`),
      ...narrower
        .filter((text) => !wider.includes(text))
        .map((text) => `no more: before, it ${oneLine(text, 500)}`),
    ];
    const none = `${oneLine(after)} decides as ${oneLine(before)} does`;
    await processOutput.answer(`${lines.length === 0 ? none : lines.join("\n")}\n`);
    if (isWider) processOutput.progress(`${countText(wider.length, "change")} may allow more.\n`);
  }
  return isWider ? exitCodes.failed : exitCodes.answered;
}
