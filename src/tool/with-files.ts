import { WritError } from "../error/writ-error.ts";
import { filePart } from "../message/message-shape.ts";
import type { FilePart } from "../message/message.ts";
import { fits } from "../util/shape.ts";

/** The mark of values with files. JSON cannot have a symbol, so a stranger's data never carries it. */
const byAnyCopy = Symbol.for("writ.with-files");

/**
 * A result with files beside it, made with {@link withFiles}.
 *
 * @example
 * ```ts
 * import { image, withFiles, type WithFiles } from "writ/tools";
 *
 * export const shot = (png: Uint8Array): WithFiles<{ title: string }> => withFiles({ title: "Home" }, [image(png)]);
 * ```
 */
export class WithFiles<Value> {
  /** True also for a value from another copy of the package. */
  static [Symbol.hasInstance](value: unknown): value is WithFiles<unknown> {
    return typeof value === "object" && value !== null && byAnyCopy in value;
  }

  readonly value: Value;
  readonly files: readonly FilePart[];

  constructor(value: Value, files: readonly FilePart[]) {
    Object.defineProperty(this, byAnyCopy, { value: true });
    this.value = value;
    this.files = files;
  }
}

/**
 * Puts files beside the value of a tool's result. The model gets the value and the files, the program gets the value, and the
 * output schema checks the value. A tool that returns only files, or texts and files, returns them without this function: an
 * `image()`, a `file()`, or a list of texts and of these.
 *
 * @throws WritError `definition-invalid` if `files` has something else: the call fails
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { image, withFiles } from "writ/tools";
 * import { z } from "zod";
 *
 * export const photo = tool({
 *   name: "photo",
 *   description: "Look through the camera",
 *   inputSchema: z.object({}),
 *   outputSchema: z.object({ takenAt: z.string() }),
 *   effect: "read",
 *   execute: () => withFiles({ takenAt: "08:30" }, [image("iVBORw0KGgo=")]),
 * });
 * ```
 */
export function withFiles<Value>(value: Value, files: readonly FilePart[]): WithFiles<Value> {
  if (!Array.isArray(files) || !files.every((each) => fits(filePart, each))) {
    const reason = "`files` is a list of what image() and file() make.";
    throw new WritError("definition-invalid", { where: "withFiles()", reason });
  }
  return new WithFiles(value, files);
}

/** The value that a tool returned, without the files beside it. */
export function withoutFiles(given: unknown): unknown {
  return given instanceof WithFiles ? given.value : given;
}
