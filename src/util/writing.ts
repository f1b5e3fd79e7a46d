/** An object while the function that makes it still writes it, field by field: afterwards nobody does. */
export type Writing<Value> = { -readonly [Field in keyof Value]: Value[Field] };
