/**
 * Spans and metrics of runs, by the conventions of OpenTelemetry for generative AI. They need the package `@opentelemetry/api`.
 *
 * @module writ/otel
 */
import "./adapters/check-node.ts";
export { telemetry, type TelemetryOptions } from "./adapters/otel/telemetry.ts";
