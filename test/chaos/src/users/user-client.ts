import type { Client } from '@heddle/client/interface'
import type { HeddleError } from '@heddle/contracts'

/** The calls of users, which both clients have. */
export interface UserClient {
  readonly messages: Pick<Client['messages'], 'append'>
  readonly contexts: Pick<Client['contexts'], 'build' | 'get'>
}

export interface Connected {
  readonly client: UserClient
  close(): Promise<void>
}

/** The fields of an error that both this version and an earlier one have. */
export type Refusal = Pick<HeddleError, 'code' | 'disposition' | 'message'>

/** A typed error, also one of another version's class; null for any other error. */
export function refusalOf(error: unknown): Refusal | null {
  return error instanceof Error && 'code' in error && 'disposition' in error ? (error as Error & Refusal) : null
}
