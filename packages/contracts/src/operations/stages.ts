import {
  findingPageSchema,
  scalingSchema,
  stageBehindPageSchema,
  stagePageSchema,
  stageParamsSchema,
  stageSamplePageSchema,
  stageSwitchedSchema,
} from '../http/stages.js'
import { operation } from './operation.js'

const switched = { 200: { description: 'The stage after the change.', schema: stageSwitchedSchema } } as const

export const stageOperations = {
  listStages: operation({
    method: 'GET',
    path: '/v1/stages',
    tag: 'stages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The queues of all stages, and the work of their workers',
    description: 'Figures of the whole deployment, which all of its projects share.',
    answers: { 200: { description: 'Every stage, in the order of the pipeline.', schema: stagePageSchema } },
  }),
  listStageSamples: operation({
    method: 'GET',
    path: '/v1/stages/samples',
    tag: 'stages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The queues of all stages once a minute, over the last six hours',
    description: 'Oldest first. Each gateway keeps its own in memory: they begin with its start.',
    answers: { 200: { description: 'All samples, in one page.', schema: stageSamplePageSchema } },
  }),
  listStagesBehind: operation({
    method: 'GET',
    path: '/v1/stages/behind',
    tag: 'stages',
    needs: 'read',
    repeat: 'idempotent',
    summary:
      'The messages of the project that each stage has not reached, since when, and the error of one that failed',
    description:
      'Of the stages that work in the background, from the store: the same after a restart. At most 1,000 threads are read.',
    answers: { 200: { description: 'Each of these stages, in one page.', schema: stageBehindPageSchema } },
  }),
  readScaling: operation({
    method: 'GET',
    path: '/v1/scaling',
    tag: 'stages',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'Backlog and oldest wait of every stage, for autoscalers',
    description:
      'Figures of the whole deployment, read from the queues at most once a second: the same from each gateway, so never to be added up.',
    answers: { 200: { description: 'Every stage by its name.', schema: scalingSchema } },
  }),
  pauseStage: operation({
    method: 'POST',
    path: '/v1/stages/:stage/pause',
    tag: 'stages',
    needs: 'operate',
    repeat: 'idempotent',
    summary: 'Pause a stage: its workers finish their jobs and fetch no more',
    description: 'It concerns all projects. Jobs wait in the queue until the stage is resumed, and no job is lost.',
    params: stageParamsSchema,
    answers: switched,
  }),
  resumeStage: operation({
    method: 'POST',
    path: '/v1/stages/:stage/resume',
    tag: 'stages',
    needs: 'operate',
    repeat: 'idempotent',
    summary: 'Resume a paused stage',
    params: stageParamsSchema,
    answers: switched,
  }),
  listFindings: operation({
    method: 'GET',
    path: '/v1/findings',
    tag: 'stages',
    needs: 'operate',
    repeat: 'idempotent',
    summary: 'The checks of `heddle doctor`, run where the gateway runs',
    answers: { 200: { description: 'Every check, in its order.', schema: findingPageSchema } },
  }),
}
