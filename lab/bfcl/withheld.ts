import type { BfclCase } from "./cases.ts";

/**
 * Cases without the tools of their answers: the remaining tools are near to the question, and calling any of them is wrong. They are judged as cases of
 * `irrelevance`. A case is left out when all of its tools are right ones, or when it has no answer.
 */
export function withheld(cases: readonly BfclCase[]): readonly BfclCase[] {
  return cases.flatMap((test): readonly BfclCase[] => {
    const right = new Set(test.answers.map(({ name }) => name));
    const isLeft = ({ name }: { readonly name: string }): boolean => !right.has(name);
    const tools = test.tools.filter(isLeft);
    if (tools.length === 0 || right.size === 0) return [];
    return [
      { ...test, category: "irrelevance", functions: test.functions.filter(isLeft), tools, answers: [] },
    ];
  });
}
