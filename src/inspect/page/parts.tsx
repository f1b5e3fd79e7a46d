import type { ComponentChildren, JSX } from "preact";

/** A part of the drawer. */
export function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** A fact with its name, in a list of them. */
export function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
