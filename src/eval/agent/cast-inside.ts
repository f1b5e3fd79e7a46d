import { agent } from "../../adapters/node.ts";
import { resolveModel } from "../../adapters/model/resolve.ts";
import type { AsToolOptions } from "../../agent/as-tool.ts";
import type { AnyDefinition, ModelSource } from "../../agent/definition.ts";
import { amongOf, insideOf } from "../../agent/describe/manifest-origin.ts";
import type { Tool } from "../../tool/tool.ts";
import type { RecordedModel } from "./eval-case.ts";
import { withTools } from "./evaluable.ts";
import { recordingModel, type RecordingModel, replayingModel } from "./record-model.ts";

/** The models of the agents inside, in one run: recorded, or replayed. A model is known by the names of the tools that lead to its agent. */
export interface CastInside {
  readonly modelAt: (path: string, source: ModelSource) => ModelSource;
  readonly recorded: () => Readonly<Record<string, RecordedModel>> | "broken";
}

/** Keeps the replies of the models of the agents inside. */
export function recordInside(): CastInside {
  const models = new Map<string, RecordingModel>();
  return {
    modelAt(path, source) {
      const made = models.get(path) ?? recordingModel(resolveModel(source, path));
      models.set(path, made);
      return made.model;
    },
    recorded() {
      const kept: Record<string, RecordedModel> = {};
      for (const [path, model] of models) {
        const recorded = model.recorded();
        if (recorded === "broken") return recorded;
        kept[path] = recorded;
      }
      return kept;
    },
  };
}

/** Plays the replies of the models of the agents inside, and asks none of them. */
export function replayInside(
  inside: Readonly<Record<string, RecordedModel>>,
  onOther: () => void,
): CastInside {
  const models = new Map<string, ModelSource>();
  return {
    modelAt(path) {
      const made = models.get(path) ?? replayingModel(inside[path] ?? { features: {}, replies: [] }, onOther);
      models.set(path, made);
      return made;
    },
    recorded: () => inside,
  };
}

/** The same tool, with other models in the agents behind it. Models that are functions stay, as do agents that are put together by functions. */
export function withCastInside(tool: Tool, cast: CastInside, path: string = tool.name): Tool {
  const among = amongOf(tool);
  const castAt = (each: Tool): Tool => withCastInside(each, cast, `${path}/${each.name}`);
  if (among !== undefined) return { ...tool, execute: among(castAt) };
  const inside = insideOf(tool);
  const madeOf = inside.length === 1 ? inside[0]?.madeOf : undefined;
  if (madeOf?.options === undefined) return tool;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- asTool() keeps both there
  const { definition, options } = madeOf as { definition: AnyDefinition; options: AsToolOptions };
  const { model } = definition;
  const changed = {
    ...definition,
    ...withTools(definition, castAt),
    ...(model === undefined || typeof model === "function" ? {} : { model: cast.modelAt(path, model) }),
  };
  const front = agent(changed).asTool(options);
  return { ...tool, execute: (args, context) => front.execute(args, context) };
}
