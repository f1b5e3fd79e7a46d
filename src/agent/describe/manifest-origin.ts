import type { Tool, ToolOrigin } from "../../tool/tool.ts";
import type { Audit } from "./audit-data.ts";
import type { AgentManifest } from "./manifest-data.ts";

/** An agent that a call of a tool runs, as far as it can be looked into. */
export interface AgentInside {
  readonly name: string;
  readonly manifest?: () => Promise<AgentManifest>;
  readonly audit?: (only?: readonly string[]) => Audit;
  /** True if the agent is defined with `enforce: "isolated"`. */
  readonly enforces?: boolean;
  /** The only tools of it that are called from here. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Functions of the author's beside it are given the run, and may run agents in it that are listed nowhere. */
  readonly hasOthers?: boolean;
  /** Its definition, and the options with which it became a tool, where it did so by itself: whoever simulates it makes it again of them, with stand-ins. */
  readonly madeOf?: { readonly definition: object; readonly options?: object };
}

/** A tool that says what stands behind it. A copy of it says so too. */
interface FrontTool extends Tool {
  readonly inside?: readonly AgentInside[];
  readonly among?: Among;
}

/** Makes the execution of a tool that has the model pick one of several, with others in their places. */
type Among = (changed: (tool: Tool) => Tool) => Tool["execute"];

/** The same tool, which says that it is a server's. */
export function setOrigin(tool: Tool, origin: ToolOrigin): Tool {
  return { ...tool, origin };
}

/** The same tool, which says which agents a call of it runs; `among` where it has the model pick one of several tools. */
export function setInside(tool: Tool, inside: readonly AgentInside[], among?: Among): Tool {
  const front: FrontTool = { ...tool, inside, ...(among === undefined ? {} : { among }) };
  return front;
}

/** The server that a tool comes from. Undefined for tools that the author wrote. */
export function originOf(tool: Tool): ToolOrigin | undefined {
  return tool.origin;
}

/** The agents that a call of a tool runs; none for other tools. */
export function insideOf(tool: Tool): readonly AgentInside[] {
  return (tool as FrontTool).inside ?? [];
}

/** The maker of the execution of a tool that has the model pick one of several; undefined for other tools. */
export function amongOf(tool: Tool): Among | undefined {
  return (tool as FrontTool).among;
}
