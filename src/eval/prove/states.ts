import { joinLabels, type Label } from "../../message/label.ts";
import { violation, type ToolUse } from "../../policy/account/constraints.ts";
import { addedLabel } from "../../policy/knowledge/result-label.ts";
import type { Tool } from "../../tool/tool.ts";
import { insideOf } from "../../agent/describe/manifest-origin.ts";
import { possible } from "./possible.ts";
import { rulesFor } from "./places.ts";
import { conditionsIn } from "../../policy/rules/conditions.ts";
import type { ProvenAgent, Way } from "./subject.ts";

/** A state that runs of a way can reach. One state represents all that allow the same. */
export interface State {
  readonly label: Label;
  /** True if a source that a sentence names was read. */
  readonly hasRead: boolean;
  /** The tools that may have succeeded. */
  readonly done: ReadonlySet<string>;
  /** The calls whose results lead here. Undefined if a run only begins so: in a session, or inside another run. */
  readonly path: readonly string[] | undefined;
}

/** Every state that some run can reach, whatever its model says. `sources` are the tools that set `hasRead`. */
export function statesOf(way: Way, subject: ProvenAgent, sources: ReadonlySet<string>): readonly State[] {
  const known: State[] = [];
  const left: State[] = [...beginnings(way)];
  for (let state = left.shift(); state !== undefined; state = left.shift()) {
    const full = saturated(state, way, sources);
    if (known.some((other) => isAtLeast(other, full))) continue;
    known.push(full);
    left.push(...nextStates(full, { way, subject, sources }));
  }
  return known;
}

function beginnings({ described, isInside }: Way): readonly State[] {
  const stranger: Label = { integrity: "untrusted", secrecy: "public", sources: ["input"] };
  const labels = [
    described,
    joinLabels(described, { integrity: "trusted", secrecy: "private", sources: ["input"] }), // read earlier by a session
    joinLabels(described, stranger),
    joinLabels(described, { ...stranger, secrecy: "private" }),
  ];
  return labels.flatMap((label, place) => {
    const own = {
      label,
      hasRead: false,
      done: new Set<string>(),
      path: place === 0 && !isInside ? [] : undefined,
    };
    return isInside ? [own, { ...own, hasRead: true }] : [own];
  });
}

interface Stepping {
  readonly way: Way;
  readonly subject: ProvenAgent;
  readonly sources: ReadonlySet<string>;
}

/** The state after every call that can succeed without reading anything new. */
function saturated(state: State, way: Way, sources: ReadonlySet<string>): State {
  for (let now = state; ;) {
    const more = [...way.tools.values()].find(
      (tool) => !now.done.has(tool.name) && isSilent(now, tool, sources) && mayRunIn(now, tool, way),
    );
    if (more === undefined) return now;
    now = { ...now, done: new Set([...now.done, more.name]) };
  }
}

function isSilent({ label, hasRead }: State, tool: Tool, sources: ReadonlySet<string>): boolean {
  return (hasRead || !sources.has(tool.name)) && sameLabel(joinLabels(label, addedLabel(tool)), label);
}

function nextStates(state: State, { way, subject, sources }: Stepping): readonly State[] {
  return [...way.tools.values()].flatMap((tool) => {
    if (!mayRunIn(state, tool, way)) return [];
    const after = (read: Tool, isKnown: boolean): State => ({
      label: joinLabels(state.label, addedLabel(read)),
      hasRead: state.hasRead || sources.has(read.name) || sources.has(tool.name),
      done: new Set([...state.done, tool.name]),
      path: isKnown ? state.path && [...state.path, tool.name] : undefined,
    });
    const own = after(tool, true);
    // a run inside the call may read anything that the agents inside can read
    const read = insideOf(tool).length === 0 ? [] : subject.tools;
    const inside = [...read, ...read.flatMap(formed)].map((each) => after(each, false));
    const alike = tool.kind === "memory" || tool.isFresh === true ? [own, ...inside] : [];
    const unchanged = alike.map((each) => ({ ...each, label: state.label }));
    return [own, ...unchanged, ...formed(tool).map((each) => after(each, true)), ...inside];
  });
}

/** A tool that is trusted if its result has a form, with such a result. */
function formed(tool: Tool): readonly Tool[] {
  return tool.trustedForm === undefined ? [] : [{ ...tool, trustedForm: undefined }];
}

/** True if some call of the tool may run in the state, whatever was called before. */
function mayRunIn(state: State, tool: Tool, way: Way): boolean {
  if (violation(tool, { name: tool.name, uses: usesOf(state) }) !== undefined) return false;
  return countsFor(way, tool).some((calls) => possible(way, tool, { label: state.label, calls }).runs);
}

/** The uses of tools in a state: every tool that may have succeeded did. */
export function usesOf({ done }: State, name?: string, calls = 0): readonly ToolUse[] {
  const others = [...done].filter((tool) => tool !== name);
  const uses = others.map((tool): ToolUse => ({ tool, calls: 0, succeeded: true }));
  return name === undefined ? uses : [...uses, { tool: name, calls, succeeded: done.has(name) }];
}

/** The numbers of calls that the rules for a tool distinguish. */
export function countsFor({ policy }: Way, { name }: Tool): readonly number[] {
  const bounds = rulesFor(policy, name).flatMap((rule) =>
    conditionsIn(rule).flatMap((each) => (each.type === "calls" ? [each.atLeast] : [])),
  );
  return [...new Set([0, ...bounds])].toSorted((a, b) => a - b);
}

function isAtLeast(one: State, other: State): boolean {
  return (
    one.hasRead === other.hasRead &&
    sameLabel(one.label, other.label) &&
    (one.path !== undefined || other.path === undefined) &&
    [...other.done].every((tool) => one.done.has(tool))
  );
}

/** True for equal labels, without their sources: no rule looks at these. */
function sameLabel(one: Label, other: Label): boolean {
  return one.integrity === other.integrity && secrecyText(one) === secrecyText(other);
}

function secrecyText({ secrecy }: Label): string {
  return typeof secrecy === "string" ? secrecy : secrecy.readers.toSorted().join(" ");
}
