import { resolve } from 'node:path'
import { describeReceived, type PartialSettings, PermanentError, type SettingLayer, wording } from '@heddle/contracts'
import type { LogLevel } from '../logger.js'
import { readEnvironment, variableOf } from './environment.js'
import { isRecord, type Layer, readFile } from './file.js'
import { type RawConfig, rawConfigSchema } from './schema.js'

export type Mode = 'embedded' | 'postgres' | 'redis'

/** Everything that a process must know before it starts. Read once, at startup, and passed on. */
export interface Config {
  /** Where the store and the queues are; derived only from the two addresses. */
  mode: Mode
  databaseUrl: string | null
  redisUrl: string | null
  /** The same database without the pooler of `databaseUrl`, for connections that listen. Null: `databaseUrl` has no pooler. */
  directDatabaseUrl: string | null
  /** The owner's connection for migrations, if `databaseUrl` is that of `heddle_app`. */
  adminDatabaseUrl: string | null
  /** The databases beside that of `databaseUrl`, by name. Default: no others. */
  databases: Readonly<Record<string, { readonly url: string; readonly adminUrl: string }>>
  project: string
  /** Absolute; where the embedded server keeps its data. */
  dataDir: string
  /** The address that the gateway listens on. Default 127.0.0.1. */
  host: string
  /** Host names of the gateway. Default: no names. */
  hosts: readonly string[]
  port: number
  /** Port on which workers serve `/healthz`, `/readyz` and `/metrics`. Null: not served. */
  healthPort: number | null
  /** The address of that port. Default 127.0.0.1. */
  healthHost: string
  logLevel: LogLevel
  /** Settings of agents in the file and the environment; overridden by the agents' own settings. */
  settings: PartialSettings
  /** The same by source, in ascending precedence: `file`, `environment` and `flags`. */
  settingLayers: readonly SettingLayer[]
  /**
   * Maximum number of a process's connections to Postgres, for the store and for the jobs of its workers. Null:
   * determined by its tasks.
   */
  connections: { store: number | null; workers: number | null }
  workers: {
    /** Priority of `heddle worker` below other processes of its machine, as in `nice`, 0 to 19. Default 10. */
    niceness: number
  }
  /** The drop-in door for agents that call a provider by way of Heddle. */
  proxy: {
    /** Servers of providers by the first part of their path, such as `openai` for `/openai/v1`. */
    upstreams: Readonly<
      Record<string, { url: string; protocol: 'anthropic' | 'openai'; compaction?: 'heddle' | 'pass' | undefined }>
    >
    /** Changes that requests get if they name no other mode. Default `observe`. */
    mode: 'observe' | 'stub' | 'compact'
    /** Estimated tokens from which a result is shortened; null for the default of the rules. */
    stubTokensMin: number | null
    /** Share of conversations that stay unchanged for comparison. Default 0. */
    control: number
    /** Whether the proxy adds a tool for recalls, and answers it. Default false. */
    recall: boolean
    /** Longest time that a request waits for Heddle itself, in milliseconds. Default 50. */
    lateMs: number
  }
  /** The embedder; null fields are chosen by the embedder. */
  embedder: {
    kind: 'auto' | 'hashing' | 'local' | 'openai'
    model: string | null
    modelsDir: string | null
    baseUrl: string | null
    dimensions: number | null
    threads: number | null
  }
  /** The model that orders the first results of a search again. */
  reranker: {
    kind: 'off' | 'local' | 'http'
    model: string | null
    baseUrl: string | null
    /** The first results that it reads. Default 50. */
    candidates: number
    /** Longest wait of a search for it, in milliseconds; then the order without it is kept. Default 2,000. */
    timeoutMs: number
  }
  /** Maximum megabytes of vectors in memory per process, if vectors are compared in memory. Default 256. */
  vectorCacheMegabytes: number
  /** Retention in days, null for ever. Messages are kept until they are erased. */
  retention: {
    /** In minutes: the bytes of delivered contexts; rebuilding them takes longer. Default 60. */
    deliveredMinutes: number | null
    /** Built or failed contexts, since their request. Default 30. */
    contextsDays: number | null
    /** Items that contexts showed, and those that replies used, since they were built. Default 90. */
    contextItemsDays: number | null
    /** The log from which subscribers resume. Default 7. */
    eventsDays: number | null
    /**
     * Compactions for requests whose budget, model or strategy is not the agent's, since the last such request. Default 7.
     */
    keptLanesDays: number | null
    /**
     * Compactions voided by a late message or a clear, since then: needed for contexts of earlier moments. Default 30.
     */
    voidStatesDays: number | null
    /** Provider calls for summaries, and their cost. Default 30. */
    summaryCallsDays: number | null
    /** Relayed requests to providers, in figures, and their cost. Default 90. */
    proxiedRequestsDays: number | null
    proxiedConversationsDays: number | null
    /** Dead letters, since they were sent again; others are kept. Default 90. */
    deadLettersDays: number | null
    /** Tombstones, which refuse jobs for erased data, since the erasure was finished. Default 365. */
    tombstonesDays: number | null
  }
  /** Traces and metrics for a collector of OpenTelemetry. */
  telemetry: {
    /** The collector's address for OTLP over HTTP, without `/v1/traces`. Null: no telemetry. */
    url: string | null
    /** Share of the traces that begin here; a caller's sampled trace is always continued. Default 0.1. */
    sampled: number
    /** Seconds between two exports of metrics. Default 60. */
    metricsSeconds: number
  }
  /** Modules that register custom strategies: paths from the file's folder, or packages. */
  strategyModules: readonly string[]
  /** Separates the queues of several installations on one server. */
  queuePrefix: string
  queue: {
    /** Limits of the ingest queue, beyond which producers are refused. Null leaves them to the queues. */
    ingestJobsMax: number | null
    ingestBytesMax: number | null
    /** Whether the process of a caller that waits for its append commits it. Default true. */
    directAppends: boolean
  }
}

/** Values that a command line may set, overriding the environment and the file. */
export type ConfigFlags = Omit<RawConfig, 'adminDatabaseUrl'>

export interface ConfigSources {
  env: Readonly<Record<string, string | undefined>>
  /** The folder of `heddle.yaml`, against which relative paths are resolved. */
  cwd: string
  flags?: ConfigFlags
}

/**
 * Reads `heddle.yaml` (or the file in `HEDDLE_CONFIG`), the environment and the flags, in ascending precedence.
 *
 * @throws PermanentError `VALIDATION_ERROR` that lists every fault with its variable or file
 */
export function loadConfig(sources: ConfigSources): Config {
  const file = readFile(sources)
  const environment = readEnvironment(sources.env)
  const flags: Layer = { source: 'flag', values: withoutUndefined(sources.flags ?? {}) }
  const layers: Layer[] = [file, { source: 'environment', values: environment }, flags]

  // Each layer is checked separately, so that a fault names its source.
  const faults = layers.flatMap(findFaults)
  const raw = layers.reduce<Record<string, unknown>>(mergeLayer, {})
  if ('redisUrl' in raw && !('databaseUrl' in raw)) {
    faults.push('REDIS_URL: needs DATABASE_URL beside it, because messages are kept in Postgres')
  }
  if ('directDatabaseUrl' in raw && !('databaseUrl' in raw)) {
    faults.push('HEDDLE_DIRECT_DATABASE_URL: needs DATABASE_URL beside it, the address of the pooler')
  }
  if ('databases' in raw && !('databaseUrl' in raw)) {
    faults.push('HEDDLE_DATABASES: needs DATABASE_URL beside it, the address of the default database')
  }
  if (faults.length > 0) {
    throw new PermanentError(
      'VALIDATION_ERROR',
      `The configuration has ${countOf(faults)}:\n- ${faults.join('\n- ')}`,
      {
        field: faults[0]?.split(':')[0] ?? 'configuration',
        facts: { faults },
      },
    )
  }
  const kinds = ['file', 'environment', 'flags'] as const
  const settingLayers = layers.map(({ values }, place) => ({
    from: kinds[place] ?? 'flags',
    settings: settingsOf(rawConfigSchema.parse(values)),
  }))
  return { ...withDefaults(rawConfigSchema.parse(raw), sources.cwd), settingLayers }
}

function withDefaults(raw: RawConfig, cwd: string): Omit<Config, 'settingLayers'> {
  return {
    mode: raw.databaseUrl === undefined ? 'embedded' : raw.redisUrl === undefined ? 'postgres' : 'redis',
    databaseUrl: raw.databaseUrl ?? null,
    redisUrl: raw.redisUrl ?? null,
    directDatabaseUrl: raw.directDatabaseUrl ?? null,
    adminDatabaseUrl: raw.adminDatabaseUrl ?? null,
    databases: databasesOf(raw),
    project: raw.project ?? 'default',
    dataDir: resolve(cwd, raw.dataDir ?? '.heddle'),
    host: raw.host ?? '127.0.0.1',
    hosts: raw.hosts ?? [],
    port: raw.port ?? 4680,
    healthPort: raw.healthPort ?? null,
    healthHost: raw.healthHost ?? '127.0.0.1',
    logLevel: raw.logLevel ?? 'info',
    settings: settingsOf(raw),
    proxy: {
      upstreams: upstreamsOf(raw),
      mode: raw.proxy?.mode ?? 'observe',
      stubTokensMin: raw.proxy?.stubTokensMin ?? null,
      control: raw.proxy?.control ?? 0,
      recall: raw.proxy?.recall ?? false,
      lateMs: raw.proxy?.lateMs ?? 50,
    },
    embedder: {
      kind: raw.embedder?.kind ?? 'auto',
      model: raw.embedder?.model ?? null,
      modelsDir: raw.embedder?.modelsDir === undefined ? null : resolve(cwd, raw.embedder.modelsDir),
      baseUrl: raw.embedder?.baseUrl ?? null,
      dimensions: raw.embedder?.dimensions ?? null,
      threads: raw.embedder?.threads ?? null,
    },
    reranker: {
      kind: raw.reranker?.kind ?? 'off',
      model: raw.reranker?.model ?? null,
      baseUrl: raw.reranker?.baseUrl ?? null,
      candidates: raw.reranker?.candidates ?? 50,
      timeoutMs: raw.reranker?.timeoutMs ?? 2_000,
    },
    connections: { store: raw.connections?.store ?? null, workers: raw.connections?.workers ?? null },
    workers: { niceness: raw.workers?.niceness ?? 10 },
    vectorCacheMegabytes: raw.vectorCacheMegabytes ?? 100,
    retention: {
      deliveredMinutes: 60,
      contextsDays: 30,
      contextItemsDays: 90,
      eventsDays: 7,
      keptLanesDays: 7,
      voidStatesDays: 30,
      summaryCallsDays: 30,
      proxiedRequestsDays: 90,
      proxiedConversationsDays: 30,
      deadLettersDays: 90,
      tombstonesDays: 365,
      ...withoutUndefined(raw.retention ?? {}),
    },
    telemetry: {
      url: raw.telemetry?.url ?? null,
      sampled: raw.telemetry?.sampled ?? 0.1,
      metricsSeconds: raw.telemetry?.metricsSeconds ?? 60,
    },
    strategyModules: raw.strategyModules ?? [],
    queuePrefix: raw.queuePrefix ?? 'heddle',
    queue: {
      ingestJobsMax: raw.queue?.ingestJobsMax ?? null,
      ingestBytesMax: raw.queue?.ingestBytesMax ?? null,
      directAppends: raw.queue?.directAppends ?? true,
    },
  }
}

export function settingsOf({ settings = {}, tools, context = {} }: RawConfig): PartialSettings {
  const { raw_window_size: rawWindowSize, summarize_every: summarizeEvery, max_summary_tokens } = context
  const iterations = { ...withoutUndefined({ rawWindowSize, summarizeEvery }), ...settings.iterations }
  return {
    ...(max_summary_tokens !== undefined && { maxSummaryTokens: max_summary_tokens }),
    ...settings,
    ...(Object.keys(iterations).length > 0 && { iterations }),
    ...(tools !== undefined && { tools: [...tools, ...(settings.tools ?? [])] }),
  }
}

function findFaults(layer: Layer): string[] {
  if (layer.fault !== undefined) return [layer.fault]
  const result = rawConfigSchema.safeParse(layer.values, { reportInput: true, error: wording })
  if (result.success) return []
  return result.error.issues.map((issue) => {
    const variable = layer.source === 'environment' ? variableOf(issue.path) : undefined
    const place = variable ?? `${layer.source}: ${issue.path.map(String).join('.') || 'configuration'}`
    // URLs contain passwords; any other received value is shown.
    const secret = issue.path.some((key) => key === 'databases' || String(key).toLowerCase().endsWith('url'))
    const received = secret || issue.code === 'unrecognized_keys' ? '' : ` (received ${describeReceived(issue.input)})`
    return `${place}: ${issue.message}${received}`
  })
}

const PROVIDERS: Config['proxy']['upstreams'] = {
  anthropic: { url: 'https://api.anthropic.com', protocol: 'anthropic' },
  openai: { url: 'https://api.openai.com/v1', protocol: 'openai' },
}

function databasesOf({ databases = {} }: RawConfig): Config['databases'] {
  const named = Object.entries(databases).map(([name, { url, adminUrl = url }]) => [name, { url, adminUrl }] as const)
  return Object.fromEntries(named)
}

/** Most servers of other names speak OpenAI's protocol. */
function upstreamsOf({ proxy }: RawConfig): Config['proxy']['upstreams'] {
  const named = Object.entries(proxy?.upstreams ?? {}).map(([name, { url, protocol, compaction }]) => [
    name,
    { url, protocol: protocol ?? PROVIDERS[name]?.protocol ?? 'openai', ...(compaction && { compaction }) },
  ])
  return { ...PROVIDERS, ...Object.fromEntries(named) }
}

/** A layer that names another database leaves out the way around the pooler of the former one, and the databases beside it. */
function mergeLayer(below: Record<string, unknown>, { values }: Layer): Record<string, unknown> {
  if (!('databaseUrl' in values) || values['databaseUrl'] === below['databaseUrl']) return merge(below, values)
  const { directDatabaseUrl: _, databases, ...others } = below
  // A file without the address of the default database may name the others.
  const keeps = databases !== undefined && !('databaseUrl' in below)
  return merge(keeps ? { ...others, databases } : others, values)
}

function merge(below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...below }
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key]
    merged[key] = isRecord(under) && isRecord(value) ? merge(under, value) : value
  }
  return merged
}

function withoutUndefined(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function countOf(faults: readonly string[]): string {
  return faults.length === 1 ? 'a fault' : `${faults.length} faults`
}
