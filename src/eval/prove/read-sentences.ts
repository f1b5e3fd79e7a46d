import { asSentence } from "../../util/as-sentence.ts";
import { extname } from "node:path";
import { checkFields } from "../../adapters/files/check-fields.ts";
import { readFields } from "../../adapters/files/located.ts";
import { readText } from "../../adapters/files/read-text.ts";
import { WritError } from "../../error/writ-error.ts";
import { misfitText, object } from "../../util/shape.ts";
import { type Sentence, sentencesShape } from "./sentence.ts";

const maxBytes = 1_048_576;

/** The fields of such a file. The fields of each sentence are checked after it. */
const schema = {
  type: "object",
  properties: { sentences: { type: "array", items: { type: "object" }, minItems: 1 } },
  required: ["sentences"],
  additionalProperties: false,
} as const;

/**
 * Reads sentences from a file in JSON or YAML, a list under `sentences`.
 *
 * @throws WritError `eval-sentences-invalid` with the line and the field, `file-unreadable`
 */
export async function readSentences(path: string): Promise<readonly Sentence[]> {
  const { text, leftOutBytes } = await readText(path, { maxBytes });
  if (leftOutBytes > 0) throw invalid(path, undefined, `it is larger than ${maxBytes} bytes`);
  const read = await readFields({ text, format: extname(path) === ".json" ? "json" : "yaml" });
  if (!read.ok) throw invalid(path, read.problem.line, read.problem.reason);
  const [problem] = await checkFields(read, { schema, file: path });
  if (problem !== undefined) throw invalid(path, problem.line, `\`${problem.field}\`: ${problem.reason}`);
  const { sentences } = read.fields;
  const fault = misfitText(object({ sentences: sentencesShape }), read.fields);
  if (fault !== undefined) throw invalid(path, read.lineOf(["sentences", placeIn(fault)]), fault);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has that shape
  return sentences as unknown as readonly Sentence[];
}

/** The number of the sentence that a fault names. */
function placeIn(fault: string): number {
  return Number(/sentences\[(\d+)\]/.exec(fault)?.[1] ?? 0);
}

function invalid(path: string, line: number | undefined, reason: string): WritError {
  const place = line === undefined ? path : `${path}:${line}`;
  return new WritError("eval-sentences-invalid", { place, reason: asSentence(reason) });
}
