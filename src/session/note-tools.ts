import { checkShape, closed, fromOne } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { type Labelled, labelled } from "../tool/labelled.ts";
import { tool, type Tool, type ToolContext } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";
import { callable, either, having, optional, string } from "../util/shape.ts";
import { textIn } from "./memory-tools.ts";
import type { Note, NoteStore } from "./note-store.ts";

/** The options of {@link noteTools}. */
export interface NoteToolsOptions {
  readonly store: NoteStore;
  /** The owner of the notes: a user, an agent, or both (`kim/butler`). A function is called at each call. The model never chooses it. */
  readonly namespace: string | ((context: ToolContext) => string);
  /** The most notes of a namespace; a full one takes no more. Default 1,000. */
  readonly maxNotes?: number;
  /** The most characters of a note; a longer one is refused. Default 2,000. */
  readonly maxCharacters?: number;
  /** The most notes that one search returns. Default 5. */
  readonly limit?: number;
}

const optionsShape = closed({
  store: having("a store of notes, like inMemoryNotes()", "put", "search", "remove"),
  namespace: either(string, callable),
  maxNotes: optional(fromOne),
  maxCharacters: optional(fromOne),
  limit: optional(fromOne),
});

/**
 * Makes the tools of a memory of many small notes, found by their words: `remember`, `recall` and `forget`. They use one namespace, which
 * the author chooses. A note keeps the label of what its run had read: a stranger's words stay a stranger's when they are recalled.
 *
 * @throws WritError `definition-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { noteTools } from "writ/session";
 * import { sqliteNotes } from "writ/sqlite";
 *
 * const store = sqliteNotes("notes.db");
 * const butler = agent({ name: "butler", model: "ollama/qwen2.5:7b" });
 * export const butlerOf = (user: string) => butler.with({ tools: [noteTools({ store, namespace: user })] });
 * ```
 */
export function noteTools(options: NoteToolsOptions): readonly Tool[] {
  checkShape("noteTools()", options, optionsShape);
  const made = [rememberTool(options), recallTool(options), forgetTool(options)];
  return made.map((each) => ({ ...each, kind: "memory", trusted: true, exclusiveKey: () => "memory" }));
}

function rememberTool({ store, maxNotes = 1000, maxCharacters = 2000, ...options }: NoteToolsOptions): Tool {
  return tool({
    name: "remember",
    description:
      "Keep a note for later runs: one fact each, in words by which it can be found. `replaces`: the id of a note that this one takes the place of.",
    inputSchema: fields(
      { text: { type: "string", minLength: 1, maxLength: maxCharacters } },
      { replaces: { type: "string" } },
    ),
    effect: "write",
    async execute(args, context) {
      const replaces = args["replaces"] === undefined ? {} : { replaces: textIn(args, "replaces") };
      const note = { text: textIn(args, "text"), label: context.label, ...replaces };
      const id = await store.put(namespaceOf(options, context), note, maxNotes);
      if (id !== undefined) return { id };
      return replaces.replaces === undefined
        ? `Not kept: there are ${maxNotes} notes already. Forget some, or replace one.`
        : `Not kept: there is no note "${replaces.replaces}".`;
    },
  });
}

function recallTool({ store, limit = 5, ...options }: NoteToolsOptions): Tool {
  return tool({
    name: "recall",
    description: `Find notes of this and of earlier runs by their words, at most ${limit}; with an empty query, the latest ones.`,
    inputSchema: fields(
      { query: { type: "string" } },
      { limit: { type: "integer", minimum: 1, maximum: limit } },
    ),
    effect: "read",
    async execute(args, context) {
      const namespace = namespaceOf(options, context);
      const wanted = Math.min(limit, Number(args["limit"] ?? limit));
      const notes = (await store.search(namespace, textIn(args, "query"), wanted)).slice(0, wanted);
      return recalled(notes, namespace);
    },
  });
}

function forgetTool({ store, ...options }: NoteToolsOptions): Tool {
  return tool({
    name: "forget",
    description: "Take a note out of the memory, by its id.",
    inputSchema: fields({ id: { type: "string" } }),
    effect: "write",
    async execute(args, context) {
      const id = textIn(args, "id");
      const isGone = await store.remove(namespaceOf(options, context), id);
      return isGone ? "Forgotten." : `There is no note "${id}".`;
    },
  });
}

/** Notes as the model sees them, with the join of their labels. */
function recalled(notes: readonly Note[], namespace: string): Labelled<Json> {
  const label = notes.reduce<Label>((joined, note) => joinLabels(joined, note.label), trustedLabel);
  const shown = notes.map(({ id, text }) => ({ id, text }));
  if (label === trustedLabel) return labelled(shown, {});
  return labelled(shown, { ...label, sources: [...label.sources, `memory/${namespace}`] });
}

/** @throws WritError `definition-invalid` unless the namespace is text: the call fails, and nothing is read */
function namespaceOf({ namespace }: Pick<NoteToolsOptions, "namespace">, context: ToolContext): string {
  const chosen: unknown = typeof namespace === "function" ? namespace(context) : namespace;
  if (typeof chosen === "string" && chosen !== "") return chosen;
  const reason = "`namespace` must be, or give, a text that is not empty.";
  throw new WritError("definition-invalid", { where: "noteTools()", reason });
}

function fields(
  required: Readonly<Record<string, JsonSchema>>,
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const properties = { ...required, ...more };
  return { type: "object", properties, required: Object.keys(required), additionalProperties: false };
}
