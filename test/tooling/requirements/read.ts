import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'

export const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = 'docs/requirements'

const rowSchema = z.strictObject({
  id: z.string().regex(/^\d{3}-\d+$/),
  says: z.string().min(1),
  /** `path > title` of each test that fails without the behaviour. */
  tests: z.array(z.string().includes(' > ')).min(1).optional(),
  /** The page of `docs/decisions` with the reason for a deviation. */
  decision: z.string().startsWith('docs/decisions/').optional(),
  /** The part that is not built, or that no test holds. */
  open: z.string().min(1).optional(),
})

const textSchema = z.strictObject({
  title: z.string(),
  about: z.string(),
  /** The number of its last row: a row that is removed at the end is missed, too. */
  last: z.int().positive(),
  parts: z.array(z.strictObject({ part: z.string(), rows: z.array(rowSchema).min(1) })),
})

export type Requirement = z.infer<typeof rowSchema>
export interface RequirementText extends z.infer<typeof textSchema> {
  /** `000` in `docs/requirements/000.yaml`. */
  readonly number: string
  readonly path: string
}

/** @throws Error where a file has unknown, missing or malformed fields */
export function parseText(path: string, content: string): RequirementText {
  const [, number] = /(\d{3})\.yaml$/.exec(path) ?? []
  const parsed = textSchema.safeParse(parse(content))
  if (number === undefined || !parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error ?? noNumber)}`)
  return { ...parsed.data, number, path }
}

const noNumber = new z.ZodError([{ code: 'custom', message: 'its name must be a number of three digits', path: [] }])

/** The files of `docs/requirements`, in the order of their numbers. */
export function readTexts(): readonly RequirementText[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.yaml'))
    .toSorted()
    .map((file) => parseText(`${folder}/${file}`, readFileSync(join(root, folder, file), 'utf8')))
}

export function rowsOf({ parts }: RequirementText): readonly Requirement[] {
  return parts.flatMap(({ rows }) => rows)
}

/** The file and the title in `path > title`. */
export function splitTest(test: string): { readonly path: string; readonly title: string } {
  const end = test.indexOf(' > ')
  return { path: test.slice(0, end), title: test.slice(end + ' > '.length) }
}
