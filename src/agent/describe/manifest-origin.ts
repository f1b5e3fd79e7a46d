import type { Tool, ToolOrigin } from "../../tool/tool.ts";
import type { Audit } from "./audit-data.ts";
import type { AgentManifest } from "./manifest-data.ts";

/** An agent that a call of a tool runs, as far as it can be inspected. */
export interface AgentInside {
  readonly name: string;
  readonly manifest?: () => Promise<AgentManifest>;
  readonly audit?: (only?: readonly string[]) => Audit;
  /** True if the agent is defined with `enforce: "isolated"`. */
  readonly enforces?: boolean;
  /** The only tools of it that are called from here. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** True if functions of the author beside it get the run, and may run unlisted agents in it. */
  readonly hasOthers?: boolean;
  /** Its definition, and the options with which it became a tool, if it did: a simulation makes it again from them, with stand-ins. */
  readonly madeOf?: { readonly definition: object; readonly options?: object };
}

/** A tool that says what is behind it. A copy of it says so too. */
interface FrontTool extends Tool {
  readonly inside?: readonly AgentInside[];
  readonly among?: Among;
}

/** Makes the `execute` of a tool that lets the model pick one of several, with other tools in their places. */
type Among = (changed: (tool: Tool) => Tool) => Tool["execute"];

/** The same tool, marked as a server's. */
export function setOrigin(tool: Tool, origin: ToolOrigin): Tool {
  return { ...tool, origin };
}

/** The same tool, marked with the agents that a call of it runs; `among` if the model picks one of several tools. */
export function setInside(tool: Tool, inside: readonly AgentInside[], among?: Among): Tool {
  const front: FrontTool = { ...tool, inside, ...(among === undefined ? {} : { among }) };
  return front;
}

/** The server that a tool comes from. Undefined for the author's own tools. */
export function originOf(tool: Tool): ToolOrigin | undefined {
  return tool.origin;
}

/** The agents that a call of a tool runs; none for other tools. */
export function insideOf(tool: Tool): readonly AgentInside[] {
  return (tool as FrontTool).inside ?? [];
}

/** The maker of the `execute` of a tool that lets the model pick one of several; undefined for other tools. */
export function amongOf(tool: Tool): Among | undefined {
  return (tool as FrontTool).among;
}
