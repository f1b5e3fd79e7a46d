import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useModal } from "./modal.ts";

/** An item that can be chosen in the palette. */
export interface PaletteItem {
  readonly title: string;
  /** A word beside it: its kind, or its key. */
  readonly about: string;
  readonly act: () => void;
}

interface PaletteProps {
  readonly items: readonly PaletteItem[];
  readonly onClose: () => void;
}

/** The most items that are shown. */
const mostShown = 12;

/** A list of everything that can be done and opened. People search it by words and move through it by keys. */
export function Palette({ items, onClose }: PaletteProps): JSX.Element {
  const modal = useModal(onClose);
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const found = useMemo(() => itemsWith(items, text), [items, text]);
  const chosen = Math.min(place, found.length - 1);
  const choose = (item: PaletteItem | undefined): void => {
    if (item === undefined) return;
    modal.close();
    item.act();
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0 && event.key !== "Enter") return;
    event.preventDefault();
    if (by === 0) choose(found[chosen]);
    else setPlace(Math.min(found.length - 1, Math.max(0, chosen + by)));
  };
  return (
    <dialog {...modal.props} class="palette" aria-label="Go to, or do">
      <input
        type="text"
        role="combobox"
        aria-label="Search what to open or do"
        aria-expanded="true"
        aria-controls="palette-items"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${chosen}`}
        placeholder="Open a run, go somewhere, do something"
        value={text}
        onKeyDown={onKey}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setPlace(0);
        }}
      />
      <ul id="palette-items" role="listbox" aria-label="What is found">
        {found.map((item, index) => (
          <li
            key={`${item.about} ${item.title}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => choose(item)}
          >
            <span>{item.title}</span> <span class="quiet">{item.about}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">Nothing has these words.</p>}
    </dialog>
  );
}

/** The items that contain all words, in order. */
function itemsWith(items: readonly PaletteItem[], text: string): readonly PaletteItem[] {
  const words = text.toLowerCase().split(/\s+/);
  return items
    .filter(({ title, about }) => words.every((word) => `${title} ${about}`.toLowerCase().includes(word)))
    .slice(0, mostShown);
}
