import { WritError } from "../error/writ-error.ts";
import { filePart } from "../message/message-shape.ts";
import type { FilePart } from "../message/message.ts";
import { fits } from "../util/shape.ts";

/** No JSON has a symbol: what a stranger wrote bears none. */
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
  /** True for one that another copy of the package made too. */
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
 * @throws WritError `definition-invalid` where `files` are none: the call fails
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

/** The value of what a tool gave, without the files beside it. */
export function withoutFiles(given: unknown): unknown {
  return given instanceof WithFiles ? given.value : given;
}
