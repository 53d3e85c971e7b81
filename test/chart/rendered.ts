import { parseAllDocuments } from 'yaml'
import type { KubernetesObject } from './kubernetes.js'
import { helm } from './tools.js'

export const NAMESPACE = 'agents'
/** Without a database nothing is rendered. */
export const base = ['database.existingSecret=heddle-postgres'] as const
/** All that can be enabled together. */
export const everything = [
  ...base,
  'database.adminExistingSecret=heddle-owner',
  'redis.existingSecret=heddle-redis',
  'models.existingSecret=heddle-models',
  'models.existingClaim=models',
  'proxy.enabled=true',
  'gateway.hpa.enabled=true',
  'gateway.hosts[0]=heddle.example.com',
  'gateway.ingress.enabled=true',
  'gateway.ingress.className=nginx',
  'gateway.ingress.tlsSecret=certificate',
  'autoscaling.keySecret=heddle-keda',
  ...['ingest', 'summarize', 'embed', 'remember', 'assemble'].map(
    (stage) => `stages.${stage}.autoscaling.enabled=true`,
  ),
  'stages.prune.hpa.enabled=true',
  'stages.prune.concurrency=8',
  'serviceMonitor.enabled=true',
  'serviceMonitor.keySecret=heddle-prometheus',
  'prometheusRule.enabled=true',
  'dashboards.enabled=true',
  'imagePullSecrets[0].name=registry',
] as const

/** @param values as for `--set` */
export async function render(values: readonly string[], release = 'heddle'): Promise<readonly KubernetesObject[]> {
  const text = await helm(
    'template',
    release,
    'heddle',
    '--namespace',
    NAMESPACE,
    ...values.map((each) => `--set=${each}`),
  )
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0]
      return document.toJS() as KubernetesObject | null
    })
    .filter((object) => object !== null)
}

/** Helm's reason for rendering nothing; null if it renders. */
export async function refusalOf(values: readonly string[]): Promise<string | null> {
  return await render(values).then(
    () => null,
    (error: unknown) => (error as { stderr?: string }).stderr ?? String(error),
  )
}
