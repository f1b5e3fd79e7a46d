import { joinLabels, type Label, trustedLabel, untrustedFrom } from "../message/label.ts";
import type { Tool } from "../tool/tool.ts";

/**
 * The label of what a tool gives. A tool that only computes gives what it was given; knowledge, and what the author calls trusted, is the author's
 * own as far as the arguments are; everything else is a stranger's.
 */
export function resultLabel({ name, effect, trusted, secrecy = "public", kind }: Tool, args: Label): Label {
  const isOwn = trusted ?? (effect === "none" || kind === "knowledge");
  const own = isOwn ? trustedLabel : untrustedFrom(`tool/${name}`);
  return joinLabels(args, secrecy === "public" ? own : { ...own, secrecy, sources: [`tool/${name}`] });
}

/** Whether a message of a tool without a label of its own means this label. */
export function isDefaultLabel({ integrity, secrecy, sources }: Label, tool: string): boolean {
  return (
    integrity === "untrusted" && secrecy === "public" && sources.length === 1 && sources[0] === `tool/${tool}`
  );
}
