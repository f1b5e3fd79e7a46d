import { agent, type AgentDefinition, type Hook, type RunOptions, skill } from "../../src/index.ts";
import { fakeTool, type FakeTool, scripted, type ScriptedModel, type ScriptStep } from "../../src/testing.ts";
import { calling, watch, type Watched } from "./watching.ts";

/** A run with hooks, and who was asked in it. */
export interface Scene extends Watched {
  readonly model: ScriptedModel;
  readonly look: FakeTool;
}

/** How the run differs from the usual. */
export interface SceneOptions {
  readonly steps?: readonly ScriptStep[];
  readonly definition?: Partial<AgentDefinition<undefined, undefined>>;
  readonly run?: RunOptions;
}

/** What the model says: it looks, then it is done. */
export const base: readonly ScriptStep[] = [calling(["look", { q: 1 }]), "Done."];

/** A run that comes through every place but those of failure: two turns, one call, two skills. */
export async function scene(hooks: readonly Hook[], options: SceneOptions = {}): Promise<Scene> {
  const model = scripted(options.steps ?? base);
  const look = fakeTool("look", "seen");
  const alpha = skill({ name: "alpha", description: "Looks", tools: [look] });
  const beta = skill({ name: "beta", description: "Does not look", tools: [] });
  const definition = {
    name: "a",
    model,
    skills: [alpha, beta],
    selectSkill: () => "alpha",
    hooks,
    markResults: false,
    ...options.definition,
  };
  const watched = await watch(agent(definition).stream("go", options.run));
  return { ...watched, model, look };
}

/** What the user, or the runtime in the user's place, says in a request. */
export const userTexts = (model: ScriptedModel, request: number): string[] =>
  (model.requests[request]?.messages ?? []).flatMap((message) =>
    message.role === "user" ? message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );
