import { importTool, readTool } from './tools.js'

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> }
  readonly [field: string]: unknown
}

interface Validate {
  (data: unknown): boolean
  readonly errors?: readonly { readonly instancePath: string; readonly keyword: string; readonly params: object }[]
}

const known = new Map<string, Promise<Validate>>()

/** Problems of an object by the schema of its kind, which ignores unknown fields: those are found by what it never reads. */
export async function faultsOf(object: KubernetesObject): Promise<readonly string[]> {
  const validate = await validatorOf(object)
  const read = new Set<string>()
  const isValid = validate(recorded(object, '', read))
  const invalid = (validate.errors ?? []).map(
    ({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`,
  )
  if (!isValid) return invalid
  return pathsOf(object, '')
    .filter((path) => !read.has(path))
    .map((path) => `${path} is an unknown field`)
}

function validatorOf({ apiVersion, kind }: KubernetesObject): Promise<Validate> {
  const key = `${apiVersion}/${kind}`
  const loading = known.get(key) ?? loadValidator(apiVersion, kind)
  known.set(key, loading)
  return loading
}

async function loadValidator(apiVersion: string, kind: string): Promise<Validate> {
  const model = await readTool(`${packageOf(apiVersion)}/${apiVersion}/${kind}.js`)
  const [, schema] = /_schemas\/(\w+)(?:\.js)?"/.exec(model) ?? []
  if (schema === undefined) throw new Error(`no schema of ${apiVersion} ${kind}`)
  const { validate } = await importTool<{ validate: Validate }>(`${packageOf(apiVersion)}/_schemas/${schema}.js`)
  return validate
}

function packageOf(apiVersion: string): string {
  if (apiVersion.startsWith('keda.sh/')) return '@kubernetes-models/keda'
  if (apiVersion.startsWith('monitoring.coreos.com/')) return '@kubernetes-models/prometheus-operator'
  return 'kubernetes-models'
}

/** The object, which notes the path of each field that is read. */
function recorded(value: unknown, path: string, read: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, name, receiver) {
      const field = Reflect.get(target, name, receiver) as unknown
      if (typeof name === 'symbol' || !Object.hasOwn(target, name)) return field
      const full = `${path}/${name}`
      read.add(full)
      return recorded(field, full, read)
    },
  })
}

function pathsOf(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) => {
    const full = `${path}/${name}`
    return [full, ...pathsOf(field, full)]
  })
}
