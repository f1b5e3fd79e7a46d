import { useEffect, useState } from "preact/hooks";
import { visible } from "../../util/visible.ts";
import type { Tab } from "./tabs.tsx";

/** The place in the page. It is in the fragment of the address, so that people can keep and send it. */
export type Place =
  | { readonly page: "runs"; readonly run?: string; readonly call?: string; readonly tab?: Tab }
  | { readonly page: "queue" }
  | { readonly page: "play" }
  | { readonly page: "compare"; readonly runs: readonly [string, string] };

function readPlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page, one = "", other = ""] = path.split("/").map(decoded);
  if (page === "queue" || page === "play") return { page };
  if (page === "compare") return { page, runs: [one, other] };
  if (page !== "run") return { page: "runs" };
  const more = new URLSearchParams(query);
  const call = more.get("call") ?? undefined;
  const tab = tabNamed(more.get("part"));
  return {
    page: "runs",
    run: one,
    ...(call === undefined ? {} : { call }),
    ...(tab === undefined ? {} : { tab }),
  };
}

/** A part of an address, decoded; unchanged if it was cut or mistyped. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const tabNamed = (name: string | null): Tab | undefined =>
  name === "prompts" || name === "policy" || name === "input" ? name : undefined;

/** The title of the document at a place, for the name of the tab and the list of the back button, with hidden characters written out. */
export const titleOf = (place: Place): string => `${visible(placeText(place))} – writ inspector`;

function placeText(place: Place): string {
  if (place.page === "queue") return "Approvals";
  if (place.page === "play") return "Playground";
  if (place.page === "compare") return place.runs.join(" and ");
  return place.run ?? "Runs";
}

/** The address of a place. */
function addressOf(place: Place): string {
  if (place.page === "queue" || place.page === "play") return `#/${place.page}`;
  if (place.page === "compare") return `#/compare/${place.runs.map(encodeURIComponent).join("/")}`;
  if (place.run === undefined) return "#/";
  const query = new URLSearchParams();
  if (place.call !== undefined) query.set("call", place.call);
  if (place.tab !== undefined && place.tab !== "calls") query.set("part", place.tab);
  const text = query.toString();
  return `#/run/${encodeURIComponent(place.run)}${text === "" ? "" : `?${text}`}`;
}

/** The place in the page, with the function that goes to another one. */
export function usePlace(): readonly [Place, (place: Place) => void] {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const look = (): void => setPlace(readPlace(location.hash));
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  function go(next: Place): void {
    const address = addressOf(next);
    if (address === location.hash) return;
    // Moving through the calls of a run adds no entries to the history.
    const isSameRun = next.page === "runs" && place.page === "runs" && next.run === place.run;
    if (isSameRun) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    setPlace(next);
  }
  return [place, go];
}
