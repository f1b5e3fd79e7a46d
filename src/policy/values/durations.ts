import { lazy } from "../../util/remembered.ts";

/** The most times and durations of a text that are put together. */
const most = 16;

const minutesOf: ReadonlyMap<string, number> = new Map([
  ..."one two three four five six seven eight nine ten eleven twelve"
    .split(" ")
    .map((word, index): [string, number] => [word, index + 1]),
  ["a", 1],
  ["an", 1],
  ["half an", 0.5],
]);

/** "for one hour", "a 90-minute call"; no part of a longer one, and none that says how long before or after something. */
const duration = lazy(
  () =>
    /(?<![\p{L}\p{N}.,\-])(\d{1,3}(?:\.5)?|half an|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[ \-]?(hours?|hrs?|minutes?|mins?)\b(?![ \-](?:and|before|after|earlier|later|ago|from)\b)/giv,
);

/** The end times, on the same day, of something that begins at one of these times (`T10:00`) and lasts as long as the text says. Linear. */
export function endsIn(text: string, times: Iterable<string>): readonly string[] {
  const begun = [...times].filter((time) => /^T\d\d:\d\d$/v.test(time)).slice(0, most);
  if (begun.length === 0) return [];
  const lasting = [...text.matchAll(duration()).take(most)].map(([, count = "", unit = ""]) => {
    const many = minutesOf.get(count.toLowerCase()) ?? Number(count);
    return many * (/^h/iv.test(unit) ? 60 : 1);
  });
  return begun.flatMap((time) => {
    const start = Number(time.slice(1, 3)) * 60 + Number(time.slice(4));
    return lasting.map((minutes) => start + minutes).flatMap((end) => (isTime(end) ? [timeOf(end)] : []));
  });
}

function isTime(minutes: number): boolean {
  return Number.isInteger(minutes) && minutes < 24 * 60;
}

function timeOf(minutes: number): string {
  return `T${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, "0");
}
