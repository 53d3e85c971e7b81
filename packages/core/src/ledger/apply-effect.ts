import type { FileEffect } from '../tools/file-commands.js'
import { ARTIFACTS_MAX, type Artifact } from './artifact.js'
import { type Artifacts, type Change, isThere } from './artifacts.js'
import { baseOf } from './files.js'

/** Notes a change of files in the ledger. A folder takes the files along that are in it. */
export function applyEffect(artifacts: Artifacts, effect: FileEffect, code: string): void {
  const { kind, path } = effect
  const set = (name: string, change: Omit<Change, 'kind' | 'name' | 'code'>) =>
    artifacts.set({ kind: 'file', name, ...change, code })
  switch (kind) {
    case 'view':
      artifacts.view(path, code)
      break
    case 'write':
      set(path, { state: 'written' })
      break
    case 'create':
      if (!isThere(artifacts.file(path)?.state ?? null)) set(path, { state: 'written' })
      break
    case 'folder':
      artifacts.restoreFolder(artifacts.nameOf(path))
      break
    case 'remove':
      for (const { name } of artifacts.below(path)) set(name, { state: 'deleted' })
      set(artifacts.folder(path), { state: 'deleted' })
      break
    case 'move':
    case 'copy':
      transfer(effect)
      break
  }

  function transfer({ path: from, to, isInto }: Extract<FileEffect, { to: string }>): void {
    const isFolder = isInto || artifacts.below(to).length > 0
    const target = isFolder ? `${artifacts.folder(to)}/${baseOf(from.replace(/\/$/, ''))}` : to
    const found = artifacts.below(from)
    // A ledger keeps no more, and copies of copies would double the files with each call.
    const carried = kind === 'copy' ? found.slice(-ARTIFACTS_MAX) : found
    const folders = [artifacts.folder(from), artifacts.nameOf(from)]
    for (const artifact of carried) {
      const folder = folders.find((each) => artifact.name.startsWith(`${each}/`)) ?? ''
      carry(artifact.name, `${target}${artifact.name.slice(folder.length)}`, artifact)
    }
    if (carried.length === 0) carry(from, target, artifacts.file(from))
    else if (kind === 'move') set(folders[0] ?? from, { state: 'moved', detail: `to ${target}` })
  }

  function carry(from: string, to: string, before: Artifact | undefined): void {
    const lines = before?.lines ?? null
    if (kind === 'move') set(from, { state: 'moved', detail: `to ${to}` })
    set(to, { state: 'written', lines })
  }
}
