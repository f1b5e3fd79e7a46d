import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** The visible rows of a list. */
export interface Rows {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly first: number;
  readonly last: number;
  /** Scrolls to a row. */
  readonly show: (index: number) => void;
}

const extra = 8;

/** True while the page is printed: paper does not scroll. */
function usePaper(): boolean {
  const [isPaper, setPaper] = useState(false);
  useEffect(() => {
    const begin = (): void => setPaper(true);
    const end = (): void => setPaper(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isPaper;
}

/** Finds the visible rows of a long list whose rows have one height, so that only these are drawn; on paper all are. */
export function useRows(count: number, height: number): Rows {
  const box = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => setSight({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const isPaper = usePaper();
  const first = isPaper ? 0 : Math.max(0, Math.min(count - 1, Math.floor(sight.top / height)) - extra);
  const last = isPaper ? count : Math.min(count, Math.ceil((sight.top + sight.height) / height) + extra);
  function show(index: number): void {
    const element = box.current;
    if (element === null) return;
    const top = index * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  }
  return { box, first, last, show };
}
