/** The lines, from 1, on which the members of the lists begin that are fields of a JSON object. The text is one that can be read. */
export function memberLines(text: string): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  const open: string[] = [];
  let [line, field, last] = [1, "", ""];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\n|[^\s"]/g)) {
    if (token === "\n") {
      line += 1;
      continue;
    }
    const isMember = open.length === 2 && open[1] === "[" && (last === "[" || last === ",");
    if (isMember && token !== "]") found.set(field, [...(found.get(field) ?? []), line]);
    if (token === "{" || token === "[") open.push(token);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":" && open.length === 1) field = String(JSON.parse(last));
    last = token;
  }
  return found;
}
