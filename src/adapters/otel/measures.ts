import {
  type Counter,
  type Histogram,
  type MeterProvider,
  metrics,
  type MetricOptions,
  type Tracer,
} from "@opentelemetry/api";

/** The instruments of one listener, shared by its runs. */
export interface Telling {
  readonly tracer: Tracer;
  readonly measures: Measures;
  /** True if spans have content too. */
  readonly content: boolean;
}

/** The buckets of the conventions for seconds, and for tokens. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

const inSeconds = (description: string): MetricOptions => ({
  description,
  unit: "s",
  advice: { explicitBucketBoundaries: seconds },
});

/** The instruments of a meter provider. Names that begin with `gen_ai` are those of the conventions. */
export class Measures {
  readonly asked: Histogram;
  readonly firstChunk: Histogram;
  readonly tokens: Histogram;
  readonly runs: Histogram;
  readonly tools: Histogram;
  readonly approvals: Histogram;
  readonly cost: Counter;
  readonly decisions: Counter;
  readonly retries: Counter;

  private readonly provider: MeterProvider;

  private constructor(provider: MeterProvider) {
    this.provider = provider;
    const meter = provider.getMeter("writ");
    const histogram = (name: string, description: string): Histogram =>
      meter.createHistogram(name, inSeconds(description));
    this.asked = histogram("gen_ai.client.operation.duration", "Time of a request to a model");
    this.firstChunk = histogram(
      "gen_ai.client.operation.time_to_first_chunk",
      "Time until a model began to answer",
    );
    this.tokens = meter.createHistogram("gen_ai.client.token.usage", {
      description: "Tokens of a request to a model",
      unit: "{token}",
      advice: { explicitBucketBoundaries: tokens },
    });
    this.runs = histogram("gen_ai.invoke_agent.duration", "Time of a run in this process");
    this.tools = histogram("gen_ai.execute_tool.duration", "Time that a tool ran");
    this.approvals = histogram("writ.approval.duration", "Time that a person took to answer");
    this.cost = meter.createCounter("writ.cost", {
      description: "Price of requests to models",
      unit: "{USD}",
    });
    this.decisions = meter.createCounter("writ.decisions", { description: "Decisions about calls" });
    this.retries = meter.createCounter("writ.retries", {
      description: "Requests to models that were made again",
    });
  }

  /** The instruments of the currently registered provider. Unlike a tracer, a meter does not pass on to a provider that is registered later. */
  static now(before: Measures | undefined): Measures {
    const provider = metrics.getMeterProvider();
    return before?.provider === provider ? before : new Measures(provider);
  }
}
