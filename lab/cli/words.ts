import { type BfclCategory, bfclCategories } from "../bfcl/categories.ts";
import type { JudgedOutput } from "../bfcl/judge.ts";
import { listOf, wordOf } from "../../src/cli/options.ts";
import { oneLine, type Output } from "../../src/cli/output.ts";

/**
 * Categories by their names, between commas.
 *
 * @throws WritError `option-invalid`
 */
export function categoriesOf(value: string): readonly BfclCategory[] {
  return listOf(value).map((name) => wordOf("--categories", name, bfclCategories));
}

/** Shows so many wrong outputs of each model or driver in each category: the output, the calls found in it, and the right calls. */
export function showWrong(most: number, { progress, style }: Output): (judged: JudgedOutput) => void {
  const shown = new Map<string, number>();
  return ({ by, test, said, calls, wrong }) => {
    if (wrong === undefined) return;
    const key = `${by} ${test.category}`;
    const count = (shown.get(key) ?? 0) + 1;
    shown.set(key, count);
    if (count > most) return;
    progress(`${style("bold", oneLine(`${by} ${test.id}`))}: ${oneLine(wrong, 500)}\n`);
    progress(`  said    ${said === "" ? "nothing" : oneLine(JSON.stringify(said), 1500)}\n`);
    progress(`  found   ${textOf(calls)}\n`);
    progress(`  answer  ${textOf(test.answers)}\n`);
  };
}

function textOf(calls: readonly { readonly name: string; readonly arguments: unknown }[]): string {
  const texts = calls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`);
  return texts.length === 0 ? "nothing" : oneLine(texts.join("; "), 800);
}
