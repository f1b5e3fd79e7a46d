/** A part of the site: its pages in the order in which they are read, each the name of a file in docs without its ending. */
export interface Section {
  readonly title: string;
  readonly pages: readonly string[];
  /** Shown open in the list beside a page. */
  readonly isOpen?: boolean;
}

/** The parts for users, recipes first. */
export const sections: readonly Section[] = [
  {
    title: "Begin",
    isOpen: true,
    pages: ["start", "recipes", "install", "coding-agents", "why", "concepts"],
  },
  {
    title: "Come from",
    pages: [
      "coming-from/ai-sdk",
      "coming-from/openai-agents",
      "coming-from/mastra",
      "coming-from/langgraph",
      "from/agents-kt",
      "from/http4k",
      "from/instructor-php",
      "from/metal-kompanion",
      "from/synsema",
    ],
  },
  {
    title: "Agents and tools",
    isOpen: true,
    pages: [
      "agents",
      "tools",
      "data-tools",
      "order-of-calls",
      "skills",
      "structured-output",
      "pictures",
      "foreign-tools",
      "tool-catalogue",
      "workspace",
      "knowledge",
      "delegation",
      "composition",
      "hooks",
      "executor",
      "files",
      "doors",
    ],
  },
  {
    title: "Models",
    pages: [
      "models",
      "providers",
      "hosted-models",
      "retry",
      "drivers",
      "own-driver",
      "grammar",
      "text-calls",
      "probe",
      "small-models",
    ],
  },
  {
    title: "Authority",
    isOpen: true,
    pages: [
      "security",
      "policy",
      "policy-file",
      "found-values",
      "plans",
      "labels",
      "approvals",
      "capabilities",
      "isolation",
      "manifest",
      "injection",
    ],
  },
  { title: "What is remembered", pages: ["sessions", "session-runs", "memory", "notes"] },
  {
    title: "Runs that last",
    pages: [
      "operations",
      "durable-runs",
      "crashes",
      "waiting",
      "tool-waits",
      "fork-and-move",
      "many-machines",
      "postgres",
      "journal",
      "transcript",
    ],
  },
  { title: "Limits and failures", pages: ["budgets", "accounts", "recovery", "warnings", "errors"] },
  {
    title: "Serving and protocols",
    pages: [
      "serve",
      "serve-clients",
      "agui",
      "a2a",
      "agent-as-model",
      "user-interfaces",
      "mcp",
      "mcp-server",
      "mcp-conformance",
      "inspector",
      "telemetry",
      "events",
      "audit-log",
    ],
  },
  { title: "The command line", pages: ["terminal", "chat"] },
  { title: "Testing", pages: ["testing", "simulate", "prove", "fake-providers", "cassettes", "eval-agent"] },
];

/** The words that tell of the project to those who work on it, apart from what its users read. */
export const maintainers: readonly Section[] = [
  {
    title: "For maintainers",
    isOpen: true,
    pages: [
      "coverage",
      "glossary",
      "escape-table",
      "fuzzing",
      "failures-compared",
      "recorded-replies",
      "approvals-compared",
      "small-models-measured",
      "compare",
    ],
  },
];
