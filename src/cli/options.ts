import type { Command } from "commander";
import { WritError } from "../error/writ-error.ts";
import type { Format } from "./print-run.ts";

/** The options of every command that runs an agent, as the command line has them. */
export interface OutputFlags {
  readonly json?: boolean;
  readonly outputFormat?: string;
  readonly verbose?: boolean;
}

const formats: readonly Format[] = ["text", "json", "stream-json"];

/** Adds the options of {@link OutputFlags} to a command; one that runs several agents prints an object for `each`. */
export function withOutputFlags(command: Command, each = ""): Command {
  return command
    .option(
      "--json",
      `print one JSON object${each}: result, outcome, usage, turns, duration_ms, run_id, error`,
    )
    .option(
      "--output-format <format>",
      "text, json, or stream-json: every event as a line of JSON, the result last",
    )
    .option("--verbose", "show arguments and results whole, and the stack of an error");
}

/** The format of standard output. @throws WritError `option-invalid` */
export function formatOf({ json = false, outputFormat }: OutputFlags): Format {
  const format = formats.find((known) => known === outputFormat);
  if (outputFormat !== undefined && format === undefined) {
    throw new WritError("option-invalid", {
      option: "--output-format",
      value: outputFormat,
      advice: `It is one of: ${formats.join(", ")}.`,
    });
  }
  if (json && format !== undefined && format !== "json") {
    const advice = "`--json` asks for one JSON object already: give one of the two.";
    throw new WritError("option-invalid", { option: "--output-format", value: format, advice });
  }
  return json ? "json" : (format ?? "text");
}

/** The format that the flags ask for, even if they are wrong: for printing that error. */
export function lenientFormatOf(flags: OutputFlags): Format {
  try {
    return formatOf(flags);
  } catch {
    return flags.json === true ? "json" : "text";
  }
}

/** The words between the commas. */
export function listOf(value: string): readonly string[] {
  return value.split(",").map((word) => word.trim());
}

/** A whole number from 1 on. @throws WritError `option-invalid` */
export function countOf(option: string, value: string): number {
  const count = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (count >= 1) return count;
  throw new WritError("option-invalid", { option, value, advice: "Give a whole number from 1 on." });
}

/** The name of the person in `--by`. @throws WritError `option-invalid` */
export function personOf(value: string): string {
  if (value.trim() !== "") return value;
  throw new WritError("option-invalid", { option: "--by", value, advice: "Give the name of the person." });
}

/** One of some words. @throws WritError `option-invalid` */
export function wordOf<const Word extends string>(
  option: string,
  value: string,
  words: readonly Word[],
): Word {
  const word = words.find((known) => known === value);
  if (word !== undefined) return word;
  throw new WritError("option-invalid", { option, value, advice: `It is one of: ${words.join(", ")}.` });
}
