/** One thing that was looked at. `broken`: writ cannot work so. `note`: something that one may want is not there. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "note" | "broken";
  readonly text: string;
  readonly advice?: string;
}
