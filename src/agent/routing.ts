/** How one of several skills is chosen when no function chooses. */
export type Routing =
  | "first"
  | {
      /** How sure the model must be, from 0 to 1. Default 0. */
      readonly threshold?: number;
      /** The skill that is used when the model is less sure, or names none that there is. Without it the run fails then. */
      readonly otherwise?: string;
    };
