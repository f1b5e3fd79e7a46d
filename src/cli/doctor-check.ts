/** One check with its result. `broken`: writ cannot work like this. `note`: something that one may want is missing. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "note" | "broken";
  readonly text: string;
  readonly advice?: string;
}
