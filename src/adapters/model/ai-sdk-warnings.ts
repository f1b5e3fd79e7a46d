import { fits, record, string } from "../../util/shape.ts";
import { warnOnce } from "../warn-once.ts";

/** Warns the author, once for each, about parts of a request that a provider package ignores: mostly a setting that its model does not support. */
export function tellWarnings(model: string, warnings: unknown): void {
  if (!Array.isArray(warnings)) return;
  for (const warning of warnings) {
    const said = wordsOf(warning);
    if (said !== "")
      warnOnce({ code: "WRIT_PROVIDER_WARNING", text: `${model}: ${said}`, isDeprecation: false });
  }
}

/** The text of a warning: each version names the unsupported field in its own way. */
function wordsOf(warning: unknown): string {
  if (!fits(record, warning)) return "";
  const { type, feature, setting, tool, message, details } = warning;
  const what = feature ?? setting ?? (fits(record, tool) ? tool["name"] : undefined);
  const about = fits(string, what) ? `${String(type)} ${what}` : "";
  return [about, message, details].filter((part) => fits(string, part) && part !== "").join(": ");
}
