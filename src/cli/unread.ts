// Depends on: the command. Without a reader it has nothing to do, except a command that carries out runs which others began.
let whenUnread = (): void => process.exit();

/** Ends the command if the reader of its output has gone. */
export const endUnread = (): void => whenUnread();

/** Sets another function to call in this case. */
export function onUnread(act: () => void): void {
  whenUnread = act;
}
