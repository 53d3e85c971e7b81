import { type Config, installTracer, type Logger } from '@heddle/runtime'

export interface Telemetry {
  /** Exports the metrics of the process from now on, if telemetry is on. @param readText the text of `/metrics` */
  exportMetrics(readText: () => Promise<string>): void
  close(): Promise<void>
}

/**
 * Starts the export of traces, and of metrics once they are given, if the configuration names a collector. Without one the
 * packages of OpenTelemetry are not loaded.
 */
export async function startTelemetry(
  { telemetry }: Pick<Config, 'telemetry'>,
  { env = {}, log }: { readonly env?: Readonly<Record<string, string | undefined>>; readonly log: Logger },
): Promise<Telemetry> {
  const { url } = telemetry
  if (url === null) return { exportMetrics() {}, close: async () => {} }
  const { openTelemetry } = await import('./open-telemetry.js')
  const opened = openTelemetry({ telemetry: { ...telemetry, url }, env, log })
  const uninstall = installTracer(opened.tracer)
  return {
    exportMetrics: (readText) => opened.exportMetrics(readText),
    async close() {
      uninstall()
      await opened.close()
    },
  }
}
