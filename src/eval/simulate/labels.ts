import type { Label, Secrecy } from "../../message/label.ts";

/** The first label that is better than one before it, as text; undefined if none is. */
export function risen(labels: readonly Label[]): string | undefined {
  for (const [place, label] of labels.entries()) {
    const before = labels[place - 1];
    if (before !== undefined && !isNotHigher(label, before))
      return `from ${JSON.stringify(before)} to ${JSON.stringify(label)}`;
  }
  return undefined;
}

/** True if a label is not better than another. Written without the code that joins labels. */
export function isNotHigher(label: Label, than: Label): boolean {
  if (than.integrity === "trusted" && than.secrecy === "public") return true;
  if (label.integrity === "trusted" && than.integrity === "untrusted") return false;
  return (
    mayAllLearn(label.secrecy, than.secrecy) && than.sources.every((source) => label.sources.includes(source))
  );
}

/** True if everybody who may learn `secrecy` may also learn `than`. */
function mayAllLearn(secrecy: Secrecy, than: Secrecy): boolean {
  if (than === "public" || secrecy === "private") return true;
  if (secrecy === "public") return false;
  if (than === "private") return secrecy.readers.length === 0;
  return secrecy.readers.every((reader) => than.readers.includes(reader));
}
