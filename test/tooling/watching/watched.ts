import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

/** Alerts and dashboards, inside the chart: Helm reads no file outside it. */
export const watchedFolder = fileURLToPath(new URL('../../../infra/helm/heddle/files/', import.meta.url))

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

export async function readRules(): Promise<readonly AlertRule[]> {
  const text = await readFile(`${watchedFolder}alerts.yaml`, 'utf8')
  const { groups } = parse(text) as { groups: { rules: AlertRule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** The expressions of all panels of all dashboards. */
export async function dashboardExpressions(): Promise<readonly string[]> {
  const folder = `${watchedFolder}dashboards/`
  const files = await readdir(folder)
  const texts = await Promise.all(files.map((file) => readFile(folder + file, 'utf8')))
  return texts.flatMap((text) => {
    const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] }
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  })
}

/** A metric of an expression, with the labels by which it is selected. */
export interface Selected {
  readonly name: string
  readonly labels: readonly string[]
}

/** The metrics that an expression reads: every name of Heddle, of its process or of Node. */
export function selectedBy(expression: string): readonly Selected[] {
  return [...expression.matchAll(/\b((?:heddle|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => ({
      name,
      labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label),
    }),
  )
}
