import { isWritError, messageOf, WritError } from "../error/writ-error.ts";

/** A file or folder to write, with the option that names it. */
interface Named {
  readonly option: string;
  readonly path: string;
  /** The advice for one that cannot be written. */
  readonly instead?: string;
}

/** Writes a file or folder. @throws WritError `option-invalid` if it cannot be written */
export async function writing(
  { option, path, instead }: Named,
  write: () => Promise<void> | void,
): Promise<void> {
  try {
    await write();
  } catch (cause) {
    if (isWritError(cause)) throw cause;
    const reason = `It cannot be written: ${messageOf(cause)}`;
    const advice = instead === undefined ? reason : `${reason}. ${instead}`;
    throw new WritError("option-invalid", { option, value: path, advice }, { cause });
  }
}
