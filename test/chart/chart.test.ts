import { readFile } from 'node:fs/promises'
import { operations, stageNames } from '@heddle/contracts'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { watchedFolder } from '../tooling/watching/watched.js'
import { faultsOf, type KubernetesObject } from './kubernetes.js'
import { base, everything, NAMESPACE, refusalOf, render } from './rendered.js'
import { helm } from './tools.js'

const matrix: Readonly<Record<string, readonly string[]>> = {
  'the defaults': base,
  everything,
  'queues in Postgres, with KEDA asking it': [
    ...base,
    'autoscaling.trigger=postgresql',
    ...stageNames.map((stage) => `stages.${stage}.autoscaling.enabled=true`),
  ],
  'a gateway alone': [...base, ...stageNames.map((stage) => `stages.${stage}.enabled=false`)],
  'workers and a proxy, without a gateway': [...base, 'gateway.enabled=false', 'proxy.enabled=true'],
  'nothing beside the processes': [
    ...base,
    'migration.enabled=false',
    'networkPolicy.enabled=false',
    'podDisruptionBudget.enabled=false',
    'topologySpread.enabled=false',
    'serviceAccount.create=false',
  ],
  'Postgres behind a pooler': [...base, 'database.directUrlKey=DIRECT_URL', 'database.port=6432'],
  'projects on several databases': [...base, 'database.databasesKey=DATABASES'],
  'values of users in every place': [
    ...base,
    'fullnameOverride=context',
    'env[0].name=HEDDLE_STRATEGY',
    'env[0].value=tree',
    'stages.embed.env[0].name=HEDDLE_EMBEDDER',
    'stages.embed.env[0].value=local',
    'stages.embed.nodeSelector.pool=large',
    'stages.embed.tolerations[0].key=large',
    'stages.embed.tolerations[0].operator=Exists',
    'stages.embed.podAnnotations.note=text',
    'networkPolicy.callers[0].namespaceSelector.matchLabels.team=agents',
    'networkPolicy.metrics[0].podSelector.matchLabels.app=prometheus',
    'networkPolicy.extraEgress[0].ports[0].port=8080',
    'gateway.service.type=LoadBalancer',
    'serviceAccount.annotations.role=reader',
  ],
}

test('helm finds no fault in the chart', async () => {
  const report = await helm('lint', 'heddle', '--strict', ...base.map((each) => `--set=${each}`))
  expect(report).toContain('0 chart(s) failed')
})

describe.each(Object.entries(matrix))('%s', (_, values) => {
  it('is valid by the schemas of Kubernetes, without unknown fields', async () => {
    const objects = await render(values)
    expect(objects.length).toBeGreaterThan(3)
    const faults = await Promise.all(
      objects.map(async (object) =>
        (await faultsOf(object)).map((fault) => `${object.kind} ${object.metadata.name}: ${fault}`),
      ),
    )
    expect(faults.flat()).toEqual([])
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it('runs every process as a user without rights, on a read-only file system, and stops it in order', async () => {
    for (const { name, pod } of podsOf(await render(values))) {
      const [container] = pod.containers
      expect(pod, name).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      })
      expect(container, name).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      })
      expect(Object.keys(container?.resources ?? {}), name).toEqual(expect.arrayContaining(['requests', 'limits']))
    }
  })
})

test('processes behind a pooler know the way around it, and may take it', async () => {
  const objects = await render([...base, 'database.directUrlKey=DIRECT_URL', 'database.port=6432'])
  for (const { name, pod } of podsOf(objects)) {
    expect(pod.containers[0]?.env, name).toContainEqual({
      name: 'HEDDLE_DIRECT_DATABASE_URL',
      valueFrom: { secretKeyRef: { name: 'heddle-postgres', key: 'DIRECT_URL' } },
    })
  }
  for (const { metadata, spec } of ofKind(objects, 'NetworkPolicy')) {
    const { egress } = spec as { egress: { ports: { port: number }[] }[] }
    const ports = egress.flatMap(({ ports }) => ports.map(({ port }) => port))
    expect(ports, metadata.name).toEqual(expect.arrayContaining([6432, 5432]))
  }
})

test('every process knows the further databases, and only the migration the addresses for their owners', async () => {
  const values = [
    ...base,
    'database.databasesKey=DATABASES',
    'database.adminExistingSecret=heddle-owner',
    'database.adminDatabasesKey=OWNED',
  ]
  for (const { name, pod } of podsOf(await render(values))) {
    const isMigration = name.endsWith('-migrate')
    const key = isMigration ? { name: 'heddle-owner', key: 'OWNED' } : { name: 'heddle-postgres', key: 'DATABASES' }
    const further = pod.containers[0]?.env?.filter((each) => each.name === 'HEDDLE_DATABASES')
    expect(further, name).toEqual([{ name: 'HEDDLE_DATABASES', valueFrom: { secretKeyRef: key } }])
  }
})

test('policies allow the sentinels of Redis where there are some, and no port 0', async () => {
  const redis = [...base, 'redis.existingSecret=heddle-redis']
  const portsOf = async (values: string[]) =>
    ofKind(await render(values), 'NetworkPolicy').map(({ spec }) =>
      (spec as { egress: { ports: { port: number }[] }[] }).egress.flatMap(({ ports }) =>
        ports.map(({ port }) => port),
      ),
    )
  const policies = await portsOf([...redis, 'redis.sentinelPort=26379'])
  expect(policies).not.toHaveLength(0)
  for (const ports of policies) expect(ports).toContain(26379)
  for (const ports of await portsOf(redis)) expect(ports).not.toContain(0)
})

test('an object with a wrong or an unknown field is found', async () => {
  const [deployment] = ofKind(await render(base), 'Deployment')
  const pod = { terminationGracePeriodSecond: 3, containers: [{ name: 'a', image: 'b', imagePullPolicy: 3 }] }
  const broken = { ...deployment, spec: { selector: {}, template: { spec: pod } } } as unknown as KubernetesObject
  expect((await faultsOf(broken)).join()).toContain(
    '/spec/template/spec/containers/0/imagePullPolicy type {"type":"string"}',
  )
  const unknown = { ...broken, spec: { selector: {}, template: { spec: { ...pod, containers: [] } } } }
  expect(await faultsOf(unknown)).toEqual(['/spec/template/spec/terminationGracePeriodSecond is an unknown field'])
})

describe('what others ran into is refused', () => {
  const scaled = [...base, 'autoscaling.keySecret=key', 'stages.summarize.autoscaling.enabled=true']
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    [
      'a target for the processors of workers that wait',
      [...base, 'stages.summarize.hpa.enabled=true'],
      /CPU target is not reached/,
    ],
    [
      'the average of a figure of the whole fleet',
      [...scaled, 'autoscaling.metricType=AverageValue'],
      /pins the pool at its maximum/,
    ],
    [
      'a sum over replicas, as a query of metrics would be',
      [...scaled, 'autoscaling.trigger=prometheus'],
      /\/autoscaling\/trigger/,
    ],
    [
      'an HPA beside a ScaledObject',
      [...base, 'autoscaling.keySecret=key', 'stages.prune.hpa.enabled=true', 'stages.prune.autoscaling.enabled=true'],
      /two on one Deployment undo each other/,
    ],
    [
      'a query of Postgres for queues in Redis',
      [...scaled, 'redis.existingSecret=r', 'autoscaling.trigger=postgresql'],
      /queues from Postgres/,
    ],
    ['a signal without a key', [...base, 'stages.embed.autoscaling.enabled=true'], /autoscaling\.keySecret/],
    ['a signal of a gateway that is not there', [...scaled, 'gateway.enabled=false'], /gateway, which is disabled/],
    ['no database', [], /brings no database/],
    [
      'a stop that would be cut off',
      [...base, 'stages.embed.terminationGracePeriodSeconds=20'],
      /at least preStopSeconds \+ 25/,
    ],
    ['a misspelt value', [...base, 'gateway.replica=3'], /'replica' not allowed/],
    ['an Ingress for no host', [...base, 'gateway.ingress.enabled=true'], /gateway\.hosts/],
  ]
  it.each(cases)('%s', async (_, values, reason) => {
    expect(await refusalOf(values)).toMatch(reason)
  })
})

test('autoscalers read the signal of the gateway, by a path that its answer has', async () => {
  const objects = await render(everything)
  const scaled = ofKind(objects, 'ScaledObject') as readonly (KubernetesObject & { spec: ScaledSpec })[]
  expect(scaled.map(({ metadata }) => metadata.name).sort()).toEqual(
    ['assemble', 'embed', 'ingest', 'remember', 'summarize'].map((stage) => `heddle-${stage}`),
  )
  const figures = operations.readScaling.answers[200].schema.shape.stages.shape
  for (const { metadata, spec } of scaled) {
    const stage = metadata.name.replace('heddle-', '') as keyof typeof figures
    const [trigger] = spec.triggers
    expect(trigger).toMatchObject({ type: 'metrics-api', metricType: 'Value' })
    expect(trigger?.metadata).toMatchObject({
      url: `http://heddle-gateway.${NAMESPACE}.svc:4680${operations.readScaling.path}`,
      valueLocation: `stages.${stage}.scaleSeconds`,
    })
    expect(Object.keys(figures[stage].shape)).toContain('scaleSeconds')
    expect(spec.fallback.replicas).toBeGreaterThan(0)
    // Its number of pods is the autoscaler's alone.
    expect(specOf(objects, 'Deployment', metadata.name)).not.toHaveProperty('replicas')
  }
  const [gateway] = podsOf(objects).filter(({ name }) => name === 'heddle-gateway')
  const hosts = gateway?.pod.containers[0]?.env.find(({ name }) => name === 'HEDDLE_HOSTS')?.value ?? ''
  // The gateway refuses names that it does not know.
  expect(hosts.split(',')).toEqual(expect.arrayContaining([`heddle-gateway.${NAMESPACE}.svc`, 'heddle.example.com']))
})

test('the owner of the tables is known to the migration alone, which is a hook before everything else', async () => {
  const objects = await render(everything)
  const knowing = podsOf(objects).filter(({ pod }) => pod.containers[0]?.env.some(({ name }) => name.includes('ADMIN')))
  expect(knowing.map(({ name }) => name)).toEqual(['heddle-migrate'])
  const job = ofKind(objects, 'Job')[0]
  expect(job?.metadata).toMatchObject({ annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade' } })
  expect(ofKind(objects, 'Secret')).toEqual([])
})

test('every service, monitor, budget and policy selects pods', async () => {
  const objects = await render(everything)
  const pods = ofKind(objects, 'Deployment').map(({ spec }) => (spec as DeploymentSpec).template.metadata.labels)
  const selectors = [
    ...ofKind(objects, 'Service').map(
      ({ metadata, spec }) => [metadata.name, (spec as { selector: Labels }).selector] as const,
    ),
    ...['PodDisruptionBudget', 'NetworkPolicy', 'Deployment'].flatMap((kind) =>
      ofKind(objects, kind).map(({ metadata, spec }) => {
        const { selector, podSelector } = spec as {
          selector?: { matchLabels: Labels }
          podSelector?: { matchLabels: Labels }
        }
        return [`${kind} ${metadata.name}`, (selector ?? podSelector)?.matchLabels ?? {}] as const
      }),
    ),
  ]
  for (const [name, selector] of selectors) {
    const found = pods.filter((labels) => isWithin(selector, labels)).length
    expect(found, name).toBe(name === 'heddle-workers' ? stageNames.length : 1)
  }
  const services = ofKind(objects, 'Service').map(({ metadata }) => metadata.labels ?? {})
  for (const { metadata, spec } of ofKind(objects, 'ServiceMonitor')) {
    const { selector } = spec as { selector: { matchLabels: Labels } }
    expect(services.filter((labels) => isWithin(selector.matchLabels, labels)).length, metadata.name).toBe(1)
  }
})

test('the rules and dashboards are those that are tested', async () => {
  const objects = await render(everything)
  expect(specOf(objects, 'PrometheusRule', 'heddle')).toEqual(
    parse(await readFile(`${watchedFolder}alerts.yaml`, 'utf8')),
  )
  for (const name of ['users', 'pipelines']) {
    const map = objects.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === `heddle-dashboard-${name}`,
    )
    const { [`heddle-${name}.json`]: text = '' } = (map?.['data'] ?? {}) as Record<string, string>
    expect(JSON.parse(text)).toEqual(JSON.parse(await readFile(`${watchedFolder}dashboards/${name}.json`, 'utf8')))
  }
})

type Labels = Readonly<Record<string, string>>

interface PodSpec {
  readonly containers: readonly {
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value?: string }[]
    readonly resources: object
  }[]
}

interface DeploymentSpec {
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec }
}

interface ScaledSpec {
  readonly fallback: { readonly replicas: number }
  readonly triggers: readonly { readonly metadata: Readonly<Record<string, string>> }[]
}

function ofKind(objects: readonly KubernetesObject[], kind: string): readonly KubernetesObject[] {
  return objects.filter((object) => object.kind === kind)
}

function specOf(objects: readonly KubernetesObject[], kind: string, name: string): unknown {
  return ofKind(objects, kind).find(({ metadata }) => metadata.name === name)?.['spec']
}

function podsOf(objects: readonly KubernetesObject[]): readonly { name: string; pod: PodSpec }[] {
  return [...ofKind(objects, 'Deployment'), ...ofKind(objects, 'Job')].map(({ metadata, spec }) => ({
    name: metadata.name,
    pod: (spec as DeploymentSpec).template.spec,
  }))
}

function isWithin(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value)
}
