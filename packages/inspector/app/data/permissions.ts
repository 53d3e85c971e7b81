import type { Permission } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from './queries.js'

/** Whether the reader's key has a permission; buttons that need one are not shown to others. */
export function useMay(permission: Permission): boolean {
  const { data: session } = useQuery(sessionQuery)
  return session?.permissions.includes(permission) ?? false
}
