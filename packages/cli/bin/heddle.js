#!/usr/bin/env node
import process from 'node:process'
import { main } from '../dist/main.js'

// Warnings to the authors of dependencies tell users nothing, and stderr holds at most one error object with --json.
process.noDeprecation = true

await main(process.argv.slice(2))
