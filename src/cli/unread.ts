// Depends on: the command. There is nobody left to work for, but for one that works for whoever began its runs.
let whenUnread = (): void => process.exit();

/** Ends the command where whoever read its output has gone. */
export const endUnread = (): void => whenUnread();

/** Has something else happen then. */
export function onUnread(act: () => void): void {
  whenUnread = act;
}
