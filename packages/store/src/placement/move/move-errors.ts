import { ConflictError } from '@heddle/contracts'
import type { Move } from './moves.js'

export function underWay(project: string, { to, state }: Move): ConflictError {
  return new ConflictError(`a move of the project to ${to} is under way`, {
    field: 'to',
    received: state,
    hint: `Finish it: heddle projects move ${project} --to ${to}; or remove its copy: heddle projects move ${project} --abandon.`,
  })
}

export function anotherUnderWay(from: string, projectId: string): ConflictError {
  return new ConflictError(`a move of another project from ${from} is not finished`, {
    field: 'database',
    received: projectId,
    hint: '`heddle projects list` names it. Run its move again, or abandon it: one project at a time leaves a database.',
  })
}

export function alreadyThere(project: string, to: string): ConflictError {
  return new ConflictError(`${to} already holds a project of this name`, {
    field: 'to',
    received: project,
    hint: 'It was created by a process without HEDDLE_DATABASES, or restored there. Remove it from that database first.',
  })
}

export function numbersTaken(to: string, cause: unknown): ConflictError {
  return new ConflictError(`${to} has rows with the numbers of the project's`, {
    field: 'to',
    hint: 'Databases that were installations of their own share numbers. Move the project into one that was empty when it got its name.',
    cause,
  })
}
