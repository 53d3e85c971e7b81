import type { Config } from '@heddle/runtime'
import { type Check, failedBy, passed } from './check.js'
import { checksOfServer } from './database.js'

/** One check for each further database: a database that is down takes its projects with it, and no others. */
export async function checkDatabases({ databases }: Pick<Config, 'databases'>): Promise<Check[]> {
  const { inspectServer } = await import('@heddle/store')
  return await Promise.all(
    Object.entries(databases).map(async ([database, { url }]): Promise<Check> => {
      const name = `database ${database}`
      try {
        const found = checksOfServer(await inspectServer({ url })).filter(({ status }) => status !== 'ok')
        const worst = found.find(({ status }) => status === 'fail') ?? found[0]
        return worst === undefined ? passed(name, 'the server answers, and is migrated') : { ...worst, name }
      } catch (error) {
        return failedBy(name, error)
      }
    }),
  )
}
