export { type BackOff, backOffMs } from './back-off.js'
export { type Clock, systemClock } from './clock.js'
export { runCooperatively } from './computations.js'
export { type Config, type ConfigFlags, type ConfigSources, loadConfig, type Mode } from './config/load.js'
export { parseRedisAddress, type RedisAddress } from './config/redis-address.js'
export { DEFAULT_DATABASE } from './config/schema.js'
export { type SettingsSource, settingsSourcesOf, variableOfSetting } from './config/settings-layers.js'
export { type StrategyModules, strategyModulesOf } from './config/strategy-modules.js'
export { withoutCredentials } from './credentials.js'
export { EventLoopYielder } from './event-loop-yielder.js'
export { FirstTimes } from './first-times.js'
export { Gatherer, splitUnlessAway } from './gatherer.js'
export { keepHeapSmall, limitHeapGrowth } from './heap-growth.js'
export { Limiter } from './limiter.js'
export { createLogger, type Logger, type LoggerOptions, type LogLevel, logLevels } from './logger.js'
export { mapConcurrently } from './map-concurrently.js'
export { ownOutput } from './own-output.js'
export { portError } from './port-error.js'
export { lowerProcessPriority } from './process-priority.js'
export { ProjectSlots } from './project-slots.js'
export { onShutdown, type ShutdownHost, type ShutdownOptions, type ShutdownReason } from './shutdown.js'
export { type Deadline, type Timeout, withDeadline, within } from './timeout.js'
export {
  beginSpan,
  currentTrace,
  installTracer,
  type OpenSpan,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type SpanStart,
  type Tracer,
  traced,
} from './tracing/tracer.js'
export { untilStopped } from './until-stopped.js'
export {
  createWorkerCalls,
  type WorkerAnswer,
  type WorkerCalls,
  WorkerFailure,
  type WorkerMessage,
} from './worker-calls.js'
export { WorkerThread } from './worker-thread.js'
