import type { BfclCase } from "./cases.ts";

/**
 * Cases without the tools of their answers: what is left is near to what is asked, and calling any of it is wrong. They are judged as cases of
 * `irrelevance`. A case whose tools are all right ones is left out.
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
