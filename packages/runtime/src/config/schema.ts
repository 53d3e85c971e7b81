import { isIP } from 'node:net'
import { nameSchema, partialSettingsSchema, proxyModeSchema, settingsSchema } from '@heddle/contracts'
import { z } from 'zod'
import { logLevels } from '../logger.js'
import { parseRedisAddress } from './redis-address.js'

/** The name of the database of `databaseUrl` among several. */
export const DEFAULT_DATABASE = 'default'

const address = (protocols: readonly string[], example: string) =>
  z.string().refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    return url !== null && protocols.includes(url.protocol)
  }, `must be an address such as ${example}`)

const postgresAddress = address(['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/database')
const redisAddress = z
  .string()
  .refine(
    (text) => parseRedisAddress(text) !== null,
    'must be an address such as redis://host:6379, or redis+sentinel://host:26379,host:26379/name',
  )

const port = z
  .int({ error: 'must be a whole number' })
  .min(0, 'must be a port, 0 to 65535')
  .max(65_535, 'must be a port, 0 to 65535')

const atLeastOne = z.int({ error: 'must be a whole number' }).min(1, 'must be at least 1')

const days = z
  .int({ error: 'must be a whole number of days, or null for ever' })
  .min(1, 'must be at least 1')
  .max(36_500, 'must be at most 36500')
  .nullable()

export const strategyModulesSchema = z
  .array(z.string().min(1, 'must name a module').max(1_000), { error: 'must be a list of modules' })
  .max(50, 'must be at most 50 modules')

/** Paths of the gateway itself, which an upstream must not have. */
const OWN_PATHS: ReadonlySet<string> = new Set(['v1', 'ui', 'docs', 'mcp', 'healthz', 'readyz', 'metrics'])

const upstreamName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be 1 to 40 of a-z, 0-9 and -, starting with a letter')
  .refine((name) => !OWN_PATHS.has(name), 'must not be a path of the gateway')

const upstreamUrl = address(['http:', 'https:'], 'https://host/v1').refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : null
  return url === null || (url.username === '' && url.password === '' && url.search === '' && url.hash === '')
}, 'must have no user, query or fragment')

const minutes = z
  .int({ error: 'must be a whole number of minutes, or null for as long as the contexts' })
  .min(1, 'must be at least 1')
  .max(52_560_000, 'must be at most 52560000')
  .nullable()

const ownAddress = z
  .string()
  .refine((text) => isIP(text) !== 0 || text === 'localhost', 'must be an address of this machine, such as 0.0.0.0')

/** Databases beside the default one: each is one more pool of connections in every process. */
const DATABASES_MAX = 64

const databaseName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be 1 to 40 of a-z, 0-9 and -, starting with a letter')
  .refine((name) => name !== DEFAULT_DATABASE, 'must not be default, the name of the database of DATABASE_URL')

/** The possible contents of `heddle.yaml`, the environment and flags together, before defaults. */
export const rawConfigSchema = z.strictObject({
  databaseUrl: postgresAddress.optional(),
  redisUrl: redisAddress.optional(),
  directDatabaseUrl: postgresAddress.optional(),
  adminDatabaseUrl: postgresAddress.optional(),
  /** Further databases, by name, to which projects are moved (docs/scale.md#more-than-one-postgres). */
  databases: z
    .record(
      databaseName,
      z.strictObject({
        url: postgresAddress,
        /** The owner's address, for migrations and moves. Default: `url`. */
        adminUrl: postgresAddress.optional(),
      }),
      {
        error: ({ code }) =>
          code === 'invalid_type'
            ? 'must be entries such as b=postgres://host/heddle, each with a name of its own'
            : undefined,
      },
    )
    .refine((databases) => Object.keys(databases).length <= DATABASES_MAX, `must be at most ${DATABASES_MAX} databases`)
    .optional(),
  project: nameSchema.optional(),
  dataDir: z.string().min(1).optional(),
  port: port.optional(),
  healthPort: port.optional(),
  healthHost: ownAddress.optional(),
  /** The address that the gateway listens on. */
  host: ownAddress.optional(),
  /** Host names under which the gateway is reached, such as that of a proxy. */
  hosts: z
    .array(z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a name without a port'))
    .max(20)
    .optional(),
  logLevel: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).optional(),
  /** Part of Redis keys and of the name of a Postgres schema, so limited to characters that both accept. */
  queuePrefix: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be 1 to 40 of a-z, 0-9, _ and -, starting with a letter')
    .optional(),
  queue: z
    .strictObject({
      ingestJobsMax: atLeastOne.optional(),
      ingestBytesMax: atLeastOne.optional(),
      directAppends: z.boolean({ error: 'must be true or false' }).optional(),
    })
    .optional(),
  /** Maximum number of one process's connections to Postgres. */
  connections: z
    .strictObject({
      store: atLeastOne.max(100, 'must be at most 100').optional(),
      workers: atLeastOne.max(100, 'must be at most 100').optional(),
    })
    .optional(),
  workers: z
    .strictObject({
      niceness: z
        .int({ error: 'must be a whole number' })
        .min(0, 'must be at least 0')
        .max(19, 'must be at most 19')
        .optional(),
    })
    .optional(),
  /** The drop-in door: agents that call a provider by way of Heddle (docs/proxy.md). */
  proxy: z
    .strictObject({
      /** Servers of providers by the first part of their path. `anthropic` and `openai` exist without configuration. */
      upstreams: z
        .record(
          upstreamName,
          z.strictObject({
            url: upstreamUrl,
            protocol: z.enum(['anthropic', 'openai'], { error: 'must be one of anthropic, openai' }).optional(),
            /** The server that answers `POST /responses/compact`: the upstream (`pass`), or Heddle for one that cannot. */
            compaction: z.enum(['heddle', 'pass'], { error: 'must be one of heddle, pass' }).optional(),
          }),
        )
        .refine((upstreams) => Object.keys(upstreams).length <= 20, 'must be at most 20 upstreams')
        .optional(),
      /**
       * Changes that requests get: `observe` none, `stub` large results of tools are shortened before they are sent for the first
       * time, `compact` besides them summaries in place of a history where that costs less or has to be.
       */
      mode: proxyModeSchema.optional(),
      /** Size in estimated tokens from which a result is shortened. */
      stubTokensMin: atLeastOne.max(10_000_000, 'must be at most 10000000').optional(),
      /** Share of conversations that stay unchanged for comparison. */
      control: z
        .number({ error: 'must be a number' })
        .min(0, 'must be at least 0')
        .max(1, 'must be at most 1')
        .optional(),
      /** Whether the tool `heddle_recall` is added to the tools of a request, and answered by the proxy. */
      recall: z.boolean({ error: 'must be true or false' }).optional(),
      /** Longest time in milliseconds that a request waits for Heddle itself; then it is sent on as it came. */
      lateMs: atLeastOne.max(10_000, 'must be at most 10000').optional(),
    })
    .optional(),
  embedder: z
    .strictObject({
      kind: z
        .enum(['auto', 'hashing', 'local', 'openai'], { error: 'must be one of auto, hashing, local, openai' })
        .optional(),
      model: z.string().min(1).max(200).optional(),
      modelsDir: z.string().min(1).optional(),
      baseUrl: address(['http:', 'https:'], 'https://host/v1').optional(),
      dimensions: atLeastOne.max(4_096, 'must be at most 4096').optional(),
      threads: atLeastOne.max(64, 'must be at most 64').optional(),
    })
    .optional(),
  reranker: z
    .strictObject({
      kind: z.enum(['off', 'local', 'http'], { error: 'must be one of off, local, http' }).optional(),
      model: z.string().min(1).max(200).optional(),
      baseUrl: address(['http:', 'https:'], 'https://host/v1').optional(),
      /** A model reads each of them beside the query. */
      candidates: atLeastOne.max(200, 'must be at most 200').optional(),
      timeoutMs: atLeastOne.max(60_000, 'must be at most 60000').optional(),
    })
    .optional(),
  /** Traces and metrics for a collector of OpenTelemetry (docs/telemetry.md). Off without a URL. */
  telemetry: z
    .strictObject({
      /** The collector's address for OTLP over HTTP, such as http://127.0.0.1:4318. */
      url: upstreamUrl.optional(),
      /** Share of the traces that begin here and are recorded; a caller's sampled trace is always continued. */
      sampled: z
        .number({ error: 'must be a number' })
        .min(0, 'must be at least 0')
        .max(1, 'must be at most 1')
        .optional(),
      /** Seconds between two exports of metrics. */
      metricsSeconds: atLeastOne.max(3_600, 'must be at most 3600').optional(),
    })
    .optional(),
  /** Retention of data other than messages, in days or minutes; null for ever. */
  retention: z
    .strictObject({
      deliveredMinutes: minutes.optional(),
      contextsDays: days.optional(),
      contextItemsDays: days.optional(),
      eventsDays: days.optional(),
      keptLanesDays: days.optional(),
      voidStatesDays: days.optional(),
      summaryCallsDays: days.optional(),
      proxiedRequestsDays: days.optional(),
      proxiedConversationsDays: days.optional(),
      deadLettersDays: days.optional(),
      tombstonesDays: days.optional(),
    })
    .optional(),
  /** Loaded before the rest is checked: settings may name the strategies that they register. */
  vectorCacheMegabytes: atLeastOne.max(65_536, 'must be at most 65536').optional(),
  strategyModules: strategyModulesSchema.optional(),
  settings: partialSettingsSchema.optional(),
  /**
   * Other names of the settings for iterations (docs/iterations.md#settings); the same as `settings.iterations` and
   * `settings.maxSummaryTokens`.
   */
  context: z
    .strictObject({
      raw_window_size: settingsSchema.shape.iterations.shape.rawWindowSize.optional(),
      summarize_every: settingsSchema.shape.iterations.shape.summarizeEvery.optional(),
      max_summary_tokens: settingsSchema.shape.maxSummaryTokens.optional(),
    })
    .optional(),
  /** Custom tools; the same as `settings.tools`, at the top level because the list may be long. */
  tools: settingsSchema.shape.tools.optional(),
})
export type RawConfig = z.infer<typeof rawConfigSchema>
