import type { Environment } from './options.js'

/* A page has no environment and no folder: `connect` uses only its options. */

export const environment: Environment = {}
export const workingDirectory = (): string => ''
export const openAbortController = (): AbortController => new AbortController()
export const dataFolderOf = (): string => ''
export const addressOfUp = async (): Promise<string | null> => null
