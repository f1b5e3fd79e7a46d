const shortest = 6;
const longest = 120;
const leastTimes = 3;

/** A text whose end says the same again and again, with that end said once. */
export function withoutCircle(text: string): string {
  for (let length = shortest; length <= longest && length * leastTimes <= text.length; length += 1) {
    const unit = text.slice(text.length - length);
    let start = text.length - length;
    while (start >= length && text.startsWith(unit, start - length)) start -= length;
    if (text.length - start < length * leastTimes) continue;
    const before = text.slice(0, start);
    return before.endsWith(unit.trim()) ? before : text.slice(0, start + length).trim();
  }
  return text;
}
