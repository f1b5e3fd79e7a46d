/**
 * Has a chunk that many others share export few names. V8 looks through all exports of a module for each name that one of its functions takes from
 * outside, when the function runs first: with 450 exports that was a twelfth of a first run.
 */
import { basename } from "node:path";
import type { Plugin } from "rolldown";

/** The one export with all that other chunks need for themselves. */
const together = "ofCore";

/** What an entry passes on to programs stays an export of the chunk `core`: their bundlers leave out what they do not use. */
export const fewExports: Plugin = {
  name: "few-exports",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
    const core = chunks.find(({ name }) => name === "core");
    if (core === undefined) return;
    if (chunks.some(({ code }) => code.includes(together))) throw new Error(`a name of ours is ${together}`);
    const passedOn = new Set(chunks.filter(({ isEntry }) => isEntry).flatMap((entry) => entry.exports));
    const imports = new RegExp(String.raw`^import \{ (.+) \} from ("\S+/${basename(core.fileName)}");$`, "m");
    for (const chunk of chunks)
      chunk.code = chunk.code.replace(imports, (line, list: string, from: string) => {
        const { true: kept = [], false: taken } = Object.groupBy(
          namesIn(list),
          ({ first }) => `${passedOn.has(first)}`,
        );
        if (taken === undefined) return line;
        const fields = taken.map(({ first, second }) => (first === second ? first : `${first}: ${second}`));
        const importing = [...kept.map(({ text }) => text), together].join(", ");
        return `import { ${importing} } from ${from};\nconst { ${fields.join(", ")} } = ${together};`;
      });
    core.code = core.code.replace(/^export \{ (.+) \};$/m, (_line, list: string) => {
      const { true: kept = [], false: given = [] } = Object.groupBy(
        namesIn(list),
        ({ second }) => `${passedOn.has(second)}`,
      );
      const changing = given.find(({ first }) => core.code.includes(`\nlet ${first}`));
      if (changing !== undefined) throw new Error(`${changing.first} is shared and can change`);
      const fields = given.map(({ first, second }) => (first === second ? first : `${second}: ${first}`));
      const exporting = [...kept.map(({ text }) => text), together].join(", ");
      return `const ${together} = { ${fields.join(", ")} };\nexport { ${exporting} };`;
    });
  },
};

interface Name {
  readonly text: string;
  /** The name before `as`. */
  readonly first: string;
  readonly second: string;
}

function namesIn(list: string): readonly Name[] {
  return list.split(", ").map((text) => {
    const [first = text, second = first] = text.split(" as ");
    return { text, first, second };
  });
}
