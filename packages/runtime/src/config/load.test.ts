import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { variables } from './environment.js'
import { type ConfigSources, loadConfig } from './load.js'

function folder(yaml?: string): string {
  const path = mkdtempSync(join(tmpdir(), 'heddle-config-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  if (yaml !== undefined) writeFileSync(join(path, 'heddle.yaml'), yaml)
  return path
}

function faultsOf(sources: ConfigSources): string[] {
  try {
    loadConfig(sources)
  } catch (error) {
    expect(error).toBeInstanceOf(PermanentError)
    return (error as PermanentError).facts?.['faults'] as string[]
  }
  throw new Error('expected a fault')
}

describe('loadConfig', () => {
  it.each(Object.keys(variables))('reads a flag or a number from the text of its variable: %s', (name) => {
    const cwd = folder()
    // A number is never refused for being a text, and a flag never for being `true`.
    const faults = ['1', 'true'].flatMap((value) => {
      try {
        loadConfig({ env: { [name]: value }, cwd })
        return []
      } catch (error) {
        return (error as PermanentError).facts?.['faults'] as string[]
      }
    })
    expect(faults.filter((fault) => fault.includes('true or false') && fault.includes('"true"'))).toEqual([])
    expect(faults.filter((fault) => fault.includes('number') && fault.includes('"1"'))).toEqual([])
  })

  it('keeps derived data for the configured number of days, or forever', () => {
    const cwd = folder('retention: { contextsDays: 3, eventsDays: null }')
    const env = { HEDDLE_RETENTION_DEAD_LETTERS_DAYS: 'none', HEDDLE_RETENTION_TOMBSTONES_DAYS: '30' }
    expect(loadConfig({ env, cwd }).retention).toEqual({
      deliveredMinutes: 60,
      contextsDays: 3,
      contextItemsDays: 90,
      eventsDays: null,
      keptLanesDays: 7,
      voidStatesDays: 30,
      summaryCallsDays: 30,
      proxiedRequestsDays: 90,
      proxiedConversationsDays: 30,
      deadLettersDays: null,
      tombstonesDays: 30,
    })
    expect(() => loadConfig({ env: { HEDDLE_RETENTION_EVENTS_DAYS: '0' }, cwd })).toThrow(
      /HEDDLE_RETENTION_EVENTS_DAYS/,
    )
  })

  it('reads the memory limit for vectors from the file, overridden by the environment', () => {
    const cwd = folder('vectorCacheMegabytes: 64')
    expect(loadConfig({ env: {}, cwd }).vectorCacheMegabytes).toBe(64)
    expect(loadConfig({ env: { HEDDLE_VECTOR_CACHE_MEGABYTES: '512' }, cwd }).vectorCacheMegabytes).toBe(512)
    expect(faultsOf({ env: { HEDDLE_VECTOR_CACHE_MEGABYTES: '0' }, cwd })).toEqual([
      'HEDDLE_VECTOR_CACHE_MEGABYTES: must be at least 1 (received 0)',
    ])
  })

  it('needs no configuration: without sources it is embedded, with the data beside the caller', () => {
    const cwd = folder()
    expect(loadConfig({ env: {}, cwd })).toEqual({
      mode: 'embedded',
      databaseUrl: null,
      redisUrl: null,
      directDatabaseUrl: null,
      adminDatabaseUrl: null,
      databases: {},
      project: 'default',
      dataDir: join(cwd, '.heddle'),
      port: 4680,
      healthPort: null,
      healthHost: '127.0.0.1',
      host: '127.0.0.1',
      hosts: [],
      logLevel: 'info',
      settings: {},
      settingLayers: ['file', 'environment', 'flags'].map((from) => ({ from, settings: {} })),
      embedder: { kind: 'auto', model: null, modelsDir: null, baseUrl: null, dimensions: null, threads: null },
      reranker: { kind: 'off', model: null, baseUrl: null, candidates: 50, timeoutMs: 2_000 },
      connections: { store: null, workers: null },
      workers: { niceness: 10 },
      vectorCacheMegabytes: 100,
      telemetry: { url: null, sampled: 0.1, metricsSeconds: 60 },
      strategyModules: [],
      queuePrefix: 'heddle',
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
      },
      proxy: {
        upstreams: {
          anthropic: { url: 'https://api.anthropic.com', protocol: 'anthropic' },
          openai: { url: 'https://api.openai.com/v1', protocol: 'openai' },
        },
        mode: 'observe',
        stubTokensMin: null,
        control: 0,
        recall: false,
        lateMs: 50,
      },
      queue: { ingestJobsMax: null, ingestBytesMax: null, directAppends: true },
    })
  })

  it('derives the mode from the two addresses only', () => {
    const cwd = folder()
    const DATABASE_URL = 'postgres://heddle@db/heddle'
    expect(loadConfig({ env: { DATABASE_URL }, cwd }).mode).toBe('postgres')
    expect(loadConfig({ env: { DATABASE_URL, REDIS_URL: 'redis://cache' }, cwd }).mode).toBe('redis')
    expect(faultsOf({ env: { REDIS_URL: 'redis://cache' }, cwd })).toEqual([
      'REDIS_URL: needs DATABASE_URL beside it, because messages are kept in Postgres',
    ])
  })

  it('reads further databases from their variable or the file, beside the default one alone', () => {
    const env = {
      DATABASE_URL: 'postgres://a/heddle',
      HEDDLE_DATABASES: 'b=postgres://app@b/heddle|postgres://owner@b/heddle  c=postgres://c/x?options=-c%20jit%3Doff',
    }
    expect(loadConfig({ env, cwd: folder() }).databases).toEqual({
      b: { url: 'postgres://app@b/heddle', adminUrl: 'postgres://owner@b/heddle' },
      c: { url: 'postgres://c/x?options=-c%20jit%3Doff', adminUrl: 'postgres://c/x?options=-c%20jit%3Doff' },
    })
    const cwd = folder('databases: { b: { url: postgres://b/heddle } }')
    const { databases } = loadConfig({ env: { DATABASE_URL: 'postgres://a/heddle' }, cwd })
    expect(databases).toEqual({ b: { url: 'postgres://b/heddle', adminUrl: 'postgres://b/heddle' } })
    expect(faultsOf({ env: {}, cwd })).toEqual([
      'HEDDLE_DATABASES: needs DATABASE_URL beside it, the address of the default database',
    ])
  })

  it('leaves out the databases of another default database', () => {
    const cwd = folder('databaseUrl: postgres://a/heddle\ndatabases: { b: { url: postgres://b/heddle } }')
    expect(loadConfig({ env: { DATABASE_URL: 'postgres://z/heddle' }, cwd }).databases).toEqual({})
    expect(Object.keys(loadConfig({ env: {}, cwd }).databases)).toEqual(['b'])
  })

  it.each([
    'b=postgres://app:secret@b/heddle b=postgres://app:secret@c/heddle',
    'postgres://app:secret@b/heddle',
    'default=postgres://app:secret@b/heddle',
    'B=postgres://app:secret@b/heddle',
    'b=mysql://app:secret@b/heddle',
  ])('refuses databases without a name or an address of their own, and shows no password: %s', (text) => {
    const faults = faultsOf({ env: { DATABASE_URL: 'postgres://a/heddle', HEDDLE_DATABASES: text }, cwd: folder() })
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(/HEDDLE_DATABASES: must be entries|environment: databases/)
    expect(faults.join()).not.toContain('secret')
  })

  it('keeps the way around a pooler with the database that it leads to', () => {
    const cwd = folder('databaseUrl: postgres://pooler/heddle\ndirectDatabaseUrl: postgres://primary/heddle')
    const direct = (sources: Omit<ConfigSources, 'cwd'>) => loadConfig({ ...sources, cwd }).directDatabaseUrl
    expect(direct({ env: {} })).toBe('postgres://primary/heddle')
    expect(direct({ env: { DATABASE_URL: 'postgres://pooler/heddle' } })).toBe('postgres://primary/heddle')
    expect(direct({ env: { DATABASE_URL: 'postgres://other/heddle' } })).toBeNull()
    expect(direct({ env: {}, flags: { databaseUrl: 'postgres://other/heddle' } })).toBeNull()
    const HEDDLE_DIRECT_DATABASE_URL = 'postgres://third/heddle'
    expect(direct({ env: { HEDDLE_DIRECT_DATABASE_URL } })).toBe(HEDDLE_DIRECT_DATABASE_URL)
    expect(faultsOf({ env: { HEDDLE_DIRECT_DATABASE_URL }, cwd: folder() })).toEqual([
      'HEDDLE_DIRECT_DATABASE_URL: needs DATABASE_URL beside it, the address of the pooler',
    ])
  })

  it('keeps the settings of each source apart', () => {
    const cwd = folder('settings: { budget: 5000, prune: { keepLastN: 3 } }')
    const flags = { settings: { strategy: 'tree' } }
    const { settings, settingLayers } = loadConfig({ env: { HEDDLE_BUDGET: '7000' }, cwd, flags })
    expect(settings).toMatchObject({ budget: 7_000, prune: { keepLastN: 3 }, strategy: 'tree' })
    expect(settingLayers).toEqual([
      { from: 'file', settings: { budget: 5_000, prune: { keepLastN: 3 } } },
      { from: 'environment', settings: { budget: 7_000 } },
      { from: 'flags', settings: { strategy: 'tree' } },
    ])
  })

  it('lets the environment override the file, and flags override both', () => {
    const cwd = folder('port: 1000\nsettings:\n  budget: 8000\n  prune: { keepLastN: 3 }\nproject: file\n')
    const config = loadConfig({ env: { HEDDLE_PORT: '2000', HEDDLE_BUDGET: '9000' }, cwd, flags: { port: 3000 } })
    expect(config.port).toBe(3000)
    expect(config.project).toBe('file')
    expect(config.settings).toEqual({ budget: 9000, prune: { keepLastN: 3 } })
  })

  it('reads who writes summaries, and whether they are written, from the file, overridden by the environment', () => {
    const file =
      'settings:\n  summarizationProvider: cerebras\n  summarizationModel: llama3.1-8b\n  disableAutoSummarize: true\n'
    const cwd = folder(file)
    expect(loadConfig({ env: {}, cwd }).settings).toEqual({
      summarizationProvider: 'cerebras',
      summarizationModel: 'llama3.1-8b',
      disableAutoSummarize: true,
    })
    const env = {
      HEDDLE_SUMMARIZATION_PROVIDER: 'groq',
      HEDDLE_SUMMARIZATION_MODEL: 'llama-3.1-8b-instant',
      HEDDLE_DISABLE_AUTO_SUMMARIZE: 'false',
    }
    expect(loadConfig({ env, cwd }).settings).toEqual({
      summarizationProvider: 'groq',
      summarizationModel: 'llama-3.1-8b-instant',
      disableAutoSummarize: false,
    })
  })

  it('reports every fault at once and names the variable or the file', () => {
    const cwd = folder('port: many\nprot: 1\n')
    const faults = faultsOf({
      env: { HEDDLE_BUDGET: 'lots', HEDDLE_LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://user:hunter2@db/x' },
      cwd,
    })
    expect(faults).toHaveLength(5)
    expect(faults.join('\n')).toContain('HEDDLE_BUDGET: must be a number')
    expect(faults.join('\n')).toContain('HEDDLE_LOG_LEVEL: must be one of')
    expect(faults.join('\n')).toContain(`${join(cwd, 'heddle.yaml')}: port: must be a whole number (received "many")`)
    expect(faults.join('\n')).toMatch(/heddle\.yaml: configuration: has unknown keys.*prot/)
    expect(faults.join('\n')).not.toContain('hunter2')
  })

  it('reads descriptions of tools from the file, and names the invalid entry', () => {
    const tool = '{ names: [peek], kind: file_view, path: [what] }'
    const config = loadConfig({ env: {}, cwd: folder(`tools:\n  - ${tool}\nsettings:\n  tools: [${tool}]\n`) })
    const row = { names: ['peek'], kind: 'file_view', path: ['what'] }
    expect(config.settings).toEqual({ tools: [row, row] })
    const faults = faultsOf({
      env: {},
      cwd: folder(`tools:\n  - ${tool}\n  - { names: [], kind: look, paths: [a] }\n`),
    })
    expect(faults.join('\n')).toContain('heddle.yaml: tools.1.names: must name at least one')
    expect(faults.join('\n')).toContain('heddle.yaml: tools.1.kind: must be one of file_view, grep, bash, edit, other')
    expect(faults.join('\n')).toMatch(/tools\.1: has unknown keys.*paths/)
  })

  it('reads the iteration settings under their command-line names, overridden by their own names', () => {
    const cwd = folder('context:\n  raw_window_size: 4\n  summarize_every: 8\n  max_summary_tokens: 1500\n')
    expect(loadConfig({ env: {}, cwd }).settings).toEqual({
      iterations: { rawWindowSize: 4, summarizeEvery: 8 },
      maxSummaryTokens: 1_500,
    })
    const env = { HEDDLE_CONTEXT_WINDOW: '6', HEDDLE_MAX_SUMMARY_TOKENS: '900' }
    expect(loadConfig({ env, cwd }).settings).toEqual({
      iterations: { rawWindowSize: 6, summarizeEvery: 8 },
      maxSummaryTokens: 900,
    })
    const faults = faultsOf({ env: {}, cwd: folder('context:\n  raw_window_size: 0\n  window: 1\n') })
    expect(faults.join('\n')).toMatch(/context\.raw_window_size: .*\(received 0\)/)
    expect(faults.join('\n')).toMatch(/context: has unknown keys.*window/)
  })

  it('treats an empty variable as not set, and the window "none" as no window', () => {
    const config = loadConfig({ env: { HEDDLE_BUDGET: '', HEDDLE_ROLLING_WINDOW: 'none' }, cwd: folder() })
    expect(config.settings).toEqual({ rollingWindow: null })
  })

  it('refuses a configuration file that was named but does not exist, or cannot be read', () => {
    const cwd = folder('a: [')
    expect(faultsOf({ env: { HEDDLE_CONFIG: 'other.yaml' }, cwd })[0]).toContain('HEDDLE_CONFIG: the file')
    expect(faultsOf({ env: {}, cwd })[0]).toContain('cannot be read')
  })

  it('adds upstreams of the proxy, and changes the address of a provider', () => {
    const cwd = folder('proxy:\n  upstreams:\n    local: { url: "http://127.0.0.1:8000/v1", compaction: heddle }\n')
    const { proxy } = loadConfig({ env: { HEDDLE_PROXY_ANTHROPIC_URL: 'http://127.0.0.1:9' }, cwd })
    expect(proxy.upstreams).toMatchObject({
      anthropic: { url: 'http://127.0.0.1:9', protocol: 'anthropic' },
      local: { url: 'http://127.0.0.1:8000/v1', protocol: 'openai', compaction: 'heddle' },
    })
  })

  it('refuses upstreams with credentials, or with a name that is a path of the gateway', () => {
    for (const [name, url] of [
      ['local', 'http://user:secret@127.0.0.1'],
      ['v1', 'http://127.0.0.1'],
      ['local', 'ftp://127.0.0.1'],
    ]) {
      const cwd = folder(`proxy:\n  upstreams:\n    ${name}: { url: "${url}" }\n`)
      expect(() => loadConfig({ env: {}, cwd })).toThrow(/proxy\.upstreams/)
    }
  })
})
