import type { JsonObject } from "../../util/json.ts";
import { firstOf, firstTwice, objectOf, objectsOf, textOf } from "./fields.ts";
import { invalid, type ProviderError } from "./wire.ts";

/** The blocks of a message; a text is one block. */
export function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === "string"
    ? content === ""
      ? []
      : [{ type: "text", text: content }]
    : objectsOf(content);
}

/** Consecutive messages of one role, which the interface combines. `index` is that of the first. */
interface Turn {
  readonly index: number;
  readonly role: string;
  readonly blocks: readonly JsonObject[];
}

/** The turns of a conversation. */
export function turnsOf(messages: readonly JsonObject[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const role = textOf(message["role"]);
    const last = turns.at(-1);
    if (last?.role === role)
      turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocksOf(message)] };
    else turns.push({ index, role, blocks: blocksOf(message) });
  }
  return turns;
}

/** The ids of the blocks of a type. */
function idsOf(blocks: readonly JsonObject[], type: string): readonly string[] {
  return blocks
    .filter((block) => block["type"] === type)
    .map((block) => textOf(block[type === "tool_use" ? "id" : "tool_use_id"]));
}

/** Checks that each call has one result, first in the next turn, and that each result has its call. */
export function checkPairs(turns: readonly Turn[]): ProviderError | undefined {
  const twice = firstTwice(turns.flatMap(({ blocks }) => idsOf(blocks, "tool_use")));
  if (twice !== undefined) return invalid(`messages: \`tool_use\` ids must be unique: ${twice}`);
  return firstOf(turns, ({ index, blocks }, place) => {
    const before = idsOf(turns[place - 1]?.blocks ?? [], "tool_use");
    const results = idsOf(blocks, "tool_result");
    const stray = results.find((id) => !before.includes(id));
    if (stray !== undefined) {
      const where = blocks.findIndex((block) => block["tool_use_id"] === stray);
      return invalid(
        `messages.${index}.content.${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    const double = firstTwice(results);
    if (double !== undefined)
      return invalid(
        `messages.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${double}`,
      );
    return checkAnswered({ index, blocks }, turns[place + 1]);
  });
}

function checkAnswered({ index, blocks }: Omit<Turn, "role">, next?: Turn): ProviderError | undefined {
  const after = next?.blocks ?? [];
  const end = after.findIndex((block) => block["type"] !== "tool_result");
  const answered = idsOf(end === -1 ? after : after.slice(0, end), "tool_result");
  const open = idsOf(blocks, "tool_use").filter((id) => !answered.includes(id));
  if (open.length === 0) return undefined;
  return invalid(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

/** Checks that, with thinking `enabled`, a turn whose calls are being answered begins with its thinking. */
export function checkThought(body: JsonObject, turns: readonly Turn[]): ProviderError | undefined {
  const answered = turns.at(-2);
  const isAnswer = idsOf(turns.at(-1)?.blocks ?? [], "tool_result").length > 0;
  const type = textOf(answered?.blocks[0]?.["type"]);
  if (objectOf(body["thinking"])["type"] !== "enabled" || !isAnswer || type.endsWith("thinking"))
    return undefined;
  return invalid(
    `messages.${answered?.index ?? 0}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  );
}
