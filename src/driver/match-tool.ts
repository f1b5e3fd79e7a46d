import { matchName } from "../model/tool-names.ts";
import type { AllowList } from "../policy/allow-list.ts";

/**
 * The tool that a model means by a name in text: the one of that name, else the only one with a similar spelling; else the name as it
 * is, which belongs to no tool. A prompt shows `kom.memory.search`, and models write `kom_memory_search`.
 */
export function matchTool(name: string, { tools }: AllowList): string {
  return matchName(name, tools.keys()) ?? name;
}
