import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stageNames } from '@heddle/contracts'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { type ServiceProcess, startService } from '../pipeline/service-process.js'
import { base, NAMESPACE, render } from './rendered.js'

/** The image's `heddle`. */
const HEDDLE = fileURLToPath(new URL('../../packages/cli/bin/heddle.js', import.meta.url))
/** The address of a pod, by which a kubelet and Prometheus reach it. */
const POD = '10.244.1.7'

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: SecretReference }[]
  readonly ports?: readonly { readonly name: string }[]
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } }
}

interface SecretReference {
  readonly secretKeyRef: { readonly name: string; readonly key: string }
}

test('the processes of the chart serve probes, metrics and the signal as it says, and stop within their time', async () => {
  const { containers, run, start } = await openDeployment()
  await run('migrate')
  const keyOf = async (role: string) => {
    const made = await run('gateway', ['keys', 'create', '--name', role, '--role', role, '--json'])
    return (JSON.parse(made) as { key: string }).key
  }
  // As the notes of the chart say: by the login of the services.
  const keys = { admin: await keyOf('admin'), read: await keyOf('read') }
  const started = new Map(
    [...containers.keys()].filter((name) => name !== 'migrate').map((name) => [name, start(name)]),
  )
  expect([...started.keys()].sort()).toEqual(['gateway', 'proxy', ...stageNames].sort())
  for (const [name, each] of started) {
    const { port, healthPort } = await each.logged('ready')
    const at = { port: (name === 'gateway' || name === 'proxy' ? port : healthPort) ?? 0, host: `${POD}:9464` }
    for (const path of ['/healthz', containers.get(name)?.readinessProbe?.httpGet.path ?? ''])
      expect(await ask({ ...at, path }), `${name} ${path} ${each.written()}`).toMatchObject({ status: 200 })
    const metrics = await ask({ ...at, path: '/metrics', key: keys.read })
    expect(metrics, name).toMatchObject({ status: 200 })
    expect(metrics.body).toContain('heddle_stage_jobs_done_total')
    expect((await ask({ ...at, host: 'evil.example', path: '/healthz' })).status, name).toBe(403)
    if (name !== 'gateway') continue
    const signal = { port: port ?? 0, host: `heddle-gateway.${NAMESPACE}.svc:4680`, path: '/v1/scaling' }
    expect((await ask(signal)).status).toBe(401)
    expect(JSON.parse((await ask({ ...signal, key: keys.read })).body)).toMatchObject({
      stages: Object.fromEntries(stageNames.map((stage) => [stage, { scaleSeconds: 0 }])),
    })
  }
  for (const [name, each] of started) {
    each.kill('SIGTERM')
    expect(await each.ended, `${name} ${each.written()}`).toEqual({ code: 0, signal: null })
  }
})

interface Request {
  readonly port: number
  readonly host: string
  readonly path: string
  readonly key?: string
}

function ask({ port, host, path, key }: Request): Promise<{ status: number; body: string }> {
  const headers = { host, ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers }, async (response) => {
      const parts = await response.toArray()
      resolve({ status: response.statusCode ?? 0, body: parts.join('') })
    }).once('error', reject)
  })
}

interface Deployment {
  readonly containers: ReadonlyMap<string, Container>
  /** Runs a container to its end, with its own command or another, and returns its output. */
  run(name: string, argv?: readonly string[]): Promise<string>
  start(name: string): ServiceProcess
}

/** A Postgres, and the containers of the chart beside it as processes of this machine, with the queues in Postgres. */
async function openDeployment(): Promise<Deployment> {
  const dir = await mkdtemp(join(tmpdir(), 'heddle-chart-'))
  await chmod(dir, 0o711)
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const log = createLogger({ level: 'warn', name: 'test' })
  const server = await startEmbeddedPostgres({ dataDir: join(dir, 'data'), durable: false, log })
  onTestFinished(() => server.stop())
  const secrets: Readonly<Record<string, string>> = {
    'heddle-postgres DATABASE_URL': server.url,
    'heddle-owner HEDDLE_ADMIN_DATABASE_URL': server.adminUrl,
  }
  const objects = await render([...base, 'database.adminExistingSecret=heddle-owner', 'proxy.enabled=true'])
  const containers = new Map(
    objects
      .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
      .map(({ metadata, spec }) => {
        const { template } = spec as { template: { spec: { containers: [Container] } } }
        return [metadata.name.replace('heddle-', ''), template.spec.containers[0]] as const
      }),
  )
  const environmentOf = ({ env }: Container) =>
    Object.fromEntries(
      env.map(({ name, value, valueFrom }) => {
        const { name: secret = '', key = '' } = valueFrom?.secretKeyRef ?? {}
        // Ports of this machine may be in use.
        return [name, name === 'HEDDLE_HEALTH_PORT' ? '0' : (value ?? secrets[`${secret} ${key}`] ?? '')]
      }),
    )
  const spawn = (name: string, argv?: readonly string[]) => {
    const container = containers.get(name)
    if (container === undefined) throw new Error(`the chart has no ${name}`)
    const command = argv ?? container.args.map((word) => (word === '4680' ? '0' : word))
    return startService(
      HEDDLE,
      { ...environmentOf(container), HEDDLE_DATA: join(dir, name) },
      { argv: command, cwd: dir },
    )
  }
  return {
    containers,
    async run(name, argv) {
      const process = spawn(name, argv)
      const { code } = await process.ended
      expect(code, process.written()).toBe(0)
      return process.written()
    },
    start: (name) => spawn(name),
  }
}
